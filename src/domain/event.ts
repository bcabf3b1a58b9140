/**
 * ThreadEvent and EventPage (specification): the public view of a thread's facts.
 *
 * Stored events are never decoded on their way out: the journal keeps the text of an event's own
 * fields, and reading puts the common ones in front (see `journal/eventText.ts`). This schema is
 * what the contract says and what tests hold answers against.
 */
import { Schema } from "effect"
import { MessageContent, SubmitMode } from "./content.ts"
import { ModelImageFormatUnsupportedDetails } from "./failure.ts"
import { limits } from "./limits.ts"
import { Principal } from "./principal.ts"
import { Timestamp } from "./time.ts"
import { ModelUsage } from "./usage.ts"

export const threadEventTypes = [
  "user_message", "assistant_message", "tool_intent", "tool_result", "wait_created", "wait_resolved", "hook_decision",
  "turn_completed", "turn_cancelled", "turn_failed", "compacting", "compacted"
] as const
export const ThreadEventType = Schema.Literals(threadEventTypes)
export type ThreadEventType = typeof ThreadEventType.Type

export const HookPoint = Schema.Literals(["before_turn_start", "before_tool_call", "after_tool_result", "after_model_response"])
export type HookPoint = typeof HookPoint.Type
export const HookProcessorType = Schema.Literals(["url", "agent", "client"])
export type HookProcessorType = typeof HookProcessorType.Type

export const HookDecisionEvent = Schema.Struct({
  hookId: Schema.String,
  index: Schema.Int,
  point: HookPoint,
  processor: HookProcessorType,
  decision: Schema.Literals(["allow", "deny", "ask", "defer"]),
  latencyMs: Schema.Int,
  deliveryId: Schema.optionalKey(Schema.String),
  reason: Schema.optionalKey(Schema.String),
  rewrote: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "HookDecisionEvent" })
export type HookDecisionEvent = typeof HookDecisionEvent.Type

export const CompactionEvent = Schema.Struct({
  throughSeq: Schema.Int,
  attempt: Schema.String,
  preview: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "CompactionEvent" })

export const RevealedModelTool = Schema.Struct({
  name: Schema.String,
  schema: Schema.Unknown,
  description: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "RevealedModelTool" })

export const RevealedTool = Schema.Struct({
  toolsetId: Schema.String,
  namespace: Schema.String,
  name: Schema.String,
  def: Schema.optionalKey(RevealedModelTool)
}).annotate({ identifier: "RevealedTool" })

export const ToolFamily = Schema.Literals([
  "agents", "connections", "thread", "memory", "artifacts", "sites", "web", "schedules", "feeds", "subscriptions", "sandbox"
])

export const ToolReveal = Schema.Struct({
  families: Schema.optionalKey(Schema.Array(ToolFamily).check(Schema.isMaxLength(limits.revealedFamilies))),
  tools: Schema.optionalKey(Schema.Array(RevealedTool).check(Schema.isMaxLength(limits.revealedTools)))
}).annotate({ identifier: "ToolReveal" })
export type ToolReveal = typeof ToolReveal.Type

export const Timing = Schema.Struct({
  durationMs: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  firstTextMs: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))
}).annotate({ identifier: "Timing" })
export type Timing = typeof Timing.Type

export const ThreadEvent = Schema.Struct({
  seq: Schema.Int,
  eventId: Schema.String,
  threadId: Schema.String,
  turnId: Schema.String,
  type: ThreadEventType,
  occurredAt: Timestamp,
  content: Schema.optionalKey(MessageContent),
  principal: Schema.optionalKey(Principal),
  /** Of a message that somebody else has edited: who sent it first. */
  submittedBy: Schema.optionalKey(Principal),
  submitMode: Schema.optionalKey(SubmitMode),
  inputId: Schema.optionalKey(Schema.String),
  truncated: Schema.optionalKey(Schema.Boolean),
  inReplyToSeq: Schema.optionalKey(Schema.Int),
  modelId: Schema.optionalKey(Schema.String),
  toolName: Schema.optionalKey(Schema.String),
  toolInput: Schema.optionalKey(Schema.Unknown),
  toolCallId: Schema.optionalKey(Schema.String),
  providerToolCallId: Schema.optionalKey(Schema.String),
  toolOutput: Schema.optionalKey(Schema.Unknown),
  toolsetId: Schema.optionalKey(Schema.String),
  reveal: Schema.optionalKey(ToolReveal),
  waitId: Schema.optionalKey(Schema.String),
  waitResult: Schema.optionalKey(Schema.Unknown),
  hook: Schema.optionalKey(HookDecisionEvent),
  compaction: Schema.optionalKey(CompactionEvent),
  usage: Schema.optionalKey(ModelUsage),
  timing: Schema.optionalKey(Timing),
  failureCode: Schema.optionalKey(Schema.String),
  failureText: Schema.optionalKey(Schema.String),
  failureDetails: Schema.optionalKey(ModelImageFormatUnsupportedDetails)
}).annotate({ identifier: "ThreadEvent" })
export type ThreadEvent = typeof ThreadEvent.Type

export const EventPage = Schema.Struct({
  events: Schema.Array(ThreadEvent),
  nextCursor: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "EventPage" })
