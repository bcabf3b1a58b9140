import { assert, describe, it } from "@effect/vitest"
import { retryAfterMs } from "../../src/domain/retryAfter.ts"

const now = Date.parse("2026-01-01T00:00:00Z")

describe("a Retry-After", () => {
  it.each([
    [undefined, undefined],
    ["0", 0],
    ["7", 7_000],
    [" 2.5 ", 2_500],
    ["Thu, 01 Jan 2026 00:01:30 GMT", 90_000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["soon", undefined],
    ["", undefined]
  ] as const)("of %j is %j ms", (header, ms) => {
    assert.strictEqual(retryAfterMs(header, now), ms)
  })
})
