/** Schedules as what they are: made, read, listed, refused and deleted. */
import { assert, describe, it } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import { Client } from "../setup/server.ts"
import { assertRefused as refused } from "./refusals.ts"
import { makeAgent, makeThread } from "./threadFixture.ts"
import { cron, input, scheduleStand } from "./scheduleFixture.ts"

const { agentId, alpha, get, make, pathOf, run, runsOf, schedules, server, settled } = await scheduleStand()

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
    refused(await alpha.get(pathOf({ ...schedule, agentId: other })), 404, "not_found")
    refused(await alpha.get(`${pathOf({ ...schedule, agentId: other })}/runs`), 404, "not_found")
    refused(await server.beta.get(pathOf(schedule)), 404, "not_found")
    refused(await server.beta.post(`${pathOf(schedule)}/run`), 404, "not_found")
    refused(await server.beta.get(schedules()), 404, "not_found")
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
