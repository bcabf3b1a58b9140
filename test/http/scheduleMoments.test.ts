/** Moments of schedules: what fires at them, what is skipped, and what costs too much. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { long, short } from "../../src/database/shorthand.ts"
import { until } from "../waiting.ts"
import { assertRefused as refused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { input, soon, scheduleStand } from "./scheduleFixture.ts"

const { agentId, alpha, get, make, pathOf, run, schedules, server, settled } = await scheduleStand()

describe("a moment that comes", () => {
  it("begins a thread with the message, once, and is over where it was the only one", async () => {
    const schedule = await make({ trigger: { type: "once", at: soon() }, maxCost: 3, identity: "ann" })
    const [{ threadId, turnId, ...ran }] = await settled(schedule, 1)
    assert.deepInclude(ran, { scheduleId: schedule.id, by: "schedule", status: "started" })
    assert.strictEqual(ran.scheduledAt, schedule.trigger.at)
    assert.isAtLeast(Date.parse(ran.startedAt), Date.parse(schedule.trigger.at))
    const [message] = await logOf(alpha, threadId, ended(1))
    assert.deepInclude(message, {
      turnId,
      content: text("Report."),
      principal: { type: "schedule", id: schedule.id, identity: "ann" }
    })
    const { thread } = (await alpha.get(`/v1/threads/${threadId}`)).body
    assert.deepInclude(thread, { agentId, maxCost: 3, identity: "ann" })
    const after = await until("it is over", async () => {
      const found = await get(schedule)
      return found.enabled ? undefined : found
    })
    assert.deepInclude(after, {
      enabled: false,
      disabledReason: "finished",
      nextInstants: [],
      lastStatus: "started",
      lastThreadId: threadId,
      lastTurnId: turnId
    })
  })

  it("sends to one thread, in the mode that it says", async () => {
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "/wait 600s\nbusy")
    const schedule = await make({
      trigger: { type: "once", at: soon() },
      target: { mode: "thread", threadId },
      submitMode: "interrupt"
    })
    const [ran] = await settled(schedule, 1)
    assert.deepInclude(ran, { status: "started", threadId })
    const log = await logOf(alpha, threadId, ended(2))
    assert.deepInclude(log.filter(({ type }) => type === "user_message").at(-1), { submitMode: "interrupt" })
  })

  it("is skipped while the turn before goes on, and the message waits, interrupts or runs beside it as overlap says", {
    timeout: 60_000
  }, async () => {
    const cases = (["skip", "queue", "interrupt", "allow"] as const).map(async (overlap) => {
      const schedule = await make({
        overlap,
        trigger: { type: "interval", seconds: 3_600, startAt: soon(2_500) },
        message: { content: text("/wait 5s\nbusy") }
      })
      await run(schedule)
      const [first] = await settled(schedule, 1)
      assert.strictEqual(first.status, "started")
      const runs = await settled(schedule, 2)
      const [second] = runs
      return { overlap, first, second }
    })
    const found = new Map((await Promise.all(cases)).map((each) => [each.overlap, each]))
    assert.deepInclude(found.get("skip")?.second, { status: "skipped", reason: "overlap" })
    for (const overlap of ["queue", "interrupt", "allow"] as const)
      assert.strictEqual(found.get(overlap)?.second.status, "started", overlap)
    const endOf = async (overlap: "queue" | "interrupt" | "allow") => {
      const { first, second } = found.get(overlap) ?? assert.fail()
      const log = await logOf(alpha, first.threadId, ended(1))
      return {
        type: log.at(-1)?.type,
        waited: Date.parse(second.startedAt) >= Date.parse(String(log.at(-1)?.occurredAt))
      }
    }
    assert.deepStrictEqual(await endOf("queue"), { type: "turn_completed", waited: true })
    assert.deepStrictEqual(await endOf("interrupt"), { type: "turn_cancelled", waited: true })
    assert.deepStrictEqual(await endOf("allow"), { type: "turn_completed", waited: false })
  })

  it("that nobody was there for fires once for all that were missed, if it is not too old", async () => {
    /** The actor as it would be had nobody looked for so long. */
    const neglected = async (schedule: { id: string }, ms: number) => {
      const id = toUuid(schedule.id)
      const carry = await until("nobody has it", async () => {
        const { rows } = await server.query(sql`select carry, owner from heads where id = ${id}::uuid`)
        const [row] = rows as Array<{ carry: string; owner: string | null }>
        if (row === undefined || row.owner !== null) return undefined
        const read = JSON.parse(long(row.carry))
        return (read.next ?? null) === null ? undefined : read
      })
      const instant = carry.next.instant - Math.ceil((carry.next.instant - Date.now() + ms) / 60_000) * 60_000
      const changed = short(JSON.stringify({ ...carry, next: { instant, moment: instant } }))
      await server.query(sql`with one as (update heads set carry = ${changed}, runnable_at = now() where id = ${id}::uuid
        returning id) insert into agenda (at, actors) select now(), array[id] from one`)
      return instant
    }
    // No instant is near the moment of its making, which is by the database's clock: it would fire before it is neglected.
    const startAt = new Date(Date.now() - 570_000).toISOString()
    const trigger = { type: "interval", seconds: 60, startAt }
    const fresh = await make({ trigger })
    const first = await neglected(fresh, 170_000)
    const [fired, missed] = await settled(fresh, 2)
    assert.deepInclude(fired, { status: "started", by: "schedule" })
    const count = (Date.parse(fired.scheduledAt) - first) / 60_000
    assert.deepInclude(missed, { status: "skipped", reason: "missed", count })
    assert.isAtLeast(count, 2)
    assert.isBelow(Date.now() - Date.parse(fired.scheduledAt), 60_000)
    const late = await make({
      trigger: { ...trigger, seconds: 3_600, startAt: new Date(Date.now() - 1_800_000).toISOString() },
      catchUpSeconds: 10
    })
    await neglected(late, 1_800_000 + 3_600_000)
    const [old] = await settled(late, 1)
    assert.deepInclude(old, { status: "skipped", reason: "missed" })
    assert.isTrue((await get(late)).enabled)
  })

  it("is of the settings of now: a change that the schedule has not heard of yet moves it, or keeps it from firing", async () => {
    /** A change as it is before its word has come to the schedule's actor. */
    const changed = (schedule: { id: string }, settings: object) =>
      server.query(sql`update schedules set body = (body::jsonb || ${JSON.stringify(settings)}::jsonb)::json, rev = rev + 1,
        anchor = now(), updated_at = now() where id = ${toUuid(schedule.id)}::uuid`)
    const at = new Date(Date.now() + 86_400_000).toISOString()
    const off = await make({ trigger: { type: "once", at: soon(1_500) } })
    const moved = await make({ trigger: { type: "once", at: off.trigger.at } })
    await changed(off, { enabled: false })
    await changed(moved, { trigger: { type: "once", at } })
    const control = await make({ trigger: { type: "once", at: soon(1_600) } })
    await settled(control, 1)
    // Whatever comes after: their actors are there, and know.
    for (const schedule of [off, moved]) {
      await run(schedule)
      assert.deepStrictEqual(
        (await settled(schedule, 1)).map(({ by }: { by: string }) => by),
        ["manual"]
      )
    }
    assert.deepInclude(await get(off), { enabled: false, nextInstants: [] })
    assert.deepInclude(await get(moved), { enabled: true, nextInstants: [at] })
  })

  it("of a disabled identity is skipped, and of an agent or thread that is archived is the last one", async () => {
    const disabled = await make({ trigger: { type: "once", at: soon(800) }, identity: "gone" })
    await alpha.post("/v1/identities/disable", { identity: "gone" })
    assert.deepInclude((await settled(disabled, 1))[0], { status: "skipped", reason: "identity_disabled" })

    const agent = await makeAgent(alpha)
    const orphan = await make({}, agent)
    assert.strictEqual((await alpha.delete(`/v1/agents/${agent}`)).status, 204)
    const after = await until("it is over", async () => {
      const found = await get(orphan)
      return found.enabled ? undefined : found
    })
    assert.strictEqual(after.disabledReason, "agent_archived")
    refused(await alpha.post(schedules(agent), input()), 409, "agent_archived")
    refused(await alpha.patch(pathOf(orphan), { enabled: true }), 409, "agent_archived")
    refused(await alpha.post(`${pathOf(orphan)}/run`), 409, "agent_archived")
    assert.strictEqual((await alpha.patch(pathOf(orphan), { name: "What was it" })).status, 200)

    const threadId = await makeThread(alpha, agentId)
    const silent = await make({
      trigger: { type: "interval", seconds: 60, startAt: soon(800) },
      target: { mode: "thread", threadId }
    })
    assert.strictEqual((await alpha.post(`/v1/threads/${threadId}/archive`)).status, 200)
    assert.deepInclude((await settled(silent, 1))[0], { status: "failed", reason: "thread_archived" })
    assert.deepInclude(await get(silent), { enabled: false, disabledReason: "thread_archived" })
  })
})

describe("a run that costs more than there is", () => {
  it("is skipped, and no failure: of its agent's budget, and of its thread's maxCost", async () => {
    const paid = ["troupe/scripted-paid"]
    const poor = await makeAgent(alpha, paid, { budget: { limit: 0, window: "total" } })
    const rich = await makeAgent(alpha, paid)
    const capped = await makeThread(alpha, rich, { maxCost: 1e-9 })
    await submit(alpha, capped, "one")
    await logOf(alpha, capped, ended(1))
    for (const [agent, target, reason] of [
      [poor, { mode: "spawn" }, "budget_exceeded"],
      [rich, { mode: "thread", threadId: capped }, "thread_cost_exceeded"]
    ] as const) {
      const schedule = await make({ target }, agent)
      await run(schedule)
      assert.deepInclude((await settled(schedule, 1))[0], { status: "skipped", reason })
      assert.deepInclude(await get(schedule), { enabled: true, lastStatus: "skipped" })
    }
  })
})
