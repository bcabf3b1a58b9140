/**
 * Crash points of schedules (crashing.ts): whichever commit a node dies at, each instant fires once, none too early, and
 * none is forgotten.
 */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { long, short } from "../../src/database/shorthand.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { until } from "../waiting.ts"
import { type Run, type Scenario, startNodes, withEachCrash } from "./crashing.ts"
import { ended, logOf, makeAgent, text } from "./threadFixture.ts"
import { during } from "../setup/during.ts"
import { only } from "./toolFixture.ts"

const nodes = await during(startNodes())

interface Schedule {
  readonly id: string
  readonly agentId: string
}
interface ScheduleRun {
  readonly id: string
  readonly scheduledAt: string
  readonly status: string
  readonly by: string
  readonly reason?: string
  readonly threadId?: string
  readonly turnId?: string
}

const soon = (ms = 700) => new Date(Date.now() + ms).toISOString()
const once = (ms?: number) => ({ type: "once", at: soon(ms) })
const never = { type: "once", at: new Date(Date.now() + 86_400_000).toISOString() }
const pathOf = ({ agentId, id }: Schedule) => `/v1/agents/${agentId}/schedules/${id}`
const make = async (run: Run, more: object = {}, models?: ReadonlyArray<string>): Promise<Schedule> => {
  const agentId = await makeAgent(run.client, models)
  const body = { name: "S", target: { mode: "spawn" }, trigger: once(), message: { content: text("go") }, ...more }
  const { schedule } = await run.post(`/v1/agents/${agentId}/schedules`, body)
  return { id: schedule.id, agentId }
}
const byHand = async (run: Run, schedule: Schedule): Promise<ScheduleRun> =>
  (await run.post(`${pathOf(schedule)}/run`)).run
const read = async (run: Run, schedule: Schedule) => (await run.client.get(pathOf(schedule))).body.schedule
const runsOf = async (run: Run, schedule: Schedule): Promise<ReadonlyArray<ScheduleRun>> =>
  (await run.client.get(`${pathOf(schedule)}/runs?limit=200`)).body.runs

/** The schedule's actor as it would be had nobody looked for so long, and had so many of its fires failed. */
const neglected = async (run: Run, { id }: Schedule, ms: number, failures = 0): Promise<void> => {
  const uuid = toUuid(id)
  const carry = await until("nobody has it", async () => {
    const [row] = await run.query(
      sql<{
        readonly carry: string
        readonly owner: string | null
      }>`select carry, owner from heads where id = ${uuid}::uuid`
    )
    if (row === undefined || row.owner !== null) return undefined
    const read = JSON.parse(long(row.carry))
    return (read.next ?? null) !== null && read
  })
  const instant = carry.next.instant - Math.ceil((carry.next.instant - Date.now() + ms) / hourMs) * hourMs
  const changed = short(JSON.stringify({ ...carry, failures, next: { instant, moment: instant } }))
  await run.query(sql`with one as (update heads set carry = ${changed}, runnable_at = now() where id = ${uuid}::uuid
    returning id) insert into agenda (at, actors) select now(), array[id] from one`)
}
const hourMs = 3_600_000
/** Every hour, and half of one is over: however long a run takes, none comes by itself. */
const hourly = () => ({
  trigger: { type: "interval", seconds: hourMs / 1_000, startAt: new Date(Date.now() - hourMs / 2).toISOString() },
  catchUpSeconds: hourMs / 1_000
})

/** All turns that the schedule has begun, with when. */
const turnsOf = async (run: Run, { agentId, id }: Schedule) => {
  const { threads } = (await run.client.get(`/v1/threads?agentId=${agentId}&limit=200`)).body
  const turns = await Promise.all(
    threads.map(async ({ thread }: { readonly thread: { readonly id: string } }) =>
      only(await logOf(run.client, thread.id, (log) => log.length > 0), "user_message").filter(({ principal }) =>
        JSON.stringify(principal).includes(id)
      )
    )
  )
  return turns.flat()
}

/**
 * Once all is at rest: so many runs have come to these ends, newest first, each that has started has the one turn that it
 * says, and there is no other turn.
 */
const hasRun = async (run: Run, schedule: Schedule, ...ends: ReadonlyArray<string>) => {
  const isOver = ({ status }: ScheduleRun) => status !== "starting"
  await until(`${ends.length} runs`, async () => (await runsOf(run, schedule)).filter(isOver).length >= ends.length)
  await run.rest("schedule")
  const runs = await runsOf(run, schedule)
  assert.deepStrictEqual(
    runs.map(({ reason, status }) => reason ?? status),
    ends
  )
  assert.lengthOf(new Set(runs.map(({ id }) => id)), runs.length)
  const scheduled = runs.filter(({ by }) => by === "schedule").map(({ scheduledAt }) => scheduledAt)
  assert.lengthOf(new Set(scheduled), scheduled.length)
  const turns = await turnsOf(run, schedule)
  const started = runs.filter(({ status }) => status === "started")
  assert.sameMembers(
    turns.map(({ turnId }) => turnId),
    started.map(({ turnId = "" }) => turnId)
  )
  // One by hand is of the clock of whoever was asked for it.
  for (const { by, scheduledAt, turnId } of started) {
    if (by === "manual") continue
    const { occurredAt } = turns.find((turn) => turn.turnId === turnId) ?? assert.fail("no turn")
    assert.isAtLeast(Date.parse(String(occurredAt)), Date.parse(scheduledAt))
  }
  return runs
}

const scenarios: ReadonlyArray<Scenario> = [
  {
    name: "an instant that comes",
    does: async (run) => {
      const schedule = await make(run)
      await hasRun(run, schedule, "started")
      assert.include(await read(run, schedule), { enabled: false, disabledReason: "finished" })
    }
  },
  {
    name: "an instant for a thread that is there",
    does: async (run) => {
      const agentId = await makeAgent(run.client)
      const { thread } = await run.post("/v1/threads", { agentId })
      const { schedule } = await run.post(`/v1/agents/${agentId}/schedules`, {
        name: "S",
        trigger: once(),
        target: { mode: "thread", threadId: thread.id },
        message: { content: text("go") }
      })
      await hasRun(run, { id: schedule.id, agentId }, "started")
    }
  },
  {
    name: "runs by hand",
    does: async (run) => {
      const schedule = await make(run, { trigger: never })
      await byHand(run, schedule)
      await hasRun(run, schedule, "started")
      await byHand(run, schedule)
      await hasRun(run, schedule, "started", "started")
      assert.include(await read(run, schedule), { enabled: true })
    }
  },
  {
    name: "an instant that waits for the turn before",
    does: async (run) => {
      const busy = { content: text("/wait 2s\nbusy") }
      const schedule = await make(run, { trigger: never, overlap: "queue", message: busy })
      const { id } = await byHand(run, schedule)
      await until("the first", async () =>
        (await runsOf(run, schedule)).some((one) => one.id === id && one.status === "started")
      )
      await run.patch(pathOf(schedule), { trigger: once(300) })
      const [second, first] = await hasRun(run, schedule, "started", "started")
      const log = await logOf(run.client, first?.threadId ?? "", ended(1))
      const begun = (await turnsOf(run, schedule)).find(({ turnId }) => turnId === second?.turnId)
      assert.isAtLeast(Date.parse(String(begun?.occurredAt)), Date.parse(String(log.at(-1)?.occurredAt)))
    }
  },
  {
    name: "an instant that is passed over while the turn before goes on",
    does: async (run) => {
      const schedule = await make(run, { trigger: never, message: { content: text("/wait 600s\nbusy") } })
      await byHand(run, schedule)
      await hasRun(run, schedule, "started")
      await run.patch(pathOf(schedule), { trigger: once(300) })
      await hasRun(run, schedule, "overlap", "started")
    }
  },
  {
    name: "an instant that interrupts the turn before",
    does: async (run) => {
      const busy = { content: text("/wait 600s\nbusy") }
      const schedule = await make(run, { trigger: never, overlap: "interrupt", message: busy })
      await byHand(run, schedule)
      await hasRun(run, schedule, "started")
      await run.patch(pathOf(schedule), { trigger: once(300) })
      const [, first] = await hasRun(run, schedule, "started", "started")
      const log = await logOf(run.client, first?.threadId ?? "", ended(1))
      assert.strictEqual(log.at(-1)?.type, "turn_cancelled")
    }
  },
  {
    name: "an instant that a change puts off",
    does: async (run) => {
      const schedule = await make(run, { trigger: once(2_000) })
      await run.patch(pathOf(schedule), { trigger: never })
      await run.patch(pathOf(schedule), { trigger: once(500), name: "sooner" })
      await hasRun(run, schedule, "started")
    }
  },
  {
    name: "instants that nobody was there for",
    does: async (run) => {
      const schedule = await make(run, hourly())
      await neglected(run, schedule, 2 * hourMs)
      const [fired, missed] = await hasRun(run, schedule, "started", "missed")
      assert.include(await read(run, schedule), { enabled: true, lastStatus: "started" })
      assert.isBelow(Date.parse(missed?.scheduledAt ?? ""), Date.parse(fired?.scheduledAt ?? ""))
    }
  },
  {
    name: "the fifth fire that fails in a row",
    does: async (run) => {
      const schedule = await make(run, hourly(), ["nobody/nothing"])
      await neglected(run, schedule, 0, limits.scheduleFailures - 1)
      await hasRun(run, schedule, "model_unavailable")
      assert.include(await read(run, schedule), { enabled: false, disabledReason: "failures", lastStatus: "failed" })
    }
  },
  {
    name: "a thread that was archived",
    does: async (run) => {
      const agentId = await makeAgent(run.client)
      const { thread } = await run.post("/v1/threads", { agentId })
      const { schedule: made } = await run.post(`/v1/agents/${agentId}/schedules`, {
        name: "S",
        trigger: never,
        target: { mode: "thread", threadId: thread.id },
        message: { content: text("go") }
      })
      const schedule = { id: made.id, agentId }
      await run.post(`/v1/threads/${thread.id}/archive`)
      await byHand(run, schedule)
      await until("its end", async () => (await read(run, schedule)).enabled === false)
      await run.rest("schedule")
      assert.include(await read(run, schedule), { disabledReason: "thread_archived", lastStatus: "failed" })
      assert.deepStrictEqual(
        (await runsOf(run, schedule)).map(({ reason, status }) => [status, reason]),
        [["failed", "thread_archived"]]
      )
    }
  }
]

describe("whichever commit a node dies at, each instant fires once, and none too early:", () => {
  it.concurrent.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    { timeout: 240_000 },
    async (_, scenario) => withEachCrash(nodes, scenario)
  )
})
