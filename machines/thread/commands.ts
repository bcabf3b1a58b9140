/**
 * What may be asked of a thread: by clients, by the clock, and as the outcome of its own jobs.
 *
 * Ids and times are in the command already. So is what the chart needs and does not hold: how each
 * input that might be admitted now would run, and what stands behind each call of a response.
 */
import type { MessageContent } from "../../src/domain/content.ts"
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
}

/** What the runtime says of an input that might be admitted now. */
export type Admission =
  | { readonly plan: Plan }
  | { readonly refused: Failure }

/** What stands behind a call of a response, looked up before the chart decides. */
export interface Verdict {
  /** Read-only or idempotent: may run again after a crash. */
  readonly rerunnable: boolean
  /** The call is the client's to execute: it parks on a wait. */
  readonly park?: { readonly target: "client"; readonly toolsetId: string; readonly timeoutMs: number }
}

export interface RepliedCall {
  readonly providerToolCallId: string
  readonly name: string
  readonly input: unknown
  readonly verdict: Verdict
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
  readonly input: Omit<Input, "ord" | "queuedAt" | "forTurnId">
  readonly expectedTurnId?: string
}
export interface Edit extends Timed {
  readonly type: "edit"
  readonly inputId: string
  readonly content: MessageContent
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
/** A moment that the thread asked for has come: a deadline, the end of a pause, an expiry. */
export interface Due extends Admitting {
  readonly type: "due"
}
/** The thread was taken over again and again without getting anywhere. */
export interface Poison extends Admitting {
  readonly type: "poison"
}

interface Outcome extends Admitting {
  readonly turnId: string
}
/** Has calls, or a text that is not blank: a response with neither is a `model.failed` that is `empty`. */
export interface ModelReplied extends Outcome {
  readonly type: "model.replied"
  /** Number of the response in the turn, from 1. */
  readonly step: number
  readonly attempt: number
  readonly modelId: string
  readonly text: string
  readonly calls: ReadonlyArray<RepliedCall>
  readonly usage: ModelUsage
  readonly parts?: unknown
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
  /** A piece of the answer was shown already: no second attempt. */
  readonly shown: boolean
  /** The response held neither text nor calls. */
  readonly empty?: boolean
  readonly retryAfterMs?: number
  /** In [0, 1): spreads the pauses. */
  readonly jitter: number
}
export interface ToolReturned extends Outcome {
  readonly type: "tool.returned"
  readonly toolCallId: string
  readonly output?: unknown
  readonly failure?: Failure
  readonly durationMs: number
}
export interface Answer extends Admitting {
  readonly type: "answer"
  readonly waitId: string
  readonly principal: Principal
  readonly result: { readonly output: unknown } | { readonly error: { readonly code: string; readonly message: string } }
}

export type Command =
  | Submit | Edit | Remove | Promote | Cancel | Due | Poison | ModelReplied | ModelFailed | ToolReturned | Answer
