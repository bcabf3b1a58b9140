/** Runs of schedules: by hand, and how they are listed. */
import { assert, describe, it } from "@effect/vitest"
import { eventually } from "../waiting.ts"
import { logOf, text } from "./threadFixture.ts"
import { soon, scheduleStand } from "./scheduleFixture.ts"

const { alpha, get, make, pathOf, run, runsOf, settled } = await scheduleStand()

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
    await eventually(async () => (await runsOf(schedule)).length === 4, "all four are listed")
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
