/** The jobs of a schedule whose threads, or whose database, answer late, not at all, or otherwise than it hoped. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type ActorError, Declined, type Reply, Unreachable } from "../../actors/Actor.ts"
import { Decided } from "../../actors/schedule/Decided.ts"
import { makePerform, type SchedulePerforming } from "../../actors/schedule/perform.ts"
import type { Firing } from "../../machines/schedule/commands.ts"
import { start } from "../../machines/schedule/decide.ts"
import { restore } from "../../machines/schedule/fold.ts"
import { sibling } from "../../src/domain/ids.ts"
import { DatabaseUnavailable } from "../../src/database/Database.ts"
import type { ScheduleInput } from "../../src/schedules/schedule.ts"
import { storedOf } from "./stored.ts"

const view = {
  ref: { workspace: "wsp_1", kind: "schedule" as const, id: "sch_1" },
  parent: null,
  attributes: "{}",
  createdAt: 0,
  head: { updatedAt: 0 },
  snapshot: start(),
  desk: { queuedMs: () => 0 }
}
const runId = "srun_00000000000000000000000001"
const firing = (by: Firing["by"]): Firing => ({ runId, scheduledAt: 0, by })
const run = { type: "start" as const, params: firing("schedule") }
const lastTurn = { threadId: "thr_00000000000000000000000002", turnId: "trn_00000000000000000000000003" }
/** It has begun a turn, which goes on. */
const busy = { ...view, snapshot: restore({ ...view.snapshot.context, lastTurn }) }

const accepted: Reply = { kind: "created", body: JSON.stringify({ turnId: "trn_x" }) }
const nothing: Reply = { kind: "done", body: "" }
const away = new Unreachable({ retryAfterSeconds: 2 })
const declined = (reason: Declined["reason"]) => new Declined({ reason, message: reason })
const notAsked = () => Effect.die("not asked")

/** What is asked of threads, in order; what each answer is but the last, the same from then on. */
const performing = (
  input: Partial<ScheduleInput>,
  answers: { readonly cancel?: ReadonlyArray<Reply | ActorError>; readonly remove?: ReadonlyArray<Reply | ActorError> },
  more: Partial<SchedulePerforming> = {}
) => {
  const asked: Array<string> = []
  const said = (name: string, [first = nothing, ...rest]: ReadonlyArray<Reply | ActorError>) => {
    const left = [first, ...rest]
    return (what: string): Effect.Effect<Reply, ActorError> =>
      Effect.suspend(() => {
        asked.push(`${name} ${what}`)
        const answer = (left.length > 1 ? left.shift() : left[0]) ?? nothing
        return "_tag" in answer ? Effect.fail(answer) : Effect.succeed(answer)
      })
  }
  const cancel = said("cancel", answers.cancel ?? [nothing])
  const remove = said("remove", answers.remove ?? [nothing])
  const begin = said("start", [accepted])
  const perform = makePerform({
    taken: () => Effect.succeed(undefined),
    decided: new Decided(),
    read: () => Effect.succeed(storedOf(input)),
    isOver: () => Effect.succeed(false),
    untilOver: () => Effect.never,
    threads: {
      cancel: (_, __, { turnId }) => cancel(String(turnId)),
      remove: (_, __, inputId) => remove(inputId),
      start: (_, { threadId }) => begin(threadId),
      submitAs: notAsked
    },
    ...more
  })
  return { asked, perform }
}
const cancels = `cancel ${lastTurn.turnId}`
const removes = `remove ${sibling("input", lastTurn.turnId)}`
const starts = `start ${sibling("thread", runId)}`

describe("a run that reaches nobody", () => {
  it.effect("is tried for five minutes, and has failed then", () =>
    Effect.gen(function* () {
      let tries = 0
      const read = () =>
        Effect.suspend(() => {
          tries++
          return Effect.fail(new DatabaseUnavailable({ operation: "read", cause: "away" }))
        })
      const { perform } = performing({}, {}, { read })
      const told = yield* Effect.forkChild(perform(view, run))
      yield* Effect.yieldNow
      yield* TestClock.adjust(5 * 60_000 - 1)
      assert.isUndefined(told.pollUnsafe())
      assert.strictEqual(tries, 60)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(told), {
        type: "refused",
        runId: "srun_00000000000000000000000001",
        status: "failed",
        reason: "unreachable"
      })
    })
  )
})

describe("a run whose answer was lost", () => {
  it.effect.each([
    ["has begun where a thread has taken its message", "thr_00000000000000000000000009"],
    ["has failed where none has", undefined]
  ] as const)("and nobody could be asked for five minutes, %s", ([_, threadId]) =>
    Effect.gen(function* () {
      let isBack = false
      const taken = () =>
        Effect.suspend(() =>
          isBack
            ? Effect.succeed(threadId)
            : Effect.fail(new DatabaseUnavailable({ operation: "schedules.taken", cause: "away" }))
        )
      const { perform } = performing({}, {}, { taken })
      const told = yield* Effect.forkChild(perform(view, run))
      yield* TestClock.adjust(6 * 60_000)
      assert.isUndefined(told.pollUnsafe(), "nobody knows yet")
      isBack = true
      yield* TestClock.adjust(5_000)
      assert.deepInclude(
        yield* Fiber.join(told),
        threadId === undefined
          ? { type: "refused", status: "failed", reason: "unreachable" }
          : { type: "started", threadId }
      )
    })
  )
})

describe("a run that interrupts", () => {
  it.effect.each([
    ["begins once the turn before is cancelled", {}, [cancels, starts]],
    [
      "asks again while the thread of that cannot be reached, and does not begin beside it",
      { cancel: [away, away, nothing] },
      [cancels, cancels, cancels, starts]
    ],
    [
      "takes the message out of the queue whose turn has not begun",
      { cancel: [declined("turn_conflict")] },
      [cancels, removes, starts]
    ],
    [
      "cancels the turn after all that begins just then",
      { cancel: [declined("turn_conflict"), nothing], remove: [declined("input_not_pending")] },
      [cancels, removes, cancels, starts]
    ]
  ] as const)("%s", ([_, answers, wanted]) =>
    Effect.gen(function* () {
      const { asked, perform } = performing({ overlap: "interrupt" }, answers)
      const told = yield* Effect.forkChild(perform(busy, run))
      yield* TestClock.adjust(60_000)
      assert.deepInclude(yield* Fiber.join(told), { type: "started", runId })
      assert.deepStrictEqual<ReadonlyArray<string>>(asked, wanted)
    })
  )

  it.effect("and never can has failed: it does not begin beside the turn before", () =>
    Effect.gen(function* () {
      const { asked, perform } = performing({ overlap: "interrupt" }, { cancel: [away] })
      const told = yield* Effect.forkChild(perform(busy, run))
      yield* TestClock.adjust(5 * 60_000)
      assert.deepInclude(yield* Fiber.join(told), { type: "refused", status: "failed", reason: "unreachable" })
      assert.deepStrictEqual([...new Set(asked)], [cancels])
    })
  )

  it.effect("is no run by hand: that begins beside the turn before, whatever overlap says", () =>
    Effect.gen(function* () {
      const { asked, perform } = performing({ overlap: "interrupt" }, {})
      yield* perform(busy, { type: "start", params: firing("manual") })
      assert.deepStrictEqual(asked, [starts])
    })
  )
})

describe("a run that waits", () => {
  it.effect.each([
    ["queue", false],
    ["skip", false],
    ["interrupt", true],
    ["allow", true]
  ] as const)("for the turn before, begins at once where its schedule says %s by now: %s", ([overlap, begins]) =>
    Effect.gen(function* () {
      const { perform } = performing({ overlap }, {})
      const told = yield* Effect.forkChild(perform(busy, { type: "watch", params: firing("schedule") }))
      yield* TestClock.adjust(60_000)
      assert.deepStrictEqual(told.pollUnsafe() !== undefined, begins)
      yield* Fiber.interrupt(told)
    })
  )
})
