/**
 * One thread under test, on the machine alone: tells it commands (WalkCommands.ts), keeps its whole journal, and after
 * every command holds all that must hold: T1 to T5, F1, F2 and the journal's own invariants (`test/invariants.ts`). A
 * walk that returns has passed.
 */
import { assert } from "@effect/vitest"
import { threadInspected } from "../../actors/thread/inspected.ts"
import { runOf } from "../../actors/thread/jobs.ts"
import {
  carryTextOf,
  factRow,
  parseCarry as carryOfText,
  inputOf as inputOfRow,
  inputRow,
  runnableAt
} from "../../actors/thread/replies/rows.ts"
import { derive } from "../../src/domain/ids.ts"
import type { SubmitMode } from "../../src/domain/content.ts"
import type { Failure } from "../../src/domain/failure.ts"
import type { Principal } from "../../src/domain/principal.ts"
import { callChart, hooksChart } from "../../machines/thread/callChart.ts"
import { hasPlace } from "../../machines/thread/callState.ts"
import type {
  Command,
  HookDecided,
  ModelFailed,
  PromptLong,
  RepliedCall,
  SummaryFailed,
  SummaryMade,
  GivenAnswer
} from "../../machines/thread/commands.ts"
import { knownInput, openWaits } from "../../machines/thread/context.ts"
import { decide, statusOf, type Step } from "../../machines/thread/decide.ts"
import { type Fact, isPublic } from "../../machines/thread/facts.ts"
import { causes } from "../../machines/thread/inspected.ts"
import type { WrittenFact } from "../../machines/inspected.ts"
import { foldCarry, fold, plainSnapshot } from "../../machines/thread/fold.ts"
import { refuse, type Refusal } from "../../machines/thread/refuse.ts"
import { resume } from "../../machines/thread/resume.ts"
import { chart, type Snapshot } from "../../machines/thread/chart.ts"
import { type Recorded, openTurns, unaccounted, violations } from "../invariants.ts"
import { callSteps, edgesOf, hookSteps } from "./callSteps.ts"
import { checkStep } from "./stepChecks.ts"
import { answers, asXState } from "./walkChecks.ts"
import { type Decides, inputOf, key, nameOf, WalkCommands } from "./WalkCommands.ts"
import { factText, jobText } from "./walkText.ts"

const callEdges = edgesOf(callChart)
const hookEdges = edgesOf(hooksChart)

/** As it is after a way through JSON text. */
const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value))

export class Walk extends WalkCommands {
  readonly log: Array<Fact> = []
  /** Of each fact in it: the code of the command whose first fact it is. */
  readonly causes: Array<number | null> = []
  /** The steps of all commands that were not refused. */
  readonly steps: Array<Step> = []
  readonly accepted: Array<{ readonly inputId: string; readonly mode: SubmitMode }> = []
  readonly removed = new Set<string>()
  readonly promoted = new Set<string>()
  /** The turn that each steer was sent to. */
  readonly joins = new Map<string, string>()
  /** Names of the jobs that a host would have under way. */
  readonly performing = new Set<string>()

  /** Another walk that has come the same way. */
  fork(): Walk {
    const walk = new Walk(this.plan)
    walk.snapshot = this.snapshot
    walk.at = this.at
    walk.openings = this.openings
    walk.log.push(...this.log)
    walk.causes.push(...this.causes)
    walk.steps.push(...this.steps)
    walk.accepted.push(...this.accepted)
    for (const name of this.performing) walk.performing.add(name)
    for (const inputId of this.removed) walk.removed.add(inputId)
    for (const inputId of this.promoted) walk.promoted.add(inputId)
    for (const [inputId, turnId] of this.joins) walk.joins.set(inputId, turnId)
    for (const [inputId, why] of this.refusals) walk.refusals.set(inputId, why)
    return walk
  }
  get status() {
    return statusOf(this.snapshot)
  }
  /** Names of the waiting inputs. */
  get waiting() {
    return this.context.pending.map(({ inputId }) => nameOf(inputId))
  }

  /** Jobs of the last command, as `sample 1.1 m/one`, `runTool read`, `abandon A`. */
  get jobs() {
    return (this.steps.at(-1)?.jobs ?? []).map(jobText)
  }

  /** The public log: user(A) assistant(A) user(S, in A) turn_completed(A). */
  get text() {
    return this.log.filter(isPublic).map(factText).join(" ")
  }

  get recorded(): ReadonlyArray<Recorded> {
    let seq = 0
    return this.log.map((fact, i) => ({
      pos: i + 1,
      seq: isPublic(fact) ? ++seq : null,
      type: fact.type,
      turn: fact.turnId,
      n: fact.n,
      public: isPublic(fact),
      at: fact.at,
      event: { ...fact.event }
    }))
  }

  /** The log as the journal holds it. */
  get written(): ReadonlyArray<WrittenFact> {
    let seq = 0
    return this.log.map((fact, i) => {
      const row = factRow(fact)
      return { ...row, pos: i + 1, seq: row.public ? ++seq : null, cause: this.causes[i] ?? null }
    })
  }

  /** Asks for a refusal first, as an actor does; then decides and checks everything. */
  tell(command: Command): Refusal | undefined {
    const refusal = refuse(this.snapshot, command)
    if (refusal !== undefined) return refusal
    const before = this.snapshot
    const step = decide(before, command)
    asXState(before, command, step)
    this.keepBooks(command, before)
    this.keepJobs(command, before, step)
    this.snapshot = step.next
    this.steps.push(step)
    this.log.push(...step.facts)
    this.causes.push(...step.facts.map((_, i) => (i === 0 ? causes[command.type] : null)))
    checkStep({
      chart,
      inspected: threadInspected,
      before,
      next: step.next,
      command,
      log: this.written,
      written: step.facts.length
    })
    this.check()
    this.checkTurn(before, step.facts)
    for (const taken of callSteps(before.context, step.facts)) assert.include(callEdges, taken)
    for (const taken of hookSteps(before.context, step.facts)) assert.include(hookEdges, taken)
    return undefined
  }

  /** What a client would remember of a command that was accepted. */
  private keepBooks(command: Command, { context }: Snapshot) {
    const { pending, turn } = context
    if (command.type === "submit" && knownInput(context, command.input.inputId) !== undefined) return
    const steers = (inputId: string) => turn !== null && this.joins.set(inputId, turn.turnId)
    switch (command.type) {
      case "submit":
        this.accepted.push(command.input)
        if (command.input.mode === "steer") steers(command.input.inputId)
        break
      case "promote":
        this.promoted.add(command.inputId)
        if (command.mode === "steer") steers(command.inputId)
        break
      case "remove":
        this.removed.add(command.inputId)
        break
      case "cancel":
        if (command.clearQueue) for (const { inputId } of pending) this.removed.add(inputId)
    }
  }

  /** What a host has under way: started, and neither answered nor stopped. */
  private keepJobs(command: Command, before: Snapshot, { jobs }: Step) {
    for (const job of resume(before)) {
      const answered = runOf(job)
      if ("start" in answered && answers(command, job, before)) this.performing.delete(answered.start)
    }
    for (const job of jobs) {
      const asked = runOf(job)
      if ("start" in asked) {
        assert.isFalse(this.performing.has(asked.start), `${asked.start} is under way already`)
        this.performing.add(asked.start)
      } else for (const name of this.performing) if (name.startsWith(asked.stop)) this.performing.delete(name)
    }
  }

  /** What the state implies is what is under way, each by the name that it was started with, and its outcome counts. */
  private checkJobs(folded: Snapshot) {
    const names = resume(folded).map((job) => {
      const { start } = { start: "", ...runOf(job) }
      assert.isTrue(start.startsWith(`${job.params.turnId}/`))
      assert.notStrictEqual(decide(folded, this.outcomeOf(job)).next, folded, `the outcome of ${start} is stale`)
      return start
    })
    assert.deepStrictEqual(names.toSorted(), [...this.performing].toSorted())
    assert.strictEqual(new Set(names).size, names.length)
  }

  /** T2: the queue's turn comes when no steer waits that came too late. */
  private checkTurn({ context: { pending } }: Snapshot, facts: ReadonlyArray<Fact>) {
    const opened = facts.findLast(
      (fact) => fact.type === "user_message" && fact.turnId.slice(-26) === fact.event.inputId.slice(-26)
    )
    const input = pending.find(
      ({ inputId }) =>
        opened?.type === "user_message" && opened.event.inputId === inputId && opened.event.submitMode === "queue"
    )
    if (input !== undefined)
      assert.isTrue(
        this.context.pending.every(({ forTurnId }) => forTurnId === undefined),
        "a late steer goes before the queue"
      )
  }

  /** The command must be accepted. */
  do(command: Command): this {
    assert.isUndefined(this.tell(command))
    return this
  }

  check() {
    const { carry, pending, pos, seq, turn } = this.context
    const log = this.recorded
    assert.deepStrictEqual(violations(log, { roundsAreFound: false }), [])
    assert.deepStrictEqual(
      unaccounted(log, {
        accepted: this.accepted,
        removed: this.removed,
        unordered: this.promoted,
        joins: this.joins,
        pending: pending.map(({ inputId }) => inputId)
      }),
      []
    )
    assert.deepStrictEqual(openTurns(log), turn === null ? [] : [turn.turnId])
    assert.strictEqual(pos, log.length)
    assert.strictEqual(seq, log.filter((fact) => fact.public).length)
    assert.isTrue(
      pending.every(({ ord }, i) => i === 0 || ord > (pending[i - 1]?.ord ?? 0)),
      "the rows of the queue order it"
    )
    // Only a poisoned turn leaves something behind, which is due at once.
    if (turn === null && pending.length > 0) {
      assert.strictEqual(this.status, "failed")
      assert.isAtMost(runnableAt(this.snapshot) ?? Infinity, this.at)
    }
    if (turn !== null) assert.isAtMost(turn.calls.filter(hasPlace).length, turn.plan.maxParallelTools)

    // F2, and F1 from the open turn on and from the whole journal.
    assert.deepStrictEqual(stored(foldCarry(this.log)), stored(carry))
    const since = (turn?.openedPos ?? pos + 1) - 1
    for (const from of new Set([since, 0])) {
      const folded = fold(
        stored({
          carry,
          pending,
          facts: this.log.slice(from),
          pos: from,
          seq: log.slice(0, from).filter((fact) => fact.public).length
        })
      )
      assert.deepStrictEqual(plainSnapshot(folded), plainSnapshot(this.snapshot))
      this.checkJobs(folded)
    }
  }

  /**
   * The thread leaves memory, and what comes back is made of the head's carry, the rows that wait, and the facts since
   * its turn began.
   */
  reload() {
    const { pending, pos, turn } = this.context
    const since = (turn?.openedPos ?? pos + 1) - 1
    this.snapshot = fold({
      carry: carryOfText(carryTextOf(this.context)),
      pending: pending.map(inputRow).map(inputOfRow),
      facts: stored(this.log.slice(since)),
      pos: since,
      seq: this.log.slice(0, since).filter(isPublic).length
    })
  }
  queue(name: string) {
    return this.do(this.submission(name))
  }
  steer(name: string) {
    return this.do(this.submission(name, "steer"))
  }
  interrupt(name: string) {
    return this.do(this.submission(name, "interrupt"))
  }
  cancel(clearQueue = false) {
    return this.do({ type: "cancel", at: this.at, admissions: this.admissions(), principal: key, clearQueue })
  }
  promote(name: string, mode: "steer" | "interrupt") {
    return this.do(this.promotion(name, mode))
  }
  remove(name: string) {
    return this.do({ type: "remove", at: this.at, inputId: inputOf(name) })
  }
  /** `by` is absent of an edit that a node of an earlier version sends. */
  edit(name: string, text: string, by?: Principal) {
    return this.do({
      type: "edit",
      at: this.at,
      inputId: inputOf(name),
      content: [{ type: "text", text }],
      ...(by === undefined ? {} : { principal: by })
    })
  }
  reply(text = "done", ...calls: ReadonlyArray<RepliedCall>) {
    return this.do(this.response(text, calls))
  }
  fail(more: Partial<ModelFailed> = {}) {
    return this.do(this.failure(more))
  }
  /** A round of compaction begins. */
  compacts(more: Partial<PromptLong> = {}) {
    return this.do(this.tooLong(more))
  }
  summarises(more: Partial<SummaryMade> = {}) {
    return this.do(this.summary(more))
  }
  failsSummary(more: Partial<SummaryFailed> = {}) {
    return this.do(this.noSummary(more))
  }
  /** The call at that place of the open ones returns. */
  returns(place = 0, failure?: Failure, hooks?: ReadonlyArray<number>) {
    return this.do(this.returned(this.call(place).toolCallId, failure, hooks))
  }
  /** The first hook that is asked decides. */
  decides(decision: HookDecided["decision"], more: Decides = {}) {
    return this.do(this.decision(decision, more))
  }
  /** The wait at that place of the open ones is answered, as fits it. */
  answer(place = 0, answer?: GivenAnswer, hooks?: ReadonlyArray<number>) {
    const wait = openWaits(this.context.turn)[place]?.wait
    const fitting: GivenAnswer =
      wait?.type === "client_tool"
        ? { type: "tool_result", output: { answer: 42 } }
        : { type: "decision", decision: "allow" }
    return this.do(this.answering(wait?.waitId ?? derive("wait", this.turn.turnId, 0), answer ?? fitting, hooks))
  }
  /** Time goes on, and the thread is told. */
  due(after = 0) {
    this.at += after
    return this.do({ type: "due", at: this.at, admissions: this.admissions() })
  }
  poison() {
    return this.do({ type: "poison", at: this.at })
  }
}

/** A walk whose turn A runs. */
export const running = () => new Walk().queue("A")
