/**
 * What may happen to a thread. Public facts are its ThreadEvents, field for field; `detail` is what
 * a fold needs and clients do not see; the public log has no place for the private facts.
 */
import type { MessageContent, SubmitMode } from "../../src/domain/content.ts"
import type { FinishReason, HookDecisionEvent, Timing, ToolReveal } from "../../src/domain/event.ts"
import type { FailureDetails } from "../../src/domain/failure.ts"
import type { JsonObject } from "../../src/domain/jsonValue.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ModelUsage } from "../../src/domain/usage.ts"
import type { Plan, ModelAnswer, Rewrite, RoundName, Summary } from "./commands.ts"
import type { Approval, OpenWait, Returned } from "./context.ts"

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
  /** The model has cut it. */
  readonly finishReason?: FinishReason
  /** JSON that must go back to the provider verbatim. */
  readonly parts?: unknown
}

export interface UserMessage extends Common {
  readonly type: "user_message"
  readonly event: {
    readonly content: MessageContent
    readonly principal: Principal
    /** Who sent it first, where somebody else has edited it since. */
    readonly submittedBy?: Principal
    readonly submitMode: SubmitMode
    readonly inputId: string
  }
  readonly detail?: {
    /** On the message that opens a turn. */
    readonly plan?: Plan
    /** The selector that came with the input. */
    readonly model?: string
    readonly retryOf?: string
    /** Where it is not the moment that the admission lets one tell (src/domain/input.ts). */
    readonly queuedAt?: number
    /** How many turns lead to it by way of feeds (src/domain/input.ts). */
    readonly hops?: number
    /** Hooks that have to judge it first. */
    readonly hooks?: ReadonlyArray<number>
  }
}
export interface AssistantMessage extends Common {
  readonly type: "assistant_message"
  readonly event: {
    readonly content: MessageContent
    readonly modelId: string
    readonly inReplyToSeq: number
    readonly truncated?: true
    readonly finishReason?: FinishReason
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
  readonly detail: {
    readonly rerunnable: boolean
    /** Its first job, a hook or the tool itself, runs from now on. */
    readonly started: boolean
    readonly toolsetId?: string
    readonly approval?: string
    readonly client?: { readonly timeoutMs: number }
    readonly hooks?: ReadonlyArray<number>
    readonly response?: ResponseDetail
  }
}
export interface ToolResult extends Common {
  readonly type: "tool_result"
  readonly event: {
    readonly toolCallId: string
    readonly toolOutput: unknown
    readonly toolContent?: ReadonlyArray<JsonObject>
    readonly toolMeta?: JsonObject
    readonly reveal?: ToolReveal
    readonly usage?: ModelUsage
    readonly timing?: Timing
    readonly failureCode?: string
    readonly failureText?: string
  }
}
export interface HookDecisionFact extends Common {
  readonly type: "hook_decision"
  readonly event: {
    readonly hook: HookDecisionEvent
    readonly toolCallId?: string
    readonly waitId?: string
  }
  readonly detail?: {
    /** Of before_turn_start: the number of the message's event. */
    readonly message?: number
    readonly rewrite?: Rewrite
    readonly hooks?: ReadonlyArray<number>
  }
}
export interface WaitCreated extends Common {
  readonly type: "wait_created"
  readonly event: {
    readonly waitId: string
    readonly toolCallId?: string
    readonly toolName?: string
    readonly toolsetId?: string
    readonly usage: ModelUsage
  }
  readonly detail: Omit<OpenWait, "waitId" | "toolsetId" | "createdAt">
}
export interface WaitResolved extends Common {
  readonly type: "wait_resolved"
  readonly event: {
    readonly waitId: string
    readonly toolCallId?: string
    readonly toolsetId?: string
    readonly waitResult: {
      readonly outcome: "allow" | "deny" | "result" | "error" | "expired" | "cancelled"
      readonly by?: Principal
      readonly reason?: string
      readonly output?: unknown
    }
  }
  /** Only where what waited goes on. */
  readonly detail?: {
    readonly started?: true
    /** Of before_turn_start: the number of the message's event. */
    readonly message?: number
    readonly rewrite?: Rewrite
    readonly hooks?: ReadonlyArray<number>
    readonly approval?: Approval
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
/** What a round of compaction is about: every event up to a seq, in one summary. */
interface CompactionRound {
  readonly throughSeq: number
  /** Which round of a model call it is: `build:0` and so on, or `overflow`. */
  readonly attempt: RoundName
}
/** A summary is asked for, to stand in the place of the log's beginning. */
export interface Compacting extends Common {
  readonly type: "compacting"
  readonly event: { readonly compaction: CompactionRound; readonly modelId: string }
  readonly detail: {
    /** The response that it makes room for. */
    readonly step: number
    /** Position of the last fact that it covers. */
    readonly pos: number
  }
}
/** The round is over. Only one that succeeded has a detail. */
export interface Compacted extends Common {
  readonly type: "compacted"
  readonly event: {
    readonly compaction: CompactionRound & { readonly preview?: string }
    readonly modelId: string
    readonly usage: ModelUsage
    readonly timing?: Timing
    readonly failureCode?: string
    readonly failureText?: string
    readonly failureDetails?: FailureDetails
  }
  readonly detail?: Summary
}
/** What happens to the thread, and to none of its turns. */
interface OfNoTurn {
  readonly turnId: null
  readonly n: 0
  readonly at: number
  readonly event: Record<string, never>
}
/** Private: somebody wants a summary before the next model call, however short the conversation is. */
export interface CompactionWanted extends OfNoTurn {
  readonly type: "compaction_wanted"
}
/** Private: the thread takes no input any more. */
export interface Archived extends OfNoTurn {
  readonly type: "archived"
}
/** Private: a model call came to nothing. Another follows, or, where it has used something, the turn's end. */
export interface AttemptFailed extends Common {
  readonly type: "attempt_failed"
  readonly event: Record<string, never>
  readonly detail: {
    readonly step: number
    readonly code: string
    readonly text: string
    /** What the provider reported of it; a node of an earlier version does not say. */
    readonly usage?: ModelUsage
    /** It held neither text nor calls. */
    readonly empty?: true
    /**
     * What is tried next, if anything is: index into the plan's models, number of the attempt on it, and not before
     * when.
     */
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
/** Private: a call that had to wait for a place goes on now. */
export interface CallStarted extends Common {
  readonly type: "call_started"
  readonly event: Record<string, never>
  readonly detail: { readonly toolCallId: string }
}
/** Private: a response that hooks have to judge before anybody sees it. */
export interface ResponseReceived extends Common {
  readonly type: "response_received"
  readonly event: Record<string, never>
  readonly detail: { readonly reply: ModelAnswer; readonly hooks: ReadonlyArray<number> }
}
/** Private: a response without calls said nothing, or hooks have left nothing of it, so that none is written. */
export interface ResponseEmptied extends Common {
  readonly type: "response_emptied"
  readonly event: Record<string, never>
  readonly detail: ResponseDetail
}
/** Private: what a call returned, before the hooks have seen it. */
export interface ResultReceived extends Common {
  readonly type: "result_received"
  readonly event: Record<string, never>
  readonly detail: {
    readonly toolCallId: string
    readonly returned: Returned
    readonly hooks: ReadonlyArray<number>
    readonly started: boolean
  }
}

export type Fact =
  | UserMessage
  | AssistantMessage
  | ToolIntent
  | ToolResult
  | HookDecisionFact
  | WaitCreated
  | WaitResolved
  | TurnCompleted
  | TurnCancelled
  | TurnFailed
  | Compacting
  | Compacted
  | AttemptFailed
  | AttemptStarted
  | CallStarted
  | ResponseReceived
  | ResponseEmptied
  | ResultReceived
  | CompactionWanted
  | Archived

/** Those of turns. */
export type TurnFact = Exclude<Fact, OfNoTurn>

/** What is known of a type of fact. Lists of types are filters of `factTypes`. */
export interface FactType {
  /** It is an event of the thread: it has a seq, and everybody who may read the thread may read it. */
  readonly public: boolean
  /** What happens at most once: the journal refuses a second one about the same. */
  readonly once?: "admission" | "end" | "result" | "resolution"
  /** A conversation is told of it. */
  readonly inPrompt?: true
  /** The outcome of the turn that it ends. */
  readonly ends?: "completed" | "cancelled" | "failed"
  /** It writes a model's response, with whatever else is written of it. */
  readonly answersModel?: true
  /** A model call was made, or has come back: what was written of a response before belongs to an earlier step. */
  readonly asksModel?: true
  /** It is found across the threads of a workspace. */
  readonly listed?: true
}

export const factTypes: { readonly [Type in Fact["type"]]: FactType } = {
  user_message: { public: true, once: "admission", inPrompt: true },
  assistant_message: { public: true, inPrompt: true, answersModel: true },
  tool_intent: { public: true, inPrompt: true, answersModel: true },
  tool_result: { public: true, once: "result", inPrompt: true },
  hook_decision: { public: true, inPrompt: true, listed: true },
  wait_created: { public: true },
  wait_resolved: { public: true, once: "resolution", inPrompt: true },
  turn_completed: { public: true, once: "end", ends: "completed" },
  turn_cancelled: { public: true, once: "end", ends: "cancelled" },
  turn_failed: { public: true, once: "end", ends: "failed" },
  compacting: { public: true, asksModel: true },
  compacted: { public: true, inPrompt: true },
  attempt_failed: { public: false, asksModel: true },
  attempt_started: { public: false },
  call_started: { public: false },
  response_received: { public: false, asksModel: true },
  response_emptied: { public: false, answersModel: true },
  result_received: { public: false },
  compaction_wanted: { public: false },
  archived: { public: false }
}

const isKnown = (type: string): type is Fact["type"] => Object.hasOwn(factTypes, type)

/** The types of which something holds. */
export const typesOf = (holds: (type: FactType) => boolean): ReadonlyArray<Fact["type"]> =>
  Object.keys(factTypes)
    .filter(isKnown)
    .filter((type) => holds(factTypes[type]))

const ofNewer: FactType = { public: true }

/** What is known of a fact; of one that only a newer version knows, that it is public. */
export const typeOf = ({ type }: { readonly type: string }): FactType => (isKnown(type) ? factTypes[type] : ofNewer)

export const isPublic = (fact: { readonly type: string }) => typeOf(fact).public
