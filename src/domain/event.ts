/**
 * The fields of ThreadEvents (contract C20.2 to C20.11): the public view of a thread's facts.
 *
 * Stored events are never decoded on their way out: the journal keeps the text of an event's own
 * fields, and reading puts the common ones in front (see `journal/eventText.ts`). `threadEvent.ts` is
 * what the contract says and what tests hold answers against.
 */
import { Schema } from "effect"
import { besideFields } from "./beside.ts"
import { MessageContent, SubmitMode } from "./content.ts"
import { described } from "./described.ts"
import { ModelImageFormatUnsupportedDetails } from "./failure.ts"
import { limits } from "./limits.ts"
import { Principal } from "./principal.ts"
import { Timestamp } from "./time.ts"
import { ModelUsage } from "./usage.ts"

export const threadEventTypes = [
  "user_message",
  "assistant_message",
  "tool_intent",
  "tool_result",
  "wait_created",
  "wait_resolved",
  "hook_decision",
  "turn_completed",
  "turn_cancelled",
  "turn_failed",
  "compacting",
  "compacted"
] as const
export const ThreadEventType = Schema.Literals(threadEventTypes)
export type ThreadEventType = typeof ThreadEventType.Type

/** [ext] Why a model stopped before its answer was whole. Absent where it was. */
export const FinishReason = Schema.Literals(["length", "content_filter"])
export type FinishReason = typeof FinishReason.Type

export const HookPoint = Schema.Literals([
  "before_turn_start",
  "before_tool_call",
  "after_tool_result",
  "after_model_response"
])
export type HookPoint = typeof HookPoint.Type
export const HookProcessorType = Schema.Literals(["url", "agent", "client"])
export type HookProcessorType = typeof HookProcessorType.Type

export const HookDecisionEvent = Schema.Struct({
  hookId: described(Schema.String, "The hook that was asked."),
  index: described(Schema.Int, "Place of the hook in its profile's list, from 0."),
  point: described(HookPoint, "Where in the turn it was asked."),
  processor: described(HookProcessorType, "Who was asked: an endpoint, another agent, or a client."),
  decision: described(
    Schema.Literals(["allow", "deny", "ask", "defer"]),
    "The hook's decision. `defer` is no opinion: the next hook goes on as if this one had not been asked."
  ),
  latencyMs: described(Schema.Int, "How long the first answer took, in milliseconds."),
  deliveryId: described(Schema.optionalKey(Schema.String), "The delivery that asked. Absent where none was sent."),
  reason: described(Schema.optionalKey(Schema.String), "Why, in words for people."),
  rewrote: described(Schema.optionalKey(Schema.Boolean), "True when it replaced the content that it judged.")
}).annotate({ identifier: "HookDecisionEvent" })
export type HookDecisionEvent = typeof HookDecisionEvent.Type

export const CompactionEvent = Schema.Struct({
  throughSeq: described(Schema.Int, "Boundary of the round: every event at or below this seq is summarized."),
  attempt: described(
    Schema.String,
    "Which round of one model call it is: `build:0`, `build:1` and so on, or `overflow`."
  ),
  preview: described(
    Schema.optionalKey(Schema.String),
    "Beginning of the summary as plain text. Only on a successful `compacted`."
  )
}).annotate({ identifier: "CompactionEvent" })

export const RevealedModelTool = Schema.Struct({
  name: described(Schema.String, "Name that the model calls the tool by."),
  schema: described(Schema.Unknown, "JSON Schema of the tool's input."),
  description: described(Schema.optionalKey(Schema.String), "The tool's purpose, in words for the model.")
}).annotate({ identifier: "RevealedModelTool" })

export const RevealedTool = Schema.Struct({
  toolsetId: described(Schema.String, "Toolset of the tool."),
  namespace: described(Schema.String, "Namespace of the toolset."),
  name: described(Schema.String, "Name of the tool within its namespace."),
  def: described(Schema.optionalKey(RevealedModelTool), "The tool as the model is told of it.")
}).annotate({ identifier: "RevealedTool" })

export const ToolFamily = Schema.Literals([
  "agents",
  "connections",
  "thread",
  "memory",
  "artifacts",
  "sites",
  "web",
  "schedules",
  "feeds",
  "subscriptions",
  "sandbox"
])

export const ToolReveal = Schema.Struct({
  families: described(
    Schema.optionalKey(Schema.Array(ToolFamily).check(Schema.isMaxLength(limits.revealedFamilies))),
    "Families of built-in tools that became callable for the rest of the thread."
  ),
  tools: described(
    Schema.optionalKey(Schema.Array(RevealedTool).check(Schema.isMaxLength(limits.revealedTools))),
    "Tools of toolsets that became callable for the rest of the thread."
  )
}).annotate({ identifier: "ToolReveal" })
export type ToolReveal = typeof ToolReveal.Type

export const Timing = Schema.Struct({
  durationMs: described(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)), "How long it took, in milliseconds."),
  firstTextMs: described(
    Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
    "After how many milliseconds the first text came. Absent when none did."
  )
}).annotate({ identifier: "Timing" })
export type Timing = typeof Timing.Type

/**
 * An event of whichever type, as the runtime reads a log: every field that one of them has. `threadEvent.ts` says which
 * type has which.
 */
export const AnyEvent = Schema.Struct({
  seq: described(Schema.Int, "Position in the thread's log: from 1, without gaps."),
  eventId: described(Schema.String, "Id of the event."),
  threadId: described(Schema.String, "Thread whose log it stands in."),
  turnId: described(Schema.String, "Turn that it belongs to."),
  type: described(ThreadEventType, "Type of the event. The other fields depend on it."),
  occurredAt: described(Timestamp, "When it was recorded."),
  content: described(Schema.optionalKey(MessageContent), "Content of a user's or an assistant's message."),
  principal: described(
    Schema.optionalKey(Principal),
    "Who acted: whose message it is, who began a completed turn, who cancelled one."
  ),
  submittedBy: described(
    Schema.optionalKey(Principal),
    "Who first sent a message that somebody else has edited since."
  ),
  submitMode: described(Schema.optionalKey(SubmitMode), "How the message was submitted."),
  inputId: described(
    Schema.optionalKey(Schema.String),
    "The input that this message was while it waited in the queue. [ext]"
  ),
  truncated: described(
    Schema.optionalKey(Schema.Boolean),
    "True when the text was cut, because it was longer than an assistant's message may be. [ext]"
  ),
  finishReason: described(
    Schema.optionalKey(FinishReason),
    "Why the model stopped before its answer was whole: `length` where it reached a limit of tokens, " +
      "`content_filter` where the provider's filter stopped it. Absent for a whole answer. [ext]"
  ),
  inReplyToSeq: described(Schema.optionalKey(Schema.Int), "Seq of the newest `user_message` that the model had read."),
  modelId: described(Schema.optionalKey(Schema.String), "Model that produced it, as chosen by the runtime."),
  toolName: described(Schema.optionalKey(Schema.String), "The tool that is called, as `namespace.tool`."),
  toolInput: described(Schema.optionalKey(Schema.Unknown), "Input of the call, as the model gave it."),
  toolCallId: described(
    Schema.optionalKey(Schema.String),
    "Id of the call: the same from its `tool_intent` to its `tool_result`."
  ),
  providerToolCallId: described(Schema.optionalKey(Schema.String), "Id that the model's provider gave the call."),
  toolOutput: described(
    Schema.optionalKey(Schema.Unknown),
    'What the tool returned. A result that is too long is `{"truncated":true,"text":…}`.'
  ),
  ...besideFields,
  toolsetId: described(Schema.optionalKey(Schema.String), "Toolset of the tool. Absent for built-in tools."),
  reveal: described(Schema.optionalKey(ToolReveal), "Tools that this result made callable for the rest of the thread."),
  waitId: described(Schema.optionalKey(Schema.String), "The wait that began or ended, or that a hook's ask led to."),
  waitResult: described(Schema.optionalKey(Schema.Unknown), "How the wait ended: `{outcome, by?, reason?, output?}`."),
  hook: described(Schema.optionalKey(HookDecisionEvent), "The decision of a hook."),
  compaction: described(Schema.optionalKey(CompactionEvent), "The round of compaction that began or ended."),
  usage: described(
    Schema.optionalKey(ModelUsage),
    "Tokens and cost: of a turn's end, the whole turn; of a wait, the turn so far; of a result, model calls " +
      "inside the tool; of `compacted`, its own."
  ),
  timing: described(Schema.optionalKey(Timing), "How long it took."),
  failureCode: described(Schema.optionalKey(Schema.String), "Why it failed, for machines. Absent when it did not."),
  failureText: described(Schema.optionalKey(Schema.String), "Why it failed, for people."),
  failureDetails: described(
    Schema.optionalKey(ModelImageFormatUnsupportedDetails),
    "Exactly with failureCode `model_image_format_unsupported`: which formats the model target refused."
  )
})
export type AnyEvent = typeof AnyEvent.Type
