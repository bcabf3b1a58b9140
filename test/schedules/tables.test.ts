/** What a moment comes to, by what stands in its way: the schedule's preparation, its chart and its jobs together. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ActorError, Declined, type Reply } from "../../actors/Actor.ts"
import { Decided } from "../../actors/schedule/Decided.ts"
import { makePerform } from "../../actors/schedule/perform.ts"
import { makePrepare } from "../../actors/schedule/prepare.ts"
import type { ScheduleRequest } from "../../actors/schedule/requests.ts"
import type { Job } from "../../machines/schedule/changes.ts"
import { decide, start } from "../../machines/schedule/decide.ts"
import type { Fact } from "../../machines/schedule/facts.ts"
import type { Overlap, ScheduleInput } from "../../src/schedules/schedule.ts"
import { made, ref, storedOf } from "./stored.ts"

const minute = 60_000
const accepted: Reply = { kind: "created", body: JSON.stringify({ turnId: "trn_x" }) }

/** One that has begun a turn at its first moment, which goes on or is over when the second one comes. */
interface Standing {
  readonly overlap: Overlap
  readonly goesOn: boolean
  readonly submit: Reply | ActorError
  /** Nobody may act for it: it is known before anything begins. */
  readonly isDisabled?: boolean
  readonly trigger: ScheduleInput["trigger"]
}

/** The facts of the second moment, and what is asked of threads for it; the turn before ends once all waits for it. */
const factsOf = async ({ goesOn, isDisabled = false, overlap, submit, trigger }: Standing) => {
  const schedule = storedOf({ overlap, trigger })
  const decided = new Decided()
  const asked: Array<string> = []
  let isSecond = false
  let isOver = true
  const answers = (name: string, answer: () => Reply | ActorError) => () =>
    Effect.suspend((): Effect.Effect<Reply, ActorError> => {
      if (isSecond) asked.push(name)
      const said = answer()
      return "_tag" in said ? Effect.fail(said) : Effect.succeed(said)
    })
  const read = () => Effect.succeed(schedule)
  const prepare = makePrepare({
    decided,
    directory: {
      agent: () => Effect.succeed({ archived: false, identity: "ann" }),
      identityDisabled: () => isDisabled && isSecond
    },
    isOver: () => Effect.succeed(isOver),
    read
  })
  const perform = makePerform({
    taken: () => Effect.succeed(undefined),
    decided,
    isOver: () => Effect.succeed(isOver),
    read,
    untilOver: () =>
      Effect.sync(() => {
        isOver = true
      }),
    threads: {
      cancel: answers("cancel", () => accepted),
      remove: answers("remove", () => accepted),
      start: answers("start", () => (isSecond ? submit : accepted)),
      submitAs: answers("submit", () => accepted)
    }
  })
  let snapshot = start()
  const facts: Array<Fact> = []
  const tell = async (request: ScheduleRequest, at: number): Promise<void> => {
    const command = await Effect.runPromise(prepare({ ref, snapshot }, request, at))
    const step = decide(snapshot, command)
    snapshot = step.next
    facts.push(...step.facts)
    for (const job of step.jobs) await does(job, at)
  }
  const does = async (job: Job, at: number) => {
    const being = { ref, parent: null, attributes: "{}", createdAt: made, head: { updatedAt: at }, snapshot }
    const outcome = await Effect.runPromise(perform({ ...being, desk: { queuedMs: () => 0 } }, job))
    if (outcome !== undefined) await tell(outcome, at)
  }
  await tell({ type: "configure" }, made)
  await tell({ type: "due" }, made + minute)
  assert.strictEqual(snapshot.context.lastTurn?.turnId, "trn_x", "the turn before")
  isSecond = true
  isOver = !goesOn
  facts.length = 0
  await tell({ type: "due" }, made + 2 * minute)
  const said = facts.map((fact) =>
    fact.type === "ran"
      ? ["ran", fact.status, ...(fact.reason === undefined ? [] : [fact.reason])].join(" ")
      : fact.type === "disabled"
        ? `disabled ${fact.reason}`
        : fact.type
  )
  return { said, asked, state: snapshot.value }
}

const declined = (reason: Declined["reason"]) => new Declined({ reason, message: reason })
/** What the thread says, what comes of the run, and whether that is the schedule's end. */
const answers = [
  ["takes it", accepted, ["ran started"]],
  ["acts for nobody", declined("identity_disabled"), ["ran skipped identity_disabled"]],
  ["is of an agent without budget", declined("budget_exceeded"), ["ran skipped budget_exceeded"]],
  ["has cost too much", declined("thread_cost_exceeded"), ["ran skipped thread_cost_exceeded"]],
  ["has no model", declined("model_unavailable"), ["ran failed model_unavailable"]],
  ["is archived", declined("thread_archived"), ["ran failed thread_archived", "disabled thread_archived"]],
  ["is not there", declined("not_found"), ["ran failed thread_not_found", "disabled thread_not_found"]],
  ["is of an archived agent", declined("agent_archived"), ["ran failed agent_archived", "disabled agent_archived"]]
] as const
const triggers: ReadonlyArray<readonly [string, ScheduleInput["trigger"]]> = [
  ["interval", { type: "interval", seconds: 60 }],
  ["cron", { type: "cron", expression: "* * * * *", timezone: "Europe/Berlin" }]
]
/** Before the run begins, while the turn before goes on; undefined: it does not begin. */
const standing = {
  skip: undefined,
  queue: { facts: ["held", "firing"], asked: ["start"] },
  interrupt: { facts: ["firing"], asked: ["cancel", "start"] },
  allow: { facts: ["firing"], asked: ["start"] }
} as const satisfies Record<Overlap, unknown>
const overlaps = ["skip", "queue", "interrupt", "allow"] as const

describe("the moment of a schedule", () => {
  it.each(overlaps.flatMap((overlap) => triggers.map(([name, trigger]) => [overlap, name, trigger] as const)))(
    "while the turn before goes on, overlap %s, %s, whatever the thread says: begins, waits or is skipped",
    async (overlap, _, trigger) => {
      for (const [name, submit, ends] of answers) {
        const begins = standing[overlap]
        const found = await factsOf({ overlap, trigger, submit, goesOn: true })
        const wanted =
          begins === undefined
            ? { said: ["ran skipped overlap"], asked: [] }
            : { said: [...begins.facts, ...ends], asked: [...begins.asked] }
        const state = begins !== undefined && ends.length > 1 ? "resting" : "armed"
        assert.deepStrictEqual(found, { ...wanted, state }, name)
      }
    }
  )

  it.each(overlaps)("once the turn before is over, overlap %s says nothing", async (overlap) => {
    for (const [, trigger] of triggers)
      for (const [name, submit, ends] of answers)
        assert.deepStrictEqual(
          await factsOf({ overlap, trigger, submit, goesOn: false }),
          { said: ["firing", ...ends], asked: ["start"], state: ends.length > 1 ? "resting" : "armed" },
          name
        )
  })

  it.each(overlaps)("is skipped before anything begins where nobody may act for it, overlap %s", async (overlap) => {
    for (const goesOn of [true, false])
      for (const [, trigger] of triggers)
        assert.deepStrictEqual(await factsOf({ overlap, trigger, submit: accepted, goesOn, isDisabled: true }), {
          said: ["ran skipped identity_disabled"],
          asked: [],
          state: "armed"
        })
  })
})
