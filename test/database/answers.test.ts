import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeAnswers } from "../../src/database/answers.ts"
import { DatabaseUnavailable } from "../../src/database/Database.ts"

/** A database that answers when it is let, and how often it was asked. */
const asked = Effect.gen(function* () {
  const gate = yield* Deferred.make<void, DatabaseUnavailable>()
  let count = 0
  const answers = yield* makeAnswers({
    read: () =>
      Effect.as(
        Effect.suspend(() => {
          count++
          return Deferred.await(gate)
        }),
        []
      )
  })
  return { answers, gate, count: () => count }
})

describe("whether PostgreSQL answers", () => {
  it.effect("is looked at once a second, however many ask", () =>
    Effect.gen(function* () {
      const { answers, count, gate } = yield* asked
      const all = yield* Effect.forEach(Array(1_800).keys(), () =>
        Effect.forkChild(answers, { startImmediately: true })
      )
      yield* Deferred.succeed(gate, undefined)
      for (const one of all) assert.isTrue(yield* Fiber.join(one))
      assert.isTrue(yield* answers)
      assert.strictEqual(count(), 1)
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* answers)
      assert.strictEqual(count(), 2)
    })
  )

  it.effect("is told to those who stay when the first who asked has left", () =>
    Effect.gen(function* () {
      const { answers, count, gate } = yield* asked
      const [first, second] = [
        yield* Effect.forkChild(answers, { startImmediately: true }),
        yield* Effect.forkChild(answers, { startImmediately: true })
      ]
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(gate, undefined)
      assert.isTrue(yield* Fiber.join(second))
      assert.strictEqual(count(), 1)
    })
  )

  it.effect("is no where it is away", () =>
    Effect.gen(function* () {
      const { answers, gate } = yield* asked
      yield* Deferred.fail(gate, new DatabaseUnavailable({ operation: "ready", cause: "away" }))
      assert.isFalse(yield* answers)
    })
  )
})
