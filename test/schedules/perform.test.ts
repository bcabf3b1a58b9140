/** The jobs of a schedule that reaches nobody. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makePerform } from "../../actors/schedule/perform.ts"
import { start } from "../../machines/schedule/decide.ts"
import { DatabaseUnavailable } from "../../src/database/Database.ts"

const view = {
  ref: { workspace: "wsp_1", kind: "schedule" as const, id: "sch_1" },
  parent: null,
  attributes: "{}",
  createdAt: 0,
  head: { updatedAt: 0 },
  snapshot: start(),
  desk: { queuedMs: () => 0 }
}
const run = { type: "start" as const, params: { runId: "srun_1", scheduledAt: 0, by: "schedule" as const } }

describe("a run that reaches nobody", () => {
  it.effect("is tried for five minutes, and has failed then", () =>
    Effect.gen(function* () {
      let tries = 0
      const perform = makePerform({
        read: () =>
          Effect.suspend(() => {
            tries++
            return Effect.fail(new DatabaseUnavailable({ operation: "read", cause: "away" }))
          }),
        isOver: () => Effect.succeed(true),
        untilOver: () => Effect.void,
        threads: {
          cancel: () => Effect.die("not asked"),
          start: () => Effect.die("not asked"),
          submitAs: () => Effect.die("not asked")
        }
      })
      const told = yield* Effect.forkChild(perform(view, run))
      yield* Effect.yieldNow
      yield* TestClock.adjust(5 * 60_000 - 1)
      assert.isUndefined(told.pollUnsafe())
      assert.strictEqual(tries, 60)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(told), {
        type: "refused",
        runId: "srun_1",
        status: "failed",
        reason: "unreachable"
      })
    })
  )
})
