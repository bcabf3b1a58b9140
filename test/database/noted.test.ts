import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import { makeNoted, type Note } from "../../src/database/noted.ts"

/** A batcher whose clock is moved by hand, and what it wrote. */
const noting = Effect.gen(function* () {
  const written: Array<ReadonlyArray<Note>> = []
  const state = { now: 1_000_000, fails: false }
  const scope = yield* Scope.make()
  const note = yield* makeNoted({
    now: () => state.now,
    pace: "1 second",
    write: (notes) =>
      Effect.suspend(() => {
        if (state.fails) return Effect.fail("away")
        written.push(notes)
        return Effect.void
      })
  }).pipe(Scope.provide(scope))
  return { note, written, state, scope }
})

describe("what is noted", () => {
  it.effect("is written in one batch, each thing once and in order (O2)", () =>
    Effect.gen(function* () {
      const { note, written } = yield* noting
      for (const [workspace, id] of ["bx", "ay", "ax", "bx", "ay"]) note(workspace ?? "", id ?? "")
      assert.deepStrictEqual(written, [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        written.map((batch) => batch.map(({ workspace, id, at }) => `${workspace}${id} ${at}`)),
        [["ax 1000000", "ay 1000000", "bx 1000000"]]
      )
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(written.length, 1)
    })
  )

  it.effect("is noted again after a minute, and not before (O1)", () =>
    Effect.gen(function* () {
      const { note, state, written } = yield* noting
      const times: Array<number> = []
      for (const later of [0, 59_999, 60_000, 119_999, 120_000]) {
        state.now = 1_000_000 + later
        note("w", "i")
        yield* TestClock.adjust("1 second")
        times.push(written.length)
      }
      assert.deepStrictEqual(times, [1, 1, 2, 2, 3])
    })
  )

  it.effect("is written when the scope ends (O3)", () =>
    Effect.gen(function* () {
      const { note, scope, written } = yield* noting
      note("w", "i")
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(written, [[{ workspace: "w", id: "i", at: 1_000_000 }]])
    })
  )

  it.effect("is dropped where it cannot be written, and the next sight is written (O3)", () =>
    Effect.gen(function* () {
      const { note, state, written } = yield* noting
      state.fails = true
      note("w", "i")
      yield* TestClock.adjust("1 second")
      state.fails = false
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(written, [])
      state.now += 60_000
      note("w", "i")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(written.length, 1)
    })
  )

  it.effect("is forgotten in bounds: what was seen longest ago is noted twice (O1)", () =>
    Effect.gen(function* () {
      const { note, written } = yield* noting
      for (let i = 0; i <= 10_000; i++) note("w", String(i))
      yield* TestClock.adjust("1 second")
      note("w", "10000")
      note("w", "1")
      note("w", "0")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        written[1]?.map(({ id }) => id),
        ["0"]
      )
    })
  )
})
