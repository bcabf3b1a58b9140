/**
 * What may be asked of a thread: by clients, by the clock, and as the outcome of its own jobs.
 *
 * Ids and times are in the command already. So is what the chart needs and does not hold: how each
 * input that might be admitted now would run, what stands behind each call of a response, and which
 * hooks match what they have to judge.
 */
import type { Beside } from "../../src/domain/beside.ts"
import type { MessageContent } from "../../src/domain/content.ts"
import type { FinishReason, HookPoint, HookProcessorType, Timing, ToolReveal } from "../../src/domain/event.ts"
import type { Failure, FailureDetails } from "../../src/domain/failure.ts"
import type { Input } from "../../src/domain/input.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ModelUsage } from "../../src/domain/usage.ts"

/** How a turn runs: fixed when its first input is admitted, and written down with it. */
export interface Plan {
  readonly profileId: string
  readonly profileVersion: number
  /** Exact model ids, tried in order. */
  readonly models: ReadonlyArray<string>
  readonly maxSteps: number
  readonly maxTurnMs: number
  readonly maxParallelTools: number
  /** The catalogues of its tools. */
  readonly catalogues?: ReadonlyArray<{ readonly id: string; readonly version: number }>
  /** The model that summarises where the conversation gets too long; the one that is asked, unless the profile says. */
  readonly summariser?: string
  /** One of its models has a price: what a response costs is booked with it, not at the turn's end. */
  readonly priced?: true
  /** The profile has hooks: a step of the turn may write many events. */
  readonly hooked?: true
}

/**
 * What the runtime says of an input that might be admitted now. `opening` and `joining` are the hooks of
 * before_turn_start that match it: as the message of a turn of its own, or as a steer of the running one.
 */
export type Admission =
  | { readonly plan: Plan; readonly opening?: ReadonlyArray<number>; readonly joining?: ReadonlyArray<number> }
  | { readonly refused: Failure; readonly joining?: ReadonlyArray<number> }

/** What stands behind a call of a response, looked up before the chart decides. */
export type Verdict =
  /** It does not run: this is its result. */
  | { readonly refused: Failure }
  | {
      /** Read-only or idempotent: may run again after a crash. */
      readonly rerunnable: boolean
      readonly toolsetId?: string
      /** The grant that wants a person's word first. */
      readonly approval?: string
      /** Hooks of before_tool_call that match. */
      readonly hooks?: ReadonlyArray<number>
      /** The call is the client's to execute: it parks on a wait. */
      readonly client?: { readonly timeoutMs: number }
    }

export interface RepliedCall {
  readonly providerToolCallId: string
  readonly name: string
  readonly input: unknown
  readonly verdict: Verdict
}

/** A model's response: calls, or a text that is not blank, or both. */
export interface ModelAnswer {
  /** Number of the response in the turn, from 1. */
  readonly step: number
  readonly modelId: string
  readonly text: string
  readonly calls: ReadonlyArray<RepliedCall>
  readonly usage: ModelUsage
  /** The model has cut it. */
  readonly finishReason?: FinishReason
  readonly parts?: unknown
}

/** `build`: before the model is asked; `overflow`: after its provider has found the prompt too long. */
export type RoundName = `build:${number}` | "overflow"

/** What stands in a conversation in the place of its beginning. */
export interface Summary {
  readonly summary: string
  /** Position of the last fact that it covers. */
  readonly pos: number
  /** Messages of the running turn among what it covers: they stand again behind it, as they were. */
  readonly messages: ReadonlyArray<{
    /** Number of its event in the turn. */
    readonly n: number
    readonly content: MessageContent
    /** Responses with calls that followed it, and how many calls they had, as far as summaries cover them. */
    readonly replaced: { readonly responses: number; readonly calls: number }
  }>
}
export type WaitTarget = "person" | "client" | "url"
export type OnTimeout = "deny" | "allow" | "fail"

/** The hook behind a wait. */
export interface HookRef {
  readonly hookId: string
  readonly index: number
  readonly point: HookPoint
  readonly processor: HookProcessorType
  readonly deliveryId: string
}

/** What a hook or a person puts in the place of what was judged: the field that fits the point. */
export interface Rewrite {
  readonly toolInput?: unknown
  readonly toolOutput?: unknown
  readonly content?: MessageContent
}

interface Timed {
  /** Milliseconds by the journal's clock. */
  readonly at: number
}

/** May end a turn or begin one: says for every waiting input how it would run. */
interface Admitting extends Timed {
  readonly admissions: Readonly<Record<string, Admission>>
}

export interface Submit extends Admitting {
  readonly type: "submit"
  /** queuedAt: of one that was accepted before it reached the thread. */
  readonly input: Omit<Input, "ord" | "queuedAt" | "forTurnId"> & Partial<Pick<Input, "queuedAt">>
  readonly expectedTurnId?: string
  /** Its sender has been told that it waits: it is not refused any more. */
  readonly acknowledged?: true
}
export interface Edit extends Timed {
  readonly type: "edit"
  readonly inputId: string
  readonly content: MessageContent
  /** Who edits it: the words are theirs from now on. A node of an earlier version does not say. */
  readonly principal?: Principal
}
export interface Remove extends Timed {
  readonly type: "remove"
  readonly inputId: string
}
export interface Promote extends Admitting {
  readonly type: "promote"
  readonly inputId: string
  readonly mode: "steer" | "interrupt"
  readonly principal: Principal
  readonly expectedTurnId?: string
}
export interface Cancel extends Admitting {
  readonly type: "cancel"
  readonly principal: Principal
  readonly turnId?: string
  readonly clearQueue: boolean
}

/** A summary is to be made before the next model call. */
export interface Compact extends Timed {
  readonly type: "compact"
}
/** The thread is to take no input any more. */
export interface Archive extends Timed {
  readonly type: "archive"
}

/** What goes on after somebody was asked: roles are asked anew by then, and schemas about what was rewritten. */
interface Releasing {
  /** Calls that a client would execute and that may not go there any more: why, by toolCallId. */
  readonly refused?: Readonly<Record<string, Failure>>
  /** Of a response under judgment: its calls, with what stands behind them now. */
  readonly calls?: ReadonlyArray<RepliedCall>
}

/** A moment that the thread asked for has come: a deadline, the end of a pause, an expiry. */
export interface Due extends Admitting, Releasing {
  readonly type: "due"
  /** Milliseconds of the running time so far in which the turn stood in line: they are not counted. */
  readonly queuedMs?: number
}
/**
 * The thread was taken over again and again without getting anywhere. It ends the turn and does nothing else:
 * whoever comes next admits what waits, so that what breaks there does not keep the turn from ending.
 */
export interface Poison extends Timed {
  readonly type: "poison"
}

interface Outcome extends Admitting {
  readonly turnId: string
}
/** Has calls, or a text that is not blank: a response with neither is a `model.failed` that is `empty`. */
export interface ModelReplied extends Outcome, ModelAnswer {
  readonly type: "model.replied"
  readonly attempt: number
  /** Hooks of after_model_response that match: nobody sees the response before they have answered. */
  readonly hooks?: ReadonlyArray<number>
}
export interface ModelFailed extends Outcome {
  readonly type: "model.failed"
  readonly step: number
  readonly attempt: number
  readonly modelId: string
  readonly code: Failure["code"]
  readonly text: string
  readonly details?: FailureDetails
  readonly transient: boolean
  readonly unavailable: boolean
  /** The response held neither text nor calls. */
  readonly empty?: boolean
  /** Of an empty one: the model stopped before it said anything. */
  readonly finishReason?: FinishReason
  /** As far as the provider reported what the attempt used. */
  readonly usage?: ModelUsage
  /** The provider had begun to answer. */
  readonly begun?: true
  readonly retryAfterMs?: number
  /** In [0, 1): spreads the pauses. */
  readonly jitter: number
}
/** The prompt is too long for the model: it was not asked, or its provider has said so. */
export interface PromptLong extends Outcome {
  readonly type: "prompt.long"
  readonly step: number
  readonly attempt: number
  readonly modelId: string
  /** Which round follows, up to where, and who summarises. */
  readonly round: RoundName
  readonly throughSeq: number
  readonly pos: number
  readonly summariser: string
}
interface Summarised extends Outcome {
  readonly step: number
  readonly round: RoundName
  readonly modelId: string
  /** As far as it was asked for. */
  readonly usage?: ModelUsage
  readonly timing?: Timing
}
export interface SummaryMade extends Summarised {
  readonly type: "summary.made"
  readonly summary: string
  readonly messages: Summary["messages"]
}
export interface SummaryFailed extends Summarised {
  readonly type: "summary.failed"
  /** The provider had begun to answer. */
  readonly begun?: true
  readonly code: Failure["code"]
  readonly text: string
  readonly details?: FailureDetails
}
export interface ToolReturned extends Outcome {
  readonly type: "tool.returned"
  readonly toolCallId: string
  readonly output?: unknown
  readonly beside?: Beside
  readonly failure?: Failure
  readonly durationMs: number
  readonly reveal?: ToolReveal
  /** Of models inside the tool. */
  readonly usage?: ModelUsage
  /** Hooks of after_tool_result that match. */
  readonly hooks?: ReadonlyArray<number>
}
/** What a hook says. An ask says who is asked: without that it would let pass what it means to hold. */
export type Ruling =
  | { readonly decision: "allow" | "deny" | "defer" }
  | {
      readonly decision: "ask"
      readonly ask: { readonly target: WaitTarget; readonly timeoutMs: number; readonly onTimeout: OnTimeout }
    }
interface Ruled extends Outcome, HookRef, Releasing {
  readonly type: "hook.decided"
  readonly step: number
  /** Of before_tool_call and after_tool_result. */
  readonly toolCallId?: string
  /** Of before_turn_start: the number of the message's event. */
  readonly message?: number
  /** Of a call that was rewritten after the hook had decided: which of its questions this answers. */
  readonly round?: number
  readonly latencyMs: number
  readonly reason?: string
  readonly rewrite?: Rewrite
  /** Of a rewrite, also an ask's: the later hooks of the point that match what it has become. */
  readonly hooks?: ReadonlyArray<number>
  /** No answer that counts: this is what the hook's onError says. */
  readonly failed?: true
}
export type HookDecided = Ruled & Ruling
export type GivenAnswer =
  | {
      readonly type: "decision"
      readonly decision: "allow" | "deny"
      readonly reason?: string
      readonly rewrite?: Rewrite
      readonly scope?: "once" | "thread"
    }
  | { readonly type: "tool_result"; readonly output: unknown }
  | { readonly type: "tool_result"; readonly error: { readonly code: string; readonly message: string } }
export interface AnswerWait extends Admitting, Releasing {
  readonly type: "answer"
  readonly waitId: string
  readonly principal: Principal
  readonly answer: GivenAnswer
  /** Of a rewrite: the later hooks that match what it has become. Of a tool's result: those of after_tool_result. */
  readonly hooks?: ReadonlyArray<number>
}

export type Command =
  | Submit
  | Edit
  | Remove
  | Promote
  | Cancel
  | Compact
  | Archive
  | Due
  | Poison
  | ModelReplied
  | ModelFailed
  | PromptLong
  | SummaryMade
  | SummaryFailed
  | ToolReturned
  | HookDecided
  | AnswerWait
