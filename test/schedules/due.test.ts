/** What a schedule does at its moments, over a clock that the test moves: its preparation and its chart together. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Decided } from "../../actors/schedule/Decided.ts"
import { makePerform } from "../../actors/schedule/perform.ts"
import { makePrepare } from "../../actors/schedule/prepare.ts"
import { decide, start } from "../../machines/schedule/decide.ts"
import type { Snapshot } from "../../machines/schedule/chart.ts"
import type { Fact } from "../../machines/schedule/facts.ts"
import { restore, resume } from "../../machines/schedule/fold.ts"
import type { ScheduleInput } from "../../src/schedules/schedule.ts"
import { made, ref, storedOf } from "./stored.ts"

const minute = 60_000
const day = 86_400_000

/** A schedule whose runs begin at once. */
const makeWalk = (input: Partial<ScheduleInput>) => {
  const prepare = makePrepare({
    decided: new Decided(),
    directory: { agent: () => Effect.succeed({ archived: false }), identityDisabled: () => false },
    isOver: () => Effect.succeed(true),
    read: () => Effect.succeed(storedOf(input))
  })
  const facts: Array<Fact> = []
  let snapshot = start()
  const tell = async (request: Parameters<typeof prepare>[1], at: number) => {
    const command = await Effect.runPromise(prepare({ ref, snapshot }, request, at))
    const decided = decide(snapshot, command)
    facts.push(...decided.facts)
    snapshot = decided.next
  }
  const dueAt = async (at: number) => {
    await tell({ type: "due" }, at)
    const { firing } = snapshot.context
    if (firing === null) return
    await tell({ type: "started", runId: firing.runId, threadId: "thr_x", turnId: "trn_x" }, at)
  }
  return {
    begin: () => tell({ type: "configure" }, made),
    dueAt,
    /** Up to a moment, and never late. */
    until: async (end: number) => {
      for (let { next } = snapshot.context; next !== null && next.moment <= end; { next } = snapshot.context)
        await dueAt(next.moment)
    },
    get ran() {
      return facts.flatMap((fact) => (fact.type === "ran" ? [fact] : []))
    }
  }
}

describe("jitter", () => {
  it("loses no instant, whatever the interval and however little is caught up", async () => {
    const daily = { type: "interval", seconds: 86_400 } as const
    const quarterly = { type: "cron", expression: "*/15 * * * *", timezone: "Europe/Berlin" } as const
    const once = { type: "once", at: new Date(made + minute).toISOString() } as const
    for (const [input, end, count] of [
      [{ trigger: daily, jitterSeconds: 3_600, catchUpSeconds: 600 }, 31 * day - 1, 30],
      [{ jitterSeconds: 60, catchUpSeconds: 10 }, 201 * minute - 1, 200],
      [{ jitterSeconds: 3_600 }, 201 * minute - 1, 200],
      [{ trigger: quarterly, jitterSeconds: 3_600 }, day + 15 * minute - 1, 96],
      [{ trigger: once, jitterSeconds: 3_600, catchUpSeconds: 10 }, day, 1]
    ] as const) {
      const walk = makeWalk(input)
      await walk.begin()
      await walk.until(made + end)
      const instants = walk.ran.map(({ run, status }) => `${status} ${run.scheduledAt}`)
      assert.deepStrictEqual(
        [new Set(instants).size, walk.ran.every(({ status }) => status === "started")],
        [count, true],
        JSON.stringify(input)
      )
    }
  })

  it("makes nothing fire that is older than its moment and what is caught up", async () => {
    for (const [late, status] of [
      [10_000, "started"],
      [10_001, "skipped"]
    ] as const) {
      const walk = makeWalk({
        trigger: { type: "once", at: new Date(made + minute).toISOString() },
        catchUpSeconds: 10
      })
      await walk.begin()
      await walk.dueAt(made + minute + late)
      assert.deepStrictEqual(
        walk.ran.map((ran) => ran.status),
        [status]
      )
    }
  })
})

describe("a schedule that nobody was there for", () => {
  it("leaves the thread to others while it counts what it has missed", async () => {
    const walk = makeWalk({
      trigger: { type: "cron", expression: "* * * * *", timezone: "Europe/Berlin" },
      jitterSeconds: 3_600
    })
    await walk.begin()
    let turns = 0
    const timer = setInterval(() => turns++)
    await walk.dueAt(made + 60 * day + 59_999)
    clearInterval(timer)
    assert.deepStrictEqual(
      walk.ran.map(({ count, status }) => [status, count]),
      [
        ["skipped", 9_999],
        ["started", undefined]
      ]
    )
    assert.isAbove(turns, 10)
  })
})

describe("a fire", () => {
  it("is begun with the schedule that it was decided on, and reads it again only where that is gone", async () => {
    let reads = 0
    const read = () => Effect.sync(() => storedOf({ name: `reading ${++reads}` }))
    const decided = new Decided()
    const prepare = makePrepare({
      decided,
      directory: { agent: () => Effect.succeed({ archived: false }), identityDisabled: () => false },
      isOver: () => Effect.succeed(true),
      read
    })
    const notAsked = () => Effect.die("not asked")
    const perform = makePerform({
      taken: () => Effect.succeed(undefined),
      decided,
      isOver: notAsked,
      read,
      untilOver: notAsked,
      threads: {
        cancel: notAsked,
        remove: notAsked,
        submitAs: notAsked,
        start: () => Effect.succeed({ kind: "created", body: JSON.stringify({ turnId: "trn_x" }) })
      }
    })
    const being = (snapshot: Snapshot) => ({
      ref,
      parent: null,
      attributes: "{}",
      createdAt: 0,
      head: { updatedAt: 0 },
      snapshot,
      desk: { queuedMs: () => 0 }
    })
    const tell = (snapshot: Snapshot, type: "configure" | "due", at: number) =>
      Effect.map(prepare({ ref, snapshot }, { type }, at), (command) => decide(snapshot, command))
    const armed = (await Effect.runPromise(tell(start(), "configure", made))).next
    const { jobs, next } = await Effect.runPromise(tell(armed, "due", made + minute))
    assert.strictEqual(reads, 2)
    const [job = assert.fail("nothing begins")] = jobs
    for (const [times, whole] of [
      [2, "from the decision"],
      [3, "a second time"]
    ] as const) {
      const outcome = await Effect.runPromise(perform(being(next), job))
      assert.deepInclude(outcome, { type: "started", turnId: "trn_x" })
      assert.strictEqual(reads, times, whole)
    }
    const [resumed = assert.fail("nothing goes on")] = resume(restore(JSON.parse(JSON.stringify(next.context))))
    await Effect.runPromise(perform(being(next), resumed))
    assert.strictEqual(reads, 4, "after a crash")
  })
})
