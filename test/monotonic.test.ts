import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeMonotonic } from "../src/monotonic.ts"

describe("monotonic milliseconds", () => {
  it.effect("go forward with the clock of whoever made them, by fractions too", () =>
    Effect.gen(function* () {
      const monotonic = yield* makeMonotonic
      const before = monotonic()
      assert.strictEqual(monotonic(), before)
      yield* TestClock.adjust("250 micros")
      assert.strictEqual(monotonic() - before, 0.25)
      yield* TestClock.adjust(1_000)
      assert.strictEqual(monotonic() - before, 1_000.25)
    })
  )

  it.effect("do not go back where the calendar's clock is set back", () =>
    Effect.gen(function* () {
      const monotonic = yield* makeMonotonic
      yield* TestClock.adjust(10_000)
      const before = monotonic()
      yield* TestClock.setTime(2_000)
      assert.strictEqual(monotonic(), before)
      yield* TestClock.adjust(3_000)
      assert.strictEqual(monotonic() - before, 3_000)
    })
  )

  it.live("differ between two moments of a running process", () =>
    Effect.gen(function* () {
      const monotonic = yield* makeMonotonic
      const before = monotonic()
      yield* Effect.yieldNow
      assert.isAbove(monotonic(), before)
    })
  )
})
