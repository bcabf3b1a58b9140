/** Ids of requests are the client's own, or made here, and no two that are made are the same. */
import { assert, describe, it } from "@effect/vitest"
import { requestIdOf } from "../../src/telemetry/requestId.ts"

describe("ids of requests", () => {
  it("are made by the ten thousand, all different", () => {
    const made = Array.from({ length: 10_000 }, () => requestIdOf(undefined))
    assert.strictEqual(new Set(made).size, made.length)
    for (const id of made) assert.match(id, /^req_[0-9a-hjkmnp-tv-z]{26}$/)
  })

  it("are the client's own up to 128 characters that a header and a log line may hold", () => {
    const most = "a".repeat(128)
    assert.strictEqual(requestIdOf(most), most)
    for (const unfit of [`${most}a`, "", "two words", "é", "a\nb"]) assert.match(requestIdOf(unfit), /^req_/)
  })
})
