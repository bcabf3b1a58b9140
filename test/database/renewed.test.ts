/** Values in use are read again before their time is over, all in one statement. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import { makeRenewed } from "../../src/database/renewed.ts"

/** Values true for a second, at a clock that is moved by hand, and what was read again. */
const holdingAtMost = Effect.fnUntraced(function* (most: number) {
  const state = {
    at: 5_000,
    stored: new Map<string, string>(),
    reads: [] as Array<ReadonlyArray<string>>,
    before: Effect.void as Effect.Effect<void, string>
  }
  const scope = yield* Scope.make()
  const values = yield* makeRenewed<string, string>({
    freshMs: 1_000,
    most,
    now: () => state.at,
    read: (held) =>
      Effect.suspend(() => {
        state.reads.push([...held.keys()])
        const found = new Map([...state.stored].filter(([key]) => held.has(key)))
        return Effect.as(state.before, found)
      })
  }).pipe(Scope.provide(scope))
  const pass = (ms: number) =>
    Effect.suspend(() => {
      state.at += ms
      return TestClock.adjust(ms)
    })
  return { pass, scope, state, values }
})
const holding = holdingAtMost(2_000)

describe("a value that is true for a while", () => {
  it.effect("is given out until its time is over, and not then (V1)", () =>
    Effect.gen(function* () {
      const { state, values } = yield* holding
      values.put("a", "1", state.at - 10)
      state.at += 989
      assert.strictEqual(values.get("a"), "1")
      state.at += 1
      assert.isUndefined(values.get("a"))
    })
  )

  it.effect("is read again in one statement with all others in use, and is true from when that began", () =>
    Effect.gen(function* () {
      const { pass, state, values } = yield* holding
      for (const key of ["a", "b", "idle"]) {
        values.put(key, "1", state.at)
        state.stored.set(key, "2")
      }
      values.get("a")
      values.get("b")
      values.get("a")
      const gate = yield* Deferred.make<void>()
      state.before = Deferred.await(gate)
      yield* pass(800)
      assert.deepStrictEqual(state.reads, [["a", "b"]])
      yield* pass(50)
      yield* Deferred.succeed(gate, undefined)
      yield* pass(0)
      state.before = Effect.void
      assert.strictEqual(values.get("a"), "2")
      state.at += 949
      assert.strictEqual(values.get("a"), "2")
      state.at += 1
      assert.isUndefined(values.get("a"))
      assert.isUndefined(values.get("idle"))
    })
  )

  it.effect("is read again only as long as somebody asks for it", () =>
    Effect.gen(function* () {
      const { pass, state, values } = yield* holding
      for (const key of ["a", "b"]) {
        values.put(key, "1", state.at)
        state.stored.set(key, "2")
        values.get(key)
      }
      yield* pass(800)
      values.get("a")
      yield* pass(999)
      assert.deepStrictEqual(state.reads, [["a", "b"], ["a"]])
      yield* pass(1)
      assert.strictEqual(values.get("a"), "2")
      assert.isUndefined(values.get("b"))
    })
  )

  it.effect("asks for at most 500 in one statement", () =>
    Effect.gen(function* () {
      const { pass, state, values } = yield* holding
      for (let i = 0; i < 501; i++) values.put(`k${i}`, "1", state.at)
      for (let i = 0; i < 501; i++) values.get(`k${i}`)
      yield* pass(800)
      assert.deepStrictEqual(
        state.reads.map((keys) => keys.length),
        [500, 1]
      )
    })
  )

  it.effect("is held no longer when the statement does not name it", () =>
    Effect.gen(function* () {
      const { pass, state, values } = yield* holding
      values.put("a", "1", state.at)
      values.get("a")
      yield* pass(800)
      assert.isUndefined(values.get("a"))
    })
  )

  it.effect("that would have matched what was forgotten while it was read again is not put (V2)", () =>
    Effect.gen(function* () {
      const { pass, state, values } = yield* holding
      const gate = yield* Deferred.make<void>()
      state.before = Deferred.await(gate)
      values.put("a", "first 1", state.at)
      values.get("a")
      state.stored.set("a", "second 1")
      yield* pass(800)
      assert.strictEqual(state.reads.length, 1)
      values.forgetWhere((value) => value.startsWith("second"))
      yield* Deferred.succeed(gate, undefined)
      yield* pass(1)
      assert.strictEqual(values.get("a"), "first 1")
      yield* pass(199)
      assert.isUndefined(values.get("a"))
    })
  )

  it.effect("that was forgotten or put while it was read again stays as it was left (V2)", () =>
    Effect.gen(function* () {
      const { pass, state, values } = yield* holding
      const gate = yield* Deferred.make<void>()
      state.before = Deferred.await(gate)
      for (const key of ["forgotten", "put", "matched"]) {
        values.put(key, "1", state.at)
        values.get(key)
        state.stored.set(key, "stale")
      }
      yield* pass(800)
      assert.strictEqual(state.reads.length, 1)
      values.forget("forgotten")
      values.put("put", "3", state.at)
      values.put("matched", "4", state.at)
      values.forgetWhere((value) => value === "4")
      yield* Deferred.succeed(gate, undefined)
      yield* pass(1)
      assert.deepStrictEqual(
        ["forgotten", "put", "matched"].map((key) => values.get(key)),
        [undefined, "3", undefined]
      )
    })
  )

  it.effect("goes when its time is over where it could not be read again, and is renewed once that works (V3)", () =>
    Effect.gen(function* () {
      const { pass, state, values } = yield* holding
      state.stored.set("a", "2")
      for (const failure of [Effect.fail("away"), Effect.die("unreadable")]) {
        state.before = failure
        values.put("a", "1", state.at)
        values.get("a")
        yield* pass(800)
        assert.strictEqual(values.get("a"), "1")
        yield* pass(200)
        assert.isUndefined(values.get("a"))
        yield* pass(600)
      }
      state.before = Effect.void
      values.put("a", "1", state.at)
      values.get("a")
      yield* pass(800)
      assert.strictEqual(values.get("a"), "2")
    })
  )

  it.effect("is not read again when whoever held it has ended", () =>
    Effect.gen(function* () {
      const { pass, scope, state, values } = yield* holding
      values.put("a", "1", state.at)
      values.get("a")
      yield* Scope.close(scope, Exit.void)
      yield* pass(2_000)
      assert.deepStrictEqual(state.reads, [])
    })
  )

  it.effect("goes where there are too many: the one that was used least recently", () =>
    Effect.gen(function* () {
      const { pass, state, values } = yield* holdingAtMost(2)
      const held = () => ["a", "b", "c"].filter((key) => values.get(key) !== undefined)
      for (const key of ["a", "b", "c"]) state.stored.set(key, key)
      values.put("a", "a", state.at)
      values.put("b", "b", state.at)
      assert.strictEqual(values.get("a"), "a")
      yield* pass(800)
      values.put("c", "c", state.at)
      assert.deepStrictEqual(held(), ["a", "c"])
    })
  )
})
