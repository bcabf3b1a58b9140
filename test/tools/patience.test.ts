/** How long a call is waited for, and how often watchers hear of it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { vi } from "vitest"
import { patiently } from "../../src/tools/mcp/patience.ts"
import { tellingOf } from "../../src/tools/mcp/progress.ts"
import type { Progress } from "../../src/tools/Tool.ts"

/** Work that never ends, its reports in the test's hands. */
const begun = Effect.fnUntraced(function* () {
  let report = () => {}
  const waited = yield* Effect.forkChild(
    patiently(
      1_000,
      (progressed) => {
        report = progressed
        return Effect.never
      },
      Effect.succeed
    )
  )
  yield* Effect.yieldNow
  const over = Effect.sync(() => waited.pollUnsafe() !== undefined)
  return { report: () => report(), over, told: Fiber.join(waited) }
})

describe("a call without a result", () => {
  it.effect("is given up when its time is up, not before", () =>
    Effect.gen(function* () {
      const { over, told } = yield* begun()
      yield* TestClock.adjust(999)
      assert.isFalse(yield* over)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* told, "no result within 1000 ms")
    })
  )

  it.effect("has its time anew with each word of progress", () =>
    Effect.gen(function* () {
      const { over, report, told } = yield* begun()
      for (let i = 0; i < 5; i++) {
        yield* TestClock.adjust(999)
        report()
      }
      yield* TestClock.adjust(999)
      assert.isFalse(yield* over)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* told, "no result, and no progress for 1000 ms")
    })
  )

  it.effect("is given up after ten times its time, whatever it reports", () =>
    Effect.gen(function* () {
      const { over, report, told } = yield* begun()
      for (let i = 0; i < 19; i++) {
        yield* TestClock.adjust(500)
        report()
      }
      yield* TestClock.adjust(499)
      assert.isFalse(yield* over)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* told, "no result within 10000 ms, 10 times the call's time, though there was progress")
    })
  )
})

describe("reports of progress", () => {
  const telling = () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const told: Array<Progress> = []
    return { told, ...tellingOf((progress) => told.push(progress)) }
  }

  it("are told at once, then five times a second, the newest always", () => {
    const { end, report, told } = telling()
    for (let progress = 1; progress <= 3; progress++) report({ progress })
    assert.deepStrictEqual(told, [{ progress: 1 }])
    vi.advanceTimersByTime(199)
    assert.lengthOf(told, 1)
    vi.advanceTimersByTime(1)
    assert.deepStrictEqual(told, [{ progress: 1 }, { progress: 3 }])
    vi.advanceTimersByTime(1_000)
    report({ progress: 4 })
    assert.lengthOf(told, 3)
    end()
    vi.useRealTimers()
  })

  it("are told no more once the call is over", () => {
    const { end, report, told } = telling()
    for (let progress = 1; progress <= 3; progress++) report({ progress })
    end()
    vi.advanceTimersByTime(1_000)
    assert.deepStrictEqual(told, [{ progress: 1 }])
    vi.useRealTimers()
  })

  it("have at most 1000 characters of words, and no number that is none", () => {
    for (const [said, kept] of [
      [
        { progress: 1, message: "x".repeat(1_000) },
        { progress: 1, message: "x".repeat(1_000) }
      ],
      [
        { progress: 1, message: "x".repeat(1_001) },
        { progress: 1, message: "x".repeat(1_000) }
      ],
      [
        { progress: 1, message: "\ud800" },
        { progress: 1, message: "\ufffd" }
      ],
      [{ progress: 1, total: Infinity }, { progress: 1 }],
      [{ progress: Infinity }, undefined]
    ] as const) {
      const { end, report, told } = telling()
      report(said)
      assert.deepStrictEqual(told, kept === undefined ? [] : [kept])
      end()
      vi.useRealTimers()
    }
  })
})
