/**
 * What may happen to a thread. Public facts are its ThreadEvents, field for field; `detail` is what
 * a fold needs and clients do not see; the private facts are those that the public log has no place for.
 */
import type { MessageContent, SubmitMode } from "../../src/domain/content.ts"
import type { FailureDetails } from "../../src/domain/failure.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ModelUsage } from "../../src/domain/usage.ts"
import type { Timing } from "../../src/domain/event.ts"
import type { Plan } from "./commands.ts"

interface Common {
  readonly turnId: string
  /** Number of the event within its turn: turnId and n make the eventId. */
  readonly n: number
  readonly at: number
}

/** On the first fact of a response. */
export interface ResponseDetail {
  readonly step: number
  readonly usage: ModelUsage
  /** JSON that must go back to the provider verbatim. */
  readonly parts?: unknown
}

export interface UserMessage extends Common {
  readonly type: "user_message"
  readonly event: {
    readonly content: MessageContent
    readonly principal: Principal
    readonly submitMode: SubmitMode
    readonly inputId: string
  }
  /** Only on the message that opens a turn. `model` is the selector that came with the input. */
  readonly detail?: { readonly plan: Plan; readonly model?: string; readonly retryOf?: string }
}
export interface AssistantMessage extends Common {
  readonly type: "assistant_message"
  readonly event: {
    readonly content: MessageContent
    readonly modelId: string
    readonly inReplyToSeq: number
    readonly truncated?: true
  }
  readonly detail: ResponseDetail
}
export interface ToolIntent extends Common {
  readonly type: "tool_intent"
  readonly event: {
    readonly toolName: string
    readonly toolInput: unknown
    readonly toolCallId: string
    readonly providerToolCallId: string
    readonly modelId: string
  }
  readonly detail: { readonly rerunnable: boolean; readonly started: boolean; readonly response?: ResponseDetail }
}
export interface ToolResult extends Common {
  readonly type: "tool_result"
  readonly event: {
    readonly toolCallId: string
    readonly toolOutput: unknown
    readonly timing?: Timing
    readonly failureCode?: string
    readonly failureText?: string
  }
}
export interface WaitCreated extends Common {
  readonly type: "wait_created"
  readonly event: {
    readonly waitId: string
    readonly toolCallId: string
    readonly toolName: string
    readonly toolsetId: string
    readonly usage: ModelUsage
  }
  readonly detail: { readonly type: "client_tool"; readonly target: "client"; readonly expiresAt: number }
}
export interface WaitResolved extends Common {
  readonly type: "wait_resolved"
  readonly event: {
    readonly waitId: string
    readonly toolCallId: string
    readonly toolsetId: string
    readonly waitResult: {
      readonly outcome: "result" | "error" | "expired" | "cancelled"
      readonly by?: Principal
      readonly output?: unknown
    }
  }
}
export interface TurnCompleted extends Common {
  readonly type: "turn_completed"
  readonly event: { readonly usage: ModelUsage; readonly principal: Principal }
}
export interface TurnCancelled extends Common {
  readonly type: "turn_cancelled"
  readonly event: { readonly usage: ModelUsage; readonly principal: Principal }
}
export interface TurnFailed extends Common {
  readonly type: "turn_failed"
  readonly event: {
    readonly failureCode: string
    readonly failureText: string
    readonly failureDetails?: FailureDetails
    readonly usage: ModelUsage
  }
}
/** Private: a model call came to nothing and another follows. */
export interface AttemptFailed extends Common {
  readonly type: "attempt_failed"
  readonly event: Record<string, never>
  readonly detail: {
    readonly step: number
    readonly code: string
    readonly text: string
    /** What is tried next: index into the plan's models, number of the attempt on it, and not before when. */
    readonly target: number
    readonly attempt: number
    readonly retryAt?: number
  }
}
/** Private: the pause after a failed attempt is over, and the next one begins. */
export interface AttemptStarted extends Common {
  readonly type: "attempt_started"
  readonly event: Record<string, never>
  readonly detail: { readonly step: number; readonly attempt: number }
}
/** Private: a call that had to wait for its turn runs now. */
export interface CallStarted extends Common {
  readonly type: "call_started"
  readonly event: Record<string, never>
  readonly detail: { readonly toolCallId: string }
}

export type Fact =
  | UserMessage | AssistantMessage | ToolIntent | ToolResult | WaitCreated | WaitResolved
  | TurnCompleted | TurnCancelled | TurnFailed | AttemptFailed | AttemptStarted | CallStarted

const privateTypes: ReadonlySet<Fact["type"]> = new Set(["attempt_failed", "attempt_started", "call_started"])
export const isPublic = (fact: Fact) => !privateTypes.has(fact.type)

/** The eventId of a response's text is known before it exists, for the deltas that announce it. */
export const messageNumber = (step: number) => 16_384 + step
