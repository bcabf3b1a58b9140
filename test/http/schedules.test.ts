/** Schedules: made, changed, deleted; what fires them, what keeps them from it, and what their runs say. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { long, short } from "../../src/database/shorthand.ts"
import { limits } from "../../src/domain/limits.ts"
import { momentOf } from "../../src/schedules/instants.ts"
import { Client, startServer, type TestServer } from "../setup/server.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { setTimeout as sleep } from "node:timers/promises"

let server: TestServer
let alpha: Client
let agentId: string
beforeAll(async () => {
  server = await startServer({ idleMs: 100 })
  alpha = server.alpha
  agentId = await makeAgent(alpha)
})
afterAll(() => server.stop())

interface Answer {
  readonly status: number
  readonly body: { readonly error?: string; readonly code?: string }
  readonly text: string
}
const refused = ({ body, status, text }: Answer, asked: number, error: string, code?: string) =>
  assert.deepStrictEqual([status, body.error, code === undefined ? code : body.code], [asked, error, code], text)
const absent = (answer: Answer) => refused(answer, 404, "not_found")

/** What is found as soon as it is there. */
const eventually = async <Found>(look: () => Promise<Found | undefined>): Promise<Found> => {
  for (const deadline = Date.now() + 15_000; ; await sleep(20)) {
    const found = await look()
    if (found !== undefined) return found
    if (Date.now() > deadline) assert.fail("it has never come")
  }
}

const soon = (ms = 300) => new Date(Date.now() + ms).toISOString()
const cron = { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Berlin" }
const input = (more: object = {}) => ({
  name: "Morning report",
  trigger: cron,
  target: { mode: "spawn" },
  message: { content: text("Report.") },
  ...more
})
const schedules = (agent = agentId) => `/v1/agents/${agent}/schedules`
const make = async (more: object = {}, agent = agentId, client = alpha) => {
  const answer = await client.post(schedules(agent), input(more))
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.schedule
}
const pathOf = ({ agentId, id }: { readonly agentId: string; readonly id: string }) => `${schedules(agentId)}/${id}`
const get = async (schedule: { readonly agentId: string; readonly id: string }) => {
  const answer = await alpha.get(pathOf(schedule))
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body.schedule
}
const runsOf = async (schedule: { readonly agentId: string; readonly id: string }) =>
  (await alpha.get(`${pathOf(schedule)}/runs`)).body.runs
const settled = (schedule: { readonly agentId: string; readonly id: string }, count: number) =>
  eventually(async () => {
    const runs = await runsOf(schedule)
    return runs.length >= count && runs.every(({ status }: { status: string }) => status !== "starting")
      ? runs
      : undefined
  })
const run = async (schedule: { readonly agentId: string; readonly id: string }) => {
  const answer = await alpha.post(`${pathOf(schedule)}/run`)
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.run
}
const query = (statement: ReturnType<typeof sql>) =>
  server.runtime.runPromise(server.database.run("test", (db) => statement.execute(db)))

describe("a schedule", () => {
  it("is made with its defaults and next instants, and read as it was made", async () => {
    const answer = await alpha.post(schedules(), input())
    assert.strictEqual(answer.status, 201, answer.text)
    const { schedule } = answer.body
    assert.deepInclude(schedule, {
      agentId,
      name: "Morning report",
      trigger: cron,
      target: { mode: "spawn" },
      submitMode: "queue",
      overlap: "skip",
      catchUpSeconds: 3600,
      jitterSeconds: 0,
      enabled: true
    })
    assert.strictEqual(schedule.nextInstants.length, 5)
    assert.deepStrictEqual([...schedule.nextInstants].sort(), schedule.nextInstants)
    assert.strictEqual(answer.headers.get("location"), pathOf(schedule))
    assert.strictEqual(answer.headers.get("etag"), '"1"')
    assert.deepStrictEqual(await get(schedule), schedule)
  })

  it("is listed newest first, of its agent only, twenty at a time", async () => {
    const agent = await makeAgent(alpha)
    for (let i = 0; i < 21; i++) await make({ name: `s${i}` }, agent)
    const first = (await alpha.get(schedules(agent))).body
    assert.deepStrictEqual(
      first.schedules.map(({ name }: { name: string }) => name),
      Array.from({ length: 20 }, (_, i) => `s${20 - i}`)
    )
    const second = (await alpha.get(`${schedules(agent)}?cursor=${first.nextCursor}`)).body
    assert.deepStrictEqual([second.schedules.length, second.nextCursor], [1, undefined])
    assert.strictEqual((await alpha.get(`${schedules(agent)}?limit=100`)).body.schedules.length, 21)
    refused(await alpha.get(`${schedules(agent)}?limit=101`), 400, "invalid_request", "limit_out_of_range")
  })

  it("is changed by merge patch, under its ETag, and a change of nothing changes nothing", async () => {
    const schedule = await make()
    const patched = await alpha.patch(pathOf(schedule), { name: "Evening", jitterSeconds: 30 }, { "if-match": '"1"' })
    assert.deepInclude(patched.body.schedule, { name: "Evening", jitterSeconds: 30, trigger: cron })
    assert.strictEqual(patched.headers.get("etag"), '"2"')
    refused(await alpha.patch(pathOf(schedule), { name: "X" }, { "if-match": '"1"' }), 412, "precondition_failed")
    const same = await alpha.patch(pathOf(schedule), { name: "Evening" })
    assert.deepStrictEqual(
      [same.headers.get("etag"), same.body.schedule.updatedAt],
      ['"2"', patched.body.schedule.updatedAt]
    )
    const other = await alpha.patch(pathOf(schedule), {
      trigger: { type: "interval", seconds: 60 },
      jitterSeconds: null
    })
    assert.deepInclude(other.body.schedule, { trigger: { type: "interval", seconds: 60 }, jitterSeconds: 0 })
    const instants = other.body.schedule.nextInstants.map((at: string) => Date.parse(at))
    assert.deepStrictEqual(
      instants.slice(1).map((at: number, i: number) => at - instants[i]),
      [60_000, 60_000, 60_000, 60_000]
    )
    refused(await alpha.patch(pathOf(schedule), { trigger: { type: "cron" } }), 400, "invalid_request", "invalid_body")
  })

  it("is not changed by a patch that says what holds in other words", async () => {
    const schedule = await make({ endAt: "2100-01-01T02:00:00+02:00" })
    for (const patch of [
      { enabled: true },
      { enabled: null },
      { overlap: "skip" },
      { submitMode: "queue" },
      { catchUpSeconds: limits.scheduleCatchUpSeconds.usual },
      { jitterSeconds: 0 },
      { endAt: "2100-01-01T00:00:00Z" }
    ]) {
      const same = await alpha.patch(pathOf(schedule), patch)
      const { headers, body } = same
      assert.deepStrictEqual([headers.get("etag"), body.schedule.updatedAt], ['"1"', schedule.updatedAt], same.text)
    }
  })

  it("says all moments in UTC with milliseconds, whatever way they were sent", async () => {
    const once = await make({ trigger: { type: "once", at: "2100-01-01T02:00:00+02:00" } })
    assert.strictEqual(once.trigger.at, "2100-01-01T00:00:00.000Z")
    const interval = await make({ trigger: { type: "interval", seconds: 60, startAt: "2100-01-01T00:00:00Z" } })
    assert.strictEqual((await get(interval)).trigger.startAt, "2100-01-01T00:00:00.000Z")
  })

  it("that is deleted is gone, and its runs stay", async () => {
    const schedule = await make()
    const { id } = await run(schedule)
    await settled(schedule, 1)
    assert.strictEqual((await alpha.delete(pathOf(schedule))).status, 204)
    refused(await alpha.get(pathOf(schedule)), 404, "not_found")
    refused(await alpha.delete(pathOf(schedule)), 404, "not_found")
    refused(await alpha.post(`${pathOf(schedule)}/run`), 404, "not_found")
    assert.deepStrictEqual(
      (await runsOf(schedule)).map((one: { id: string }) => one.id),
      [id]
    )
  })

  it("is of its workspace and its agent alone", async () => {
    const schedule = await make()
    const other = await makeAgent(alpha)
    absent(await alpha.get(pathOf({ ...schedule, agentId: other })))
    absent(await alpha.get(`${pathOf({ ...schedule, agentId: other })}/runs`))
    absent(await server.beta.get(pathOf(schedule)))
    absent(await server.beta.post(`${pathOf(schedule)}/run`))
    absent(await server.beta.get(schedules()))
  })

  it("has a name of 1 to 120 characters on one line, and bounds for its numbers", async () => {
    for (const [field, least, most] of [
      ["catchUpSeconds", limits.scheduleCatchUpSeconds.least, limits.scheduleCatchUpSeconds.most],
      ["jitterSeconds", 0, limits.scheduleJitterSeconds.most]
    ] as const) {
      assert.strictEqual((await make({ [field]: least }))[field], least)
      assert.strictEqual((await make({ [field]: most }))[field], most)
      for (const value of [least - 1, most + 1, 1.5])
        refused(await alpha.post(schedules(), input({ [field]: value })), 400, "invalid_request", "invalid_body")
    }
    for (const seconds of [60, 31_536_000]) await make({ trigger: { type: "interval", seconds } })
    for (const seconds of [59, 31_536_001])
      refused(
        await alpha.post(schedules(), input({ trigger: { type: "interval", seconds } })),
        400,
        "invalid_request",
        "invalid_body"
      )
    await make({ name: "x".repeat(120) })
    for (const name of ["", "x".repeat(121), "a\nb"])
      refused(await alpha.post(schedules(), input({ name })), 400, "invalid_request", "invalid_body")
  })

  it("is refused where it can never fire, or is in no time zone", async () => {
    for (const [expression, timezone, code] of [
      ["0 0 31 4 *", "UTC", "invalid_cron"],
      ["* * * * * *", "UTC", "invalid_cron"],
      ["every day", "UTC", "invalid_cron"],
      ["0 9 * * *", "+01:00", "invalid_timezone"],
      ["0 9 * * *", "Mars/Base", "invalid_timezone"]
    ] as const) {
      const answer = await alpha.post(schedules(), input({ trigger: { type: "cron", expression, timezone } }))
      refused(answer, 400, "invalid_request", code)
      assert.match(answer.body.message, /^trigger\.(expression|timezone): /)
    }
    await make({ trigger: { type: "cron", expression: "0 0 29 2 *", timezone: "UTC" } })
    await make({ trigger: { type: "cron", expression: "@daily", timezone: "UTC" } })
    const past = await alpha.post(schedules(), input({ trigger: { type: "once", at: "2020-01-01T00:00:00Z" } }))
    refused(past, 400, "invalid_request", "invalid_body")
    assert.include(past.body.message, "trigger.at")
    for (const trigger of [
      { type: "once", at: "9999-12-31T00:00:00Z" },
      { type: "interval", seconds: 60, startAt: "6398-01-01T00:00:00Z" }
    ])
      refused(await alpha.post(schedules(), input({ trigger })), 400, "invalid_request", "invalid_body")
    await make({ trigger: { type: "interval", seconds: 60, startAt: "0001-01-01T00:00:00Z" } })
  })

  it("names a thread of its agent, if it names one", async () => {
    const threadId = await makeThread(alpha, agentId)
    await make({ target: { mode: "thread", threadId } })
    const foreign = await makeThread(alpha, await makeAgent(alpha))
    const others = await makeThread(server.beta, await makeAgent(server.beta))
    const deleted = await makeThread(alpha, agentId)
    const archived = await makeThread(alpha, agentId)
    for (const threadId of [deleted, archived])
      assert.strictEqual((await alpha.post(`/v1/threads/${threadId}/archive`)).status, 200)
    assert.strictEqual((await alpha.delete(`/v1/threads/${deleted}`)).status, 204)
    const spawning = await make()
    for (const [threadId, status, word] of [
      [foreign, 422, "thread_not_found"],
      [others, 422, "thread_not_found"],
      ["thr_00000000000000000000000000", 422, "thread_not_found"],
      [deleted, 422, "thread_not_found"],
      [archived, 409, "thread_archived"]
    ] as const) {
      const target = { mode: "thread", threadId }
      refused(await alpha.post(schedules(), input({ target })), status, word)
      refused(await alpha.patch(pathOf(spawning), { target }), status, word)
    }
  })

  it("works for no other identity than that of whoever makes it, where that has one", async () => {
    const issued = await alpha.post("/v1/auth/keys", {
      name: "mallory's",
      scopes: ["read", "write"],
      identity: "mallory"
    })
    assert.strictEqual(issued.status, 201, issued.text)
    const mallory = new Client(server.base, issued.body.token)
    const answer = await mallory.post(schedules(), input({ identity: "ceo" }))
    refused(answer, 403, "permission_denied", "foreign_identity")
    assert.strictEqual((await make({}, agentId, mallory)).createdBy.identity, "mallory")
    const schedule = await make({ identity: "mallory" }, agentId, mallory)
    for (const identity of ["ceo", null])
      refused(await mallory.patch(pathOf(schedule), { identity }), 403, "permission_denied", "foreign_identity")
    assert.strictEqual((await mallory.patch(pathOf(schedule), { name: "Renamed" })).status, 200)
    assert.strictEqual((await alpha.patch(pathOf(schedule), { identity: "ceo" })).body.schedule.identity, "ceo")
  })

  it("is one of at most a hundred of its agent", { timeout: 60_000 }, async () => {
    const agent = await makeAgent(alpha)
    for (let i = 0; i < limits.schedules; i++) await make({ enabled: false }, agent)
    refused(await alpha.post(schedules(agent), input()), 409, "too_many_schedules")
    const [{ id }] = (await alpha.get(schedules(agent))).body.schedules
    assert.strictEqual((await alpha.delete(pathOf({ agentId: agent, id }))).status, 204)
    await make({}, agent)
  })
})

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
    const after = await eventually(async () => {
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
      const carry = await eventually(async () => {
        const { rows } = await query(sql`select carry, owner from heads where id = ${id}::uuid`)
        const [row] = rows as Array<{ carry: string; owner: string | null }>
        if (row === undefined || row.owner !== null) return undefined
        const read = JSON.parse(long(row.carry))
        return (read.next ?? null) === null ? undefined : read
      })
      const instant = carry.next.instant - Math.ceil((carry.next.instant - Date.now() + ms) / 60_000) * 60_000
      const changed = short(JSON.stringify({ ...carry, next: { instant, moment: instant } }))
      await query(sql`with one as (update heads set carry = ${changed}, runnable_at = now() where id = ${id}::uuid
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
      query(sql`update schedules set body = (body::jsonb || ${JSON.stringify(settings)}::jsonb)::json, rev = rev + 1,
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
    const after = await eventually(async () => {
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

describe("a run by hand", () => {
  it("begins at once, also while the schedule is disabled, once for each idempotency key", async () => {
    const schedule = await make({ enabled: false })
    assert.deepStrictEqual(schedule.nextInstants, [])
    const key = { "idempotency-key": "run-1" }
    const first = await alpha.post(`${pathOf(schedule)}/run`, undefined, key)
    assert.strictEqual(first.status, 201, first.text)
    assert.deepInclude(first.body.run, { scheduleId: schedule.id, by: "manual", status: "starting" })
    assert.deepStrictEqual((await alpha.post(`${pathOf(schedule)}/run`, undefined, key)).body, first.body)
    const runs = await settled(schedule, 1)
    assert.deepStrictEqual(
      runs.map(({ by, id, status }: { by: string; id: string; status: string }) => [id, by, status]),
      [[first.body.run.id, "manual", "started"]]
    )
    assert.isFalse((await get(schedule)).enabled)
  })

  it("is listed from the moment on at which it is promised", async () => {
    const schedule = await make()
    for (let i = 0; i < 5; i++) {
      const [first, second] = await Promise.all([run(schedule), run(schedule)])
      const ids = (await runsOf(schedule)).map(({ id }: { id: string }) => id)
      assert.lengthOf(ids, 2 * (i + 1))
      assert.includeMembers(ids, [first.id, second.id])
    }
  })

  it("leaves the turn before alone, whatever overlap says", async () => {
    const schedule = await make({ overlap: "interrupt", message: { content: text("/wait 600s\nbusy") } })
    await run(schedule)
    await run(schedule)
    const runs = await settled(schedule, 2)
    for (const { threadId } of runs) {
      const log = await logOf(alpha, threadId, (events) => events.length > 0)
      assert.notInclude(
        log.map(({ type }) => type),
        "turn_cancelled"
      )
    }
  })

  it("that was asked for before its schedule was deleted has an end, whatever came of it", async () => {
    const schedule = await make()
    const asked = await Promise.all([run(schedule), run(schedule), run(schedule)])
    assert.strictEqual((await alpha.delete(pathOf(schedule))).status, 204)
    const runs = await settled(schedule, 3)
    assert.sameMembers(
      runs.map(({ id }: { id: string }) => id),
      asked.map(({ id }) => id)
    )
  })

  it("comes after the one before it, each with a thread of its own", async () => {
    const schedule = await make()
    const asked = await Promise.all([run(schedule), run(schedule), run(schedule)])
    const runs = await settled(schedule, 3)
    assert.deepStrictEqual(runs.map(({ id }: { id: string }) => id).sort(), asked.map(({ id }) => id).sort())
    assert.strictEqual(new Set(runs.map(({ threadId }: { threadId: string }) => threadId)).size, 3)
  })

  it("is listed a page at a time", async () => {
    const schedule = await make()
    for (let i = 0; i < 3; i++) {
      await run(schedule)
      await settled(schedule, i + 1)
    }
    const first = (await alpha.get(`${pathOf(schedule)}/runs?limit=2`)).body
    const second = (await alpha.get(`${pathOf(schedule)}/runs?limit=2&cursor=${first.nextCursor}`)).body
    assert.deepStrictEqual([first.runs.length, second.runs.length, second.nextCursor], [2, 1, undefined])
    assert.strictEqual(new Set([...first.runs, ...second.runs].map(({ id }) => id)).size, 3)
  })
})

describe("a page of runs", () => {
  it("leaves none out while one is beginning or waits", async () => {
    const schedule = await make({
      overlap: "queue",
      trigger: { type: "once", at: soon(1_500) },
      message: { content: text("/wait 600s\nbusy") }
    })
    for (let i = 0; i < 3; i++) await run(schedule)
    await settled(schedule, 3)
    await eventually(async () => ((await runsOf(schedule)).length === 4 ? true : undefined))
    const ids = (runs: ReadonlyArray<{ id: string }>) => runs.map(({ id }) => id)
    const all = ids(await runsOf(schedule))
    for (const limit of [1, 2, 3, 4]) {
      const found: Array<string> = []
      for (let cursor = ""; ; ) {
        const { nextCursor, runs } = (await alpha.get(`${pathOf(schedule)}/runs?limit=${limit}${cursor}`)).body
        found.push(...ids(runs))
        if (nextCursor === undefined) break
        assert.strictEqual(runs.length, limit)
        cursor = `&cursor=${nextCursor}`
      }
      assert.deepStrictEqual(found, all)
    }
  })
})

describe("a change", () => {
  /** As it would be had its moment been so long ago. */
  const overdue = async (schedule: { id: string }, ms: number) => {
    const id = toUuid(schedule.id)
    const instant = Date.now() - ms
    const carry = await eventually(async () => {
      const { rows } = await query(sql`select carry from heads where id = ${id}::uuid and owner is null`)
      const [row] = rows as Array<{ carry: string }>
      const read = row && JSON.parse(long(row.carry))
      return read?.next ? read : undefined
    })
    const changed = short(JSON.stringify({ ...carry, next: { instant, moment: instant } }))
    const at = new Date(instant).toISOString()
    await query(sql`with h as (update heads set carry = ${changed} where id = ${id}::uuid)
      update schedules set body = (body::jsonb || ${JSON.stringify({ trigger: { type: "once", at } })}::jsonb)::json,
        anchor = ${new Date(instant - 60_000)} where id = ${id}::uuid`)
    return at
  }

  it("of other things than when it fires keeps an instant that is still to come, or that nobody was there for", async () => {
    const jittery = await eventually(async () => {
      const at = soon(400)
      const made = await make({ trigger: { type: "once", at }, jitterSeconds: 3_600 })
      // Of one in thousands the jitter is no longer than this test.
      const instant = Date.parse(at)
      const clockwork = { trigger: made.trigger, anchor: instant }
      return momentOf(clockwork, made.id, 3_600, instant) > instant + 20_000 ? made : undefined
    })
    const late = await make({ trigger: { type: "once", at: soon(3_600_000) } })
    const at = await overdue(late, 30_000)
    const renamed = await alpha.patch(pathOf(late), { name: "Renamed" })
    assert.strictEqual(renamed.status, 200, renamed.text)
    assert.deepStrictEqual(renamed.body.schedule.nextInstants, [at])
    const [fired] = await settled(late, 1)
    assert.deepInclude(fired, { by: "schedule", status: "started", scheduledAt: at })

    await eventually(async () => (Date.now() > Date.parse(jittery.trigger.at) ? true : undefined))
    const waiting = (await alpha.patch(pathOf(jittery), { name: "Renamed" })).body.schedule
    assert.deepInclude(waiting, { enabled: true, nextInstants: [jittery.trigger.at] })
    assert.strictEqual((await alpha.patch(pathOf(jittery), { jitterSeconds: 0 })).status, 200)
    const [ran] = await settled(jittery, 1)
    assert.deepInclude(ran, { by: "schedule", status: "started", scheduledAt: jittery.trigger.at })
  })

  it("does not switch on what was disabled by force: saying so does", async () => {
    const threadId = await makeThread(alpha, agentId)
    const schedule = await make({ target: { mode: "thread", threadId } })
    await alpha.post(`/v1/threads/${threadId}/archive`)
    await run(schedule)
    await settled(schedule, 1)
    const off = { enabled: false, disabledReason: "thread_archived", nextInstants: [] }
    for (const patch of [
      { name: "Renamed" },
      { trigger: { type: "interval", seconds: 60 } },
      { target: { mode: "spawn" } },
      { enabled: false, name: "Off" }
    ]) {
      assert.deepInclude((await alpha.patch(pathOf(schedule), patch)).body.schedule, off, JSON.stringify(patch))
      // Its actor has heard of the change before it runs.
      await run(schedule)
      await settled(schedule, (await runsOf(schedule)).length)
      assert.deepInclude(await get(schedule), off, JSON.stringify(patch))
    }
    const on = (await alpha.patch(pathOf(schedule), { enabled: true })).body.schedule
    assert.isTrue(on.enabled)
    assert.isAtLeast(Date.parse(on.nextInstants[0]), Date.parse(on.updatedAt) + 60_000)
    assert.isUndefined(on.disabledReason)
  })

  it("of overlap has the run begin at once that waits for the turn before, where it waits for none any more", async () => {
    const schedule = await make({
      overlap: "queue",
      trigger: { type: "once", at: soon(1_000) },
      message: { content: text("/wait 600s\nbusy") }
    })
    await run(schedule)
    await eventually(async () => {
      const [first] = await runsOf(schedule)
      return first?.by === "schedule" && first.status === "starting" ? true : undefined
    })
    assert.strictEqual((await alpha.patch(pathOf(schedule), { overlap: "interrupt" })).status, 200)
    const [last, before] = await settled(schedule, 2)
    assert.deepInclude(last, { by: "schedule", status: "started" })
    const log = await logOf(alpha, before.threadId, ended(1))
    assert.strictEqual(log.at(-1)?.type, "turn_cancelled")
  })

  it("leaves the run alone that waits for the turn before, also where it is the last one", async () => {
    const schedule = await make({
      overlap: "queue",
      trigger: { type: "once", at: soon(1_500) },
      message: { content: text("/wait 3s\nbusy") }
    })
    await run(schedule)
    await eventually(async () => {
      const [first] = await runsOf(schedule)
      return first?.by === "schedule" && first.status === "starting" ? true : undefined
    })
    assert.strictEqual((await alpha.patch(pathOf(schedule), { name: "Renamed" })).status, 200)
    const [last] = await settled(schedule, 2)
    assert.deepInclude(last, { by: "schedule", status: "started" })
  })
})

describe("enabling", () => {
  it("takes up a schedule that was switched off, with its next instant", async () => {
    const schedule = await make({ trigger: { type: "interval", seconds: 3_600 } })
    const off = await alpha.patch(pathOf(schedule), { enabled: false })
    assert.deepInclude(off.body.schedule, { enabled: false, nextInstants: [] })
    assert.isUndefined(off.body.schedule.disabledReason)
    const on = (await alpha.patch(pathOf(schedule), { enabled: true })).body.schedule
    assert.isTrue(on.enabled)
    assert.isAtLeast(Date.parse(on.nextInstants[0]), Date.parse(on.updatedAt) + 3_600_000)
  })

  it("takes up one that was disabled by force, and counts its failures anew", async () => {
    const threadId = await makeThread(alpha, agentId)
    const schedule = await make({
      trigger: { type: "interval", seconds: 60, startAt: soon(500) },
      target: { mode: "thread", threadId }
    })
    await alpha.post(`/v1/threads/${threadId}/archive`)
    await settled(schedule, 1)
    const on = await alpha.patch(pathOf(schedule), { enabled: true, target: { mode: "spawn" } })
    assert.strictEqual(on.status, 200, on.text)
    assert.deepInclude(on.body.schedule, { enabled: true, target: { mode: "spawn" } })
    assert.isUndefined((await get(schedule)).disabledReason)
  })
})
