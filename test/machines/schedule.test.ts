/** The chart of a schedule: what each command makes of it, and that its facts say all. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { factOf, row } from "../../actors/schedule/facts.ts"
import type { WrittenFact } from "../../machines/inspected.ts"
import type { Command, Firing, ScheduleCommand } from "../../machines/schedule/commands.ts"
import { decide, start } from "../../machines/schedule/decide.ts"
import type { Fact } from "../../machines/schedule/facts.ts"
import { contextOf, restore, resume } from "../../machines/schedule/fold.ts"
import { causes, makeScheduleInspected } from "../../machines/schedule/inspected.ts"
import { chart, type Snapshot } from "../../machines/schedule/chart.ts"
import { limits } from "../../src/domain/limits.ts"
import { asLogged, checkStep, possibleBehind } from "./stepChecks.ts"

const inspected = makeScheduleInspected(factOf)

type Without<C> = C extends unknown ? Omit<C, "at"> : never

class Walk {
  snapshot: Snapshot = start()
  readonly facts: Array<Fact> = []
  readonly log: Array<WrittenFact> = []
  readonly jobs: Array<string> = []
  at = 1_000

  do(command: Without<Command>) {
    const before = this.snapshot
    const told = { ...command, at: ++this.at } as Command
    const { facts, jobs, next } = decide(before, told)
    this.snapshot = next
    this.facts.push(...facts)
    this.log.push(...asLogged(this.log, facts.map(row), causes[told.type]))
    checkStep({ chart, inspected, before, next, command: told, log: this.log, written: facts.length })
    this.jobs.push(...jobs.map(({ params, type }) => `${type} ${params.runId}`))
    if (facts.length === 0) {
      assert.deepStrictEqual(next.context, before.context, "nothing changes without a fact")
      assert.deepStrictEqual(next.value, before.value)
    }
    // The way back leads here.
    const folded = restore(contextOf(this.facts))
    assert.deepStrictEqual(folded.context, next.context)
    assert.deepStrictEqual(folded.value, next.value)
    assert.deepStrictEqual(resume(folded), resume(next))
    return this
  }

  get state() {
    return this.snapshot.value
  }
  get said() {
    return this.facts.map((fact) =>
      fact.type === "ran"
        ? `ran ${fact.run.runId} ${fact.status}${fact.reason === undefined ? "" : ` ${fact.reason}`}`
        : "run" in fact
          ? `${fact.type} ${fact.run.runId}`
          : fact.type === "disabled"
            ? `disabled ${fact.reason}`
            : fact.type
    )
  }
}

const next = { instant: 2_000, moment: 2_000 }
const later = { instant: 3_000, moment: 3_000 }
/** A change with which its clock begins anew, unless something else is said. */
const configure = (rev: number, more: Partial<ScheduleCommand<"configure">> = {}) => ({
  type: "configure" as const,
  rev,
  enabled: true,
  deleted: false,
  anchor: 1_000,
  anew: true,
  ...more
})
const firing = (runId: string, by: Firing["by"] = "schedule"): Firing => ({ runId, scheduledAt: 2_000, by })
const armed = () => new Walk().do(configure(1, { next }))
const due = (runId: string, more: object = {}) => ({ type: "due" as const, fires: firing(runId), next: later, ...more })
const at = (walk: Walk, ms: number) => {
  walk.at = ms
  return walk
}
const started = (runId: string) => ({
  type: "started" as const,
  runId,
  threadId: `thr ${runId}`,
  turnId: `trn ${runId}`
})
const failed = (runId: string) => ({
  type: "refused" as const,
  runId,
  status: "failed" as const,
  reason: "model_error"
})

describe("a schedule", () => {
  it("fires at its moment, and waits for the next one", () => {
    const walk = armed()
    walk.do(due("r0"))
    assert.strictEqual(walk.state, "armed", "its moment has not come")
    at(walk, 2_000).do(due("r1"))
    assert.strictEqual(walk.state, "starting")
    walk.do(started("r1"))
    assert.strictEqual(walk.state, "armed")
    assert.deepStrictEqual(walk.said, ["configured", "firing r1", "ran r1 started"])
    assert.deepStrictEqual(walk.jobs, ["start r1"])
    assert.deepStrictEqual(walk.snapshot.context.next, later)
    assert.deepStrictEqual(walk.snapshot.context.lastTurn, { threadId: "thr r1", turnId: "trn r1" })
  })

  it("hears of its own runs only", () => {
    const walk = at(armed(), 2_000).do(due("r1")).do(started("r0")).do(failed("r0"))
    assert.strictEqual(walk.state, "starting")
  })

  it("is over with its last instant", () => {
    const walk = at(armed(), 2_000)
      .do({ type: "due", fires: firing("r1") })
      .do(started("r1"))
    assert.deepStrictEqual(walk.said.slice(1), ["firing r1", "ran r1 started", "disabled finished"])
    assert.strictEqual(walk.state, "resting")
  })

  it("holds one run until the turn before is over, and skips those that come meanwhile", () => {
    const walk = at(armed(), 2_000).do(due("r1", { instead: "waits" }))
    assert.strictEqual(walk.state, "holding")
    at(walk, 3_000).do(due("r2", { instead: { skips: "overlap" }, next: { instant: 4_000, moment: 4_000 } }))
    walk.do({ type: "freed", runId: "r2" })
    assert.strictEqual(walk.state, "holding", "the end of something else")
    walk.do({ type: "freed", runId: "r1" }).do(started("r1"))
    assert.deepStrictEqual(walk.said.slice(1), ["held r1", "ran r2 skipped overlap", "firing r1", "ran r1 started"])
    assert.deepStrictEqual(walk.jobs, ["watch r1", "start r1"])
    assert.strictEqual(walk.snapshot.context.next?.instant, 4_000)
  })

  it("waits anew for the turn that it began last, once a run by hand has begun: an end that came meanwhile is no loss", () => {
    const walk = at(armed(), 2_000).do(due("r1", { instead: "waits" }))
    walk.do({ type: "run", run: firing("m1", "manual") }).do({ type: "run", run: firing("m2", "manual") })
    walk.do({ type: "freed", runId: "r1" })
    assert.strictEqual(walk.state, "starting")
    walk.do(started("m1")).do(failed("m2"))
    assert.deepStrictEqual([walk.state, walk.jobs.slice(-3)], ["holding", ["start m2", "unwatch r1", "watch r1"]])
    walk.do({ type: "freed", runId: "r1" })
    assert.deepStrictEqual([walk.state, walk.jobs.at(-1)], ["starting", "start r1"])
  })

  it("that is switched off, deleted or poisoned starts nothing that waits", () => {
    const off = at(armed(), 2_000).do(due("r1", { instead: "waits" }))
    off.do(configure(2, { enabled: false }))
    assert.deepStrictEqual(off.said.slice(2), ["ran r1 skipped disabled", "configured"])
    assert.deepStrictEqual([off.state, off.jobs.at(-1)], ["resting", "unwatch r1"])
    const gone = at(armed(), 2_000).do(due("r1", { instead: "waits" }))
    gone.do(configure(2, { deleted: true }))
    assert.deepStrictEqual([gone.state, gone.said.slice(2)], ["deleted", ["ran r1 skipped deleted", "deleted"]])
    const poisoned = at(armed(), 2_000).do(due("r1")).do({ type: "poison" })
    assert.deepStrictEqual(poisoned.said.slice(2), ["ran r1 failed poisoned", "disabled poisoned"])
    assert.strictEqual(poisoned.state, "resting")
  })

  it("that is deleted while it starts ends what it has begun", () => {
    const walk = at(armed(), 2_000).do(due("r1"))
    walk.do(configure(2, { deleted: true }))
    assert.strictEqual(walk.state, "starting")
    assert.strictEqual(walk.do(started("r1")).state, "deleted")
  })

  it("is disabled by five scheduled fires that fail in a row; runs by hand and skips count nothing", () => {
    const walk = armed()
    for (let i = 1; i < limits.scheduleFailures; i++) {
      at(walk, 2_000 + 1_000 * i)
        .do(due(`r${i}`, { next: { instant: 0, moment: 0 } }))
        .do(failed(`r${i}`))
      walk.do({ type: "run", run: firing(`m${i}`, "manual") }).do(failed(`m${i}`))
      walk.do(due(`s${i}`, { instead: { skips: "overlap" }, next: { instant: 0, moment: 0 } }))
    }
    assert.strictEqual(walk.state, "armed")
    walk.do(due("last", { next: later })).do(failed("last"))
    assert.deepStrictEqual(walk.said.slice(-2), ["ran last failed model_error", "disabled failures"])
    walk.do(configure(2, { next: later }))
    assert.deepStrictEqual([walk.state, walk.snapshot.context.failures], ["armed", 0])
  })

  it("runs by hand one after the other, whatever it is doing, and goes back to that", () => {
    const walk = new Walk().do(configure(1, { enabled: false }))
    walk.do({ type: "run", run: firing("m1", "manual") }).do({ type: "run", run: firing("m2", "manual") })
    assert.deepStrictEqual(walk.jobs, ["start m1"])
    walk.do(started("m1"))
    assert.deepStrictEqual([walk.state, walk.jobs], ["starting", ["start m1", "start m2"]])
    assert.strictEqual(walk.do(started("m2")).state, "resting")
  })

  it("that is poisoned or deleted tells the end of each run by hand that waits", () => {
    const waiting = () => {
      const walk = at(armed(), 2_000).do(due("r1"))
      return walk.do({ type: "run", run: firing("m1", "manual") }).do({ type: "run", run: firing("m2", "manual") })
    }
    const poisoned = waiting().do({ type: "poison" })
    assert.deepStrictEqual(poisoned.said.slice(4), [
      "ran r1 failed poisoned",
      "ran m1 failed poisoned",
      "ran m2 failed poisoned",
      "disabled poisoned"
    ])
    assert.deepStrictEqual(poisoned.snapshot.context.queued, [])
    poisoned.do({ type: "run", run: firing("m3", "manual") }).do(started("m3"))
    assert.deepStrictEqual([poisoned.state, poisoned.jobs.at(-1)], ["resting", "start m3"])

    const gone = waiting().do(configure(2, { deleted: true }))
    assert.deepStrictEqual(gone.said.slice(4), ["ran m1 skipped deleted", "ran m2 skipped deleted", "deleted"])
    gone.do({ type: "run", run: firing("m3", "manual") }).do(started("r1"))
    assert.strictEqual(gone.state, "deleted")
    gone.do({ type: "run", run: firing("m4", "manual") }).do(configure(3, { deleted: true }))
    assert.deepStrictEqual(gone.said.slice(7), ["ran m3 skipped deleted", "ran r1 started", "ran m4 skipped deleted"])
    assert.deepStrictEqual([gone.state, gone.jobs], ["deleted", ["start r1"]])
  })

  it("looks again at what a run waits for once it is changed", () => {
    const walk = at(armed(), 2_000).do(due("r1", { instead: "waits" }))
    walk.do(configure(2, { anew: false, next: later }))
    assert.deepStrictEqual([walk.state, walk.jobs], ["holding", ["watch r1", "unwatch r1", "watch r1"]])
  })

  it("stands as it was after a change that does not enable it: what has disabled it, its failures, the run that waits", () => {
    const walk = armed()
    for (let i = 1; i <= limits.scheduleFailures; i++)
      at(walk, 2_000 + 1_000 * i)
        .do(due(`r${i}`, { next: { instant: 0, moment: 0 } }))
        .do(failed(`r${i}`))
        .do(configure(i + 1, { anew: false, next: { instant: 0, moment: 0 } }))
    assert.deepStrictEqual([walk.state, walk.snapshot.context.disabledReason], ["resting", "failures"])
    walk.do(configure(10, { next: later }))
    assert.deepStrictEqual([walk.state, walk.snapshot.context.disabledReason], ["armed", null])

    const waits = at(armed(), 2_000).do({ type: "due", fires: firing("r1"), instead: "waits" })
    waits.do(configure(2, { anew: false, disables: "finished" }))
    assert.strictEqual(waits.state, "holding")
    waits.do({ type: "freed", runId: "r1" }).do(started("r1"))
    assert.deepStrictEqual(waits.said.slice(2), ["configured", "firing r1", "ran r1 started", "disabled finished"])
  })

  it("says what may come next, and the guard that refuses what no command could do now", () => {
    const configured = { configure: ["settling"], run: ["settling"] }
    const living = { ...configured, poison: ["settling"] }
    const walk = armed()
    assert.deepStrictEqual(possibleBehind(inspected, walk.log), { ...living, due: ["settling"] })
    // The run that waits is the last one.
    at(walk, 2_000).do({ type: "due", fires: firing("r1"), instead: "waits" })
    const waits = { ...living, freed: ["settling"] }
    assert.deepStrictEqual(possibleBehind(inspected, walk.log), { ...waits, due: "hasMoment" })
    walk.do(configure(2, { anew: false, next: later }))
    assert.deepStrictEqual(possibleBehind(inspected, walk.log), { ...waits, due: ["settling"] })
    walk.do(configure(3, { enabled: false }))
    assert.deepStrictEqual(possibleBehind(inspected, walk.log), configured)
  })

  it("knows each change once", () => {
    const walk = armed()
    walk.do(configure(1, { enabled: false }))
    assert.strictEqual(walk.state, "armed")
  })
})

describe("any walk", () => {
  const id = fc.nat(4).map((n) => `r${n}`)
  const by = fc.constantFrom<Firing["by"]>("schedule", "manual")
  const step = fc.option(
    fc.nat(50).map((n) => ({ instant: 1_000 + n, moment: 1_000 + n })),
    { nil: undefined }
  )
  const some = (name: string, value: unknown) => (value === undefined ? {} : { [name]: value })
  const commands = fc.oneof(
    fc
      .record({
        rev: fc.nat(6),
        enabled: fc.boolean(),
        anew: fc.boolean(),
        next: step,
        deleted: fc.nat(9).map((n) => n === 0),
        disables: fc.option(fc.constantFrom("finished" as const, "agent_archived" as const), { nil: undefined })
      })
      .map(({ disables, next, rev, ...rest }) =>
        configure(rev, { ...rest, ...some("next", next), ...some("disables", disables) })
      ),
    fc
      .record({
        runId: id,
        next: step,
        instead: fc.option(fc.constantFrom("waits" as const, { skips: "overlap" }), { nil: undefined }),
        fires: fc.boolean(),
        missed: fc.boolean()
      })
      .map(({ fires, instead, missed, next, runId }) => ({
        type: "due" as const,
        ...(fires ? { fires: firing(runId) } : {}),
        ...(missed ? { missed: { count: 2, scheduledAt: 1_500, runId: `${runId}m` } } : {}),
        ...some("next", next),
        ...some("instead", instead)
      })),
    fc
      .record({ runId: id, by })
      .map(({ by, runId }) => ({ type: "run" as const, run: firing(`${runId}${by}`, "manual") })),
    id.map(started),
    id.map((runId) => started(`${runId}manual`)),
    id.map(failed),
    id.map((runId) => ({ type: "freed" as const, runId })),
    fc.constant({ type: "poison" as const })
  )

  it("is told whole by its facts, and every run that begins comes to one end", () => {
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 40, size: "max" }), (all) => {
        const walk = new Walk()
        for (const command of all) {
          const { firing: begun, queued: waiting } = walk.snapshot.context
          const isOpen = (runId: string) => [begun, ...waiting].some((run) => run?.runId === runId)
          // Once it was asked for, the machine holds the run: the same id is not given twice at a time.
          if (command.type === "run" && isOpen(command.run.runId)) continue
          walk.do(command as Without<Command>)
        }
        const { deleted, firing: open, queued } = walk.snapshot.context
        const heard = new Set(walk.facts.flatMap((fact) => (fact.type === "queued" ? [fact.run.runId] : [])))
        const waiting = new Set(queued.map(({ runId }) => runId))
        // Begun, or ended without that.
        const met = new Set(
          walk.facts.flatMap((fact) => (fact.type === "firing" || fact.type === "ran" ? [fact.run.runId] : []))
        )
        for (const runId of heard) assert.isTrue(waiting.has(runId) || met.has(runId), `${runId} is forgotten`)
        assert.isTrue(queued.length === 0 || (open !== null && !deleted), "what waits is before one that begins")
        const begun = walk.facts.filter(({ type }) => type === "firing").length
        const ended = walk.facts.filter(
          (fact, i) => fact.type === "ran" && isEndOf(walk.facts.slice(0, i), fact)
        ).length
        assert.strictEqual(begun, ended + (open === null ? 0 : 1))
      }),
      { numRuns: 150 }
    )
  })

  /** Whether a run had begun, and not ended, when this was said of it. */
  const isEndOf = (before: ReadonlyArray<Fact>, fact: Extract<Fact, { readonly type: "ran" }>) =>
    contextOf(before).firing?.runId === fact.run.runId && fact.status !== "skipped"
})
