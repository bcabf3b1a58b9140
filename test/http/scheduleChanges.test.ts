/** Changes of schedules, and what they do to the instant that was to come: kept, moved, begun at once, switched on. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { long, short } from "../../src/database/shorthand.ts"
import { momentOf } from "../../src/schedules/instants.ts"
import { eventually, until } from "../waiting.ts"
import { ended, logOf, makeThread, text } from "./threadFixture.ts"
import { soon, scheduleStand } from "./scheduleFixture.ts"

const { agentId, alpha, get, make, pathOf, run, runsOf, server, settled } = await scheduleStand()

describe("a change", () => {
  /** As it would be had its moment been so long ago. */
  const overdue = async (schedule: { id: string }, ms: number) => {
    const id = toUuid(schedule.id)
    const instant = Date.now() - ms
    const carry = await until("nobody has it", async () => {
      const { rows } = await server.query(sql`select carry from heads where id = ${id}::uuid and owner is null`)
      const [row] = rows as Array<{ carry: string }>
      const read = row && JSON.parse(long(row.carry))
      return read?.next ? read : undefined
    })
    const changed = short(JSON.stringify({ ...carry, next: { instant, moment: instant } }))
    const at = new Date(instant).toISOString()
    await server.query(sql`with h as (update heads set carry = ${changed} where id = ${id}::uuid)
      update schedules set body = (body::jsonb || ${JSON.stringify({ trigger: { type: "once", at } })}::jsonb)::json,
        anchor = ${new Date(instant - 60_000)} where id = ${id}::uuid`)
    return at
  }

  it("of other things than when it fires keeps an instant that is still to come, or that nobody was there for", async () => {
    const jittery = await until("one with a long jitter", async () => {
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

    await eventually(() => Date.now() > Date.parse(jittery.trigger.at), "its moment is past")
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
    await until("a run waits", async () => {
      const [first] = await runsOf(schedule)
      return first?.by === "schedule" && first.status === "starting"
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
    await until("a run waits", async () => {
      const [first] = await runsOf(schedule)
      return first?.by === "schedule" && first.status === "starting"
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
