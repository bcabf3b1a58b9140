/**
 * One thread under test, on the machine alone: tells it commands by short names, keeps its whole
 * journal, and after every command holds all that must hold: T1 to T5, F1, F2 and the journal's own
 * invariants (`test/invariants.ts`). A walk that returns has passed.
 */
import { assert } from "@effect/vitest"
import { type ExecutableActionObject, transition } from "xstate"
import { deliveryIdOf } from "../../actors/thread/tools/derivedIds.ts"
import { threadInspected } from "../../actors/thread/inspected.ts"
import { lostOutcome, runOf } from "../../actors/thread/jobs.ts"
import {
  carryTextOf,
  factRow,
  parseCarry as carryOfText,
  inputOf as inputOfRow,
  inputRow,
  runnableAt
} from "../../actors/thread/replies/rows.ts"
import { derive } from "../../src/domain/ids.ts"
import type { MessageContent, SubmitMode } from "../../src/domain/content.ts"
import type { Failure } from "../../src/domain/failure.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ModelUsage } from "../../src/domain/usage.ts"
import { callChart, hooksChart } from "../../machines/thread/callChart.ts"
import { jobOf } from "../../machines/thread/calls.ts"
import { hasPlace } from "../../machines/thread/callState.ts"
import type {
  Admission,
  Command,
  HookDecided,
  ModelFailed,
  ModelReplied,
  Plan,
  PromptLong,
  RepliedCall,
  SummaryFailed,
  SummaryMade,
  ToolReturned,
  GivenAnswer
} from "../../machines/thread/commands.ts"
import { type Call, knownInput, openWaits, type Turn } from "../../machines/thread/context.ts"
import type { Job } from "../../machines/thread/draft.ts"
import { isAsked, judgingJob } from "../../machines/thread/judging.ts"
import { decide, start, statusOf, type Step } from "../../machines/thread/decide.ts"
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

const callEdges = edgesOf(callChart)
const hookEdges = edgesOf(hooksChart)

export const ann: Principal = { type: "user", id: "ann" }
export const key: Principal = { type: "api_key", id: "key_1" }

export const plan: Plan = {
  profileId: "prof_1",
  profileVersion: 1,
  models: ["m/one", "m/two"],
  maxSteps: 4,
  maxTurnMs: 60_000,
  maxParallelTools: 2
}
export const usage: ModelUsage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, estimatedCost: 0.001 }

const numbers = new Map<string, number>()
const names = new Map<string, string>()
/** The input of that name. It opens the turn of the same name. */
export const inputOf = (name: string) => {
  let number = numbers.get(name)
  if (number === undefined) numbers.set(name, (number = numbers.size + 1))
  const body = `01${String(number).padStart(21, "0")}000`
  names.set(body, name)
  return `inp_${body}`
}
export const turnOf = (name: string) => inputOf(name).replace("inp_", "trn_")
const nameOf = (id: unknown) => names.get(String(id).slice(-26)) ?? String(id)

/** As it is after a way through JSON text. */
const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value))

type Runs = Exclude<RepliedCall["verdict"], { readonly refused: Failure }>
export const call = (name = "tool", verdict: Partial<Runs> = {}): RepliedCall => ({
  providerToolCallId: `p-${name}`,
  name,
  input: { of: name },
  verdict: { rerunnable: false, ...verdict }
})
/** A call that a client executes. */
export const clientCall = (name = "ask", timeoutMs = 1_000, verdict: Partial<Runs> = {}) =>
  call(name, { toolsetId: "tset_1", client: { timeoutMs }, ...verdict })
/** A call that a role refuses. */
export const refusedCall = (name = "rm"): RepliedCall => ({
  ...call(name),
  verdict: { refused: { code: "tool_denied", text: "No role allows it." } }
})

/** The hooks that a profile of tests has: which processor stands at which index. */
const hooks = Array.from({ length: 16 }, (_, index) => ({
  hookId: `hook_${index}`,
  processor: (["url", "agent", "client"] as const)[index % 3] ?? "url"
}))
/** What a hook says beside its decision. */
type Decides = Partial<Omit<Extract<HookDecided, { readonly decision: "ask" }>, "decision">>

type Asking = Extract<Job, { readonly type: "askHook" }>["params"]
/**
 * What a decision has in common with its question, the id among it: two questions of one id would be told apart by
 * nobody.
 */
const askedOf = ({ data, ...asked }: Asking) => {
  const about = { ...asked, point: data.point, ...("toolCallId" in data ? { toolCallId: data.toolCallId } : {}) }
  return { ...about, deliveryId: deliveryIdOf(about) }
}

/** The command is this job's outcome, whatever it says. */
const answers = (command: Command, job: Job, { context: { turn } }: Snapshot) => {
  switch (job.type) {
    case "summarise":
      return (
        (command.type === "summary.made" || command.type === "summary.failed") &&
        command.turnId === job.params.turnId &&
        command.step === job.params.step &&
        command.round === job.params.round
      )
    case "sample":
      return (
        (command.type === "model.replied" || command.type === "model.failed" || command.type === "prompt.long") &&
        command.turnId === job.params.turnId &&
        command.step === job.params.step &&
        command.attempt === job.params.attempt &&
        command.modelId === turn?.plan.models[job.params.target]
      )
    case "askHook":
      return (
        command.type === "hook.decided" &&
        turn !== null &&
        isAsked(turn, command) &&
        command.index === job.params.index &&
        command.point === job.params.data.point &&
        command.toolCallId === ("toolCallId" in job.params.data ? job.params.data.toolCallId : undefined)
      )
    case "runTool":
      return command.type === "tool.returned" && command.toolCallId === job.params.toolCallId
    case "abandon":
      return false
  }
}

/** `decide` brings a scope of its own to the chart: XState's `transition` must come to the same. */
const asXState = (before: Snapshot, command: Command, { facts, jobs, next }: Step) => {
  const [after, found] = transition(chart, before, command)
  const actions: ReadonlyArray<ExecutableActionObject> = found
  assert.deepStrictEqual(plainSnapshot(next), plainSnapshot(after))
  assert.strictEqual(facts.length + jobs.length, actions.length)
  assert.deepStrictEqual(
    jobs.map(({ params }) => params),
    actions.flatMap(({ params, type }) => (type === "xstate.emit" ? [] : [params]))
  )
}

export class Walk {
  snapshot: Snapshot = start()
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
  readonly refusals = new Map<string, Failure>()
  /** Hooks of before_turn_start that match every message. */
  openings: ReadonlyArray<number> = []
  /** Names of the jobs that a host would have under way. */
  readonly performing = new Set<string>()
  at = 1_000_000
  plan: Plan

  constructor(plan_: Plan = plan) {
    this.plan = plan_
  }

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

  get context() {
    return this.snapshot.context
  }
  get status() {
    return statusOf(this.snapshot)
  }
  get turn(): Turn {
    if (this.context.turn === null) throw new Error("no turn runs")
    return this.context.turn
  }
  /** Names of the waiting inputs. */
  get waiting() {
    return this.context.pending.map(({ inputId }) => nameOf(inputId))
  }
  /** The turn that outcomes name: at rest, the last one. */
  get addressed(): Pick<Turn, "turnId" | "step" | "attempt" | "target" | "plan"> {
    const { carry, turn } = this.context
    return turn ?? { turnId: carry.last?.turnId ?? turnOf("none"), step: 1, attempt: 1, target: 0, plan: this.plan }
  }
  call(place = 0): Call {
    const one = this.turn.calls[place]
    if (one === undefined) throw new Error(`no call ${place}`)
    return one
  }

  /** Jobs of the last command, as `sample 1.1 m/one`, `runTool read`, `abandon A`. */
  get jobs() {
    return (this.steps.at(-1)?.jobs ?? []).map(({ params, type }) =>
      type === "sample"
        ? `sample ${params.step}.${params.attempt} ${params.modelId}`
        : type === "runTool"
          ? `runTool ${params.name}`
          : type === "askHook"
            ? `askHook ${params.index} ${params.data.point}`
            : type === "summarise"
              ? `summarise ${params.round} ${params.modelId}`
              : `abandon ${nameOf(params.turnId)}`
    )
  }

  /** The public log: user(A) assistant(A) user(S, in A) turn_completed(A). */
  get text() {
    return this.log
      .filter(isPublic)
      .map((fact) => {
        const turn = nameOf(fact.turnId)
        switch (fact.type) {
          case "user_message": {
            const input = nameOf(fact.event.inputId)
            return input === turn ? `user(${turn})` : `user(${input}, in ${turn})`
          }
          case "assistant_message":
            return `assistant(${turn})`
          case "tool_result":
            return fact.event.failureCode === undefined
              ? `result(${turn})`
              : `result(${turn}: ${fact.event.failureCode})`
          case "wait_resolved":
            return `wait_resolved(${turn}: ${fact.event.waitResult.outcome})`
          case "hook_decision":
            return `hook(${turn}: ${fact.event.hook.index} ${fact.event.hook.decision})`
          case "turn_failed":
            return `turn_failed(${turn}: ${fact.event.failureCode})`
          default:
            return `${fact.type.replace("tool_intent", "intent")}(${turn})`
        }
      })
      .join(" ")
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

  /** How every input that might be admitted now would run. */
  admissions(...more: ReadonlyArray<string>): Readonly<Record<string, Admission>> {
    const hooks = this.openings.length === 0 ? {} : { opening: this.openings, joining: this.openings }
    return Object.fromEntries(
      [...this.context.pending.map(({ inputId }) => inputId), ...more].map((inputId) => {
        const refused = this.refusals.get(inputId)
        return [inputId, refused === undefined ? { plan: this.plan, ...hooks } : { refused }]
      })
    )
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

  /** How the job may come out, as the host would tell it. */
  private outcomeOf(job: Job): Command {
    const { at } = this
    const admissions = this.admissions()
    switch (job.type) {
      case "sample": {
        const { attempt, modelId, step, turnId } = job.params
        return this.failure({ turnId, step, attempt, modelId })
      }
      case "summarise": {
        const { turnId, step, round } = job.params
        return this.summary({ turnId, step, round })
      }
      case "askHook":
        return {
          type: "hook.decided",
          at,
          admissions,
          ...askedOf(job.params),
          hookId: "hook_x",
          processor: "url",
          latencyMs: 1,
          decision: "allow"
        }
      case "runTool":
        return job.params.rerunnable
          ? {
              type: "tool.returned",
              at,
              admissions,
              turnId: job.params.turnId,
              toolCallId: job.params.toolCallId,
              durationMs: 1,
              output: 1
            }
          : { ...lostOutcome(job), at, admissions }
      case "abandon":
        return assert.fail("nothing to perform")
    }
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

  submission(
    name: string,
    mode: SubmitMode = "queue",
    more: {
      readonly content?: MessageContent
      readonly model?: string
      readonly retryOf?: string
      readonly expectedTurnId?: string
      readonly hops?: number
    } = {}
  ): Command {
    const { expectedTurnId, ...rest } = more
    const inputId = inputOf(name)
    return {
      type: "submit",
      at: this.at,
      admissions: this.admissions(inputId),
      input: { inputId, content: [{ type: "text", text: name }], mode, principal: ann, ...rest },
      ...(expectedTurnId === undefined ? {} : { expectedTurnId })
    }
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
  promotion(name: string, mode: "steer" | "interrupt", expectedTurnId?: string): Command {
    return {
      type: "promote",
      at: this.at,
      admissions: this.admissions(inputOf(name)),
      inputId: inputOf(name),
      mode,
      principal: key,
      ...(expectedTurnId === undefined ? {} : { expectedTurnId })
    }
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

  /** A response to what is being sampled now, or to what `stale` says. */
  response(
    text: string,
    calls: ReadonlyArray<RepliedCall> = [],
    stale: Partial<Pick<ModelReplied, "turnId" | "step" | "attempt" | "hooks" | "finishReason">> = {}
  ): ModelReplied {
    const { attempt, plan, step, target, turnId } = this.addressed
    return {
      type: "model.replied",
      at: this.at,
      admissions: this.admissions(),
      turnId,
      step,
      attempt,
      text,
      calls,
      usage,
      modelId: plan.models[target] ?? "",
      ...stale
    }
  }
  reply(text = "done", ...calls: ReadonlyArray<RepliedCall>) {
    return this.do(this.response(text, calls))
  }
  failure(more: Partial<ModelFailed> = {}): ModelFailed {
    const { attempt, plan, step, target, turnId } = this.addressed
    return {
      type: "model.failed",
      at: this.at,
      admissions: this.admissions(),
      turnId,
      step,
      attempt,
      modelId: plan.models[target] ?? "",
      code: "model_error",
      text: "no",
      transient: false,
      unavailable: false,
      jitter: 0.5,
      ...more
    }
  }
  fail(more: Partial<ModelFailed> = {}) {
    return this.do(this.failure(more))
  }
  /** The prompt is too long, up to the event before the turn's newest message. */
  tooLong(more: Partial<PromptLong> = {}): PromptLong {
    const { attempt, plan, step, target, turnId } = this.addressed
    const { turn } = this.context
    const builds = turn?.rounds?.step === turn?.step ? (turn?.rounds?.builds ?? 0) : 0
    return {
      type: "prompt.long",
      at: this.at,
      admissions: this.admissions(),
      turnId,
      step,
      attempt,
      modelId: plan.models[target] ?? "",
      round: `build:${builds}`,
      throughSeq: Math.max(0, (turn?.repliesTo ?? 1) - 1),
      pos: Math.max(0, (turn?.openedPos ?? 1) - 1),
      summariser: plan.summariser ?? plan.models[target] ?? "",
      ...more
    }
  }
  /** A round of compaction begins. */
  compacts(more: Partial<PromptLong> = {}) {
    return this.do(this.tooLong(more))
  }
  private round() {
    const { turn } = this.context
    return {
      at: this.at,
      admissions: this.admissions(),
      turnId: this.addressed.turnId,
      step: this.addressed.step,
      round: turn?.round?.name ?? ("build:0" as const),
      modelId: turn?.round?.modelId ?? "m/one",
      usage,
      timing: { durationMs: 5 }
    }
  }
  summary(more: Partial<SummaryMade> = {}): SummaryMade {
    return { type: "summary.made", ...this.round(), summary: "What was said.", messages: [], ...more }
  }
  noSummary(more: Partial<SummaryFailed> = {}): SummaryFailed {
    return { type: "summary.failed", ...this.round(), code: "model_error", text: "no", ...more }
  }
  summarises(more: Partial<SummaryMade> = {}) {
    return this.do(this.summary(more))
  }
  failsSummary(more: Partial<SummaryFailed> = {}) {
    return this.do(this.noSummary(more))
  }
  returned(toolCallId: string, failure?: Failure, hooks?: ReadonlyArray<number>): ToolReturned {
    return {
      type: "tool.returned",
      at: this.at,
      admissions: this.admissions(),
      turnId: this.addressed.turnId,
      toolCallId,
      durationMs: 3,
      ...(failure === undefined ? { output: { ok: true } } : { failure }),
      ...(hooks === undefined ? {} : { hooks })
    }
  }
  /** The call at that place of the open ones returns. */
  returns(place = 0, failure?: Failure, hooks?: ReadonlyArray<number>) {
    return this.do(this.returned(this.call(place).toolCallId, failure, hooks))
  }
  /** The hooks that are being asked now. */
  get asked(): ReadonlyArray<Asking> {
    const { turn } = this.context
    if (turn === null) return []
    return [judgingJob(turn), ...turn.calls.filter(hasPlace).map((call) => jobOf(turn, call))].flatMap((job) =>
      job?.type === "askHook" ? [job.params] : []
    )
  }
  decision(
    decision: HookDecided["decision"],
    { ask = { target: "person", timeoutMs: 1_000, onTimeout: "deny" }, ...more }: Decides = {},
    place = 0
  ): HookDecided {
    const asked: Asking = this.asked[place] ?? {
      turnId: this.addressed.turnId,
      step: this.addressed.step,
      index: 0,
      data: { point: "before_tool_call", toolCallId: "call_never", toolName: "none", toolInput: null }
    }
    return {
      type: "hook.decided",
      at: this.at,
      admissions: this.admissions(),
      ...askedOf(asked),
      ...(hooks[asked.index] ?? { hookId: "hook_none", processor: "url" }),
      latencyMs: 7,
      ...(decision === "ask" ? { decision, ask } : { decision }),
      ...more
    }
  }
  /** The first hook that is asked decides. */
  decides(decision: HookDecided["decision"], more: Decides = {}) {
    return this.do(this.decision(decision, more))
  }
  answering(
    waitId: string,
    answer: GivenAnswer = { type: "tool_result", output: { answer: 42 } },
    hooks?: ReadonlyArray<number>
  ): Command {
    return {
      type: "answer",
      at: this.at,
      admissions: this.admissions(),
      waitId,
      principal: key,
      answer,
      ...(hooks === undefined ? {} : { hooks })
    }
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
