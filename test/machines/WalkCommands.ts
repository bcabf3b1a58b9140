/**
 * What may be told to a thread under test: commands by short names, as of the snapshot where it stands.
 */
import { assert } from "@effect/vitest"
import { deliveryIdOf } from "../../actors/thread/tools/derivedIds.ts"
import { lostOutcome } from "../../actors/thread/jobs.ts"
import type { MessageContent, SubmitMode } from "../../src/domain/content.ts"
import type { Failure } from "../../src/domain/failure.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ModelUsage } from "../../src/domain/usage.ts"
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
import type { Call, Turn } from "../../machines/thread/context.ts"
import type { Job } from "../../machines/thread/draft.ts"
import { judgingJob } from "../../machines/thread/judging.ts"
import { start } from "../../machines/thread/decide.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"

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
/** The name of the input, or of the turn that it opens. */
export const nameOf = (id: unknown) => names.get(String(id).slice(-26)) ?? String(id)

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
export type Decides = Partial<Omit<Extract<HookDecided, { readonly decision: "ask" }>, "decision">>

type Asking = Extract<Job, { readonly type: "askHook" }>["params"]
/**
 * What a decision has in common with its question, the id among it: two questions of one id would be told apart by
 * nobody.
 */
const askedOf = ({ data, ...asked }: Asking) => {
  const about = { ...asked, point: data.point, ...("toolCallId" in data ? { toolCallId: data.toolCallId } : {}) }
  return { ...about, deliveryId: deliveryIdOf(about) }
}

export class WalkCommands {
  snapshot: Snapshot = start()
  readonly refusals = new Map<string, Failure>()
  /** Hooks of before_turn_start that match every message. */
  openings: ReadonlyArray<number> = []
  at = 1_000_000
  plan: Plan

  constructor(plan_: Plan = plan) {
    this.plan = plan_
  }

  get context() {
    return this.snapshot.context
  }
  get turn(): Turn {
    if (this.context.turn === null) throw new Error("no turn runs")
    return this.context.turn
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

  /** How the job may come out, as the host would tell it. */
  outcomeOf(job: Job): Command {
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
  protected round() {
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
}
