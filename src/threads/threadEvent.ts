/**
 * ThreadEvent and EventPage (contract C20.1) as clients are told of them: a union by `type`, each event with the fields
 * that it has.
 *
 * E1. A field is required where every event of its type has had it, from the first version on: logs are never
 *     rewritten.
 * E2. Fields may join an event; nobody refuses one for a field that is not named here.
 */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { AnyEvent, type ThreadEventType } from "../domain/event.ts"
import { has, is } from "../domain/jsonSchema.ts"
import { NextCursor } from "../domain/nextCursor.ts"

const { eventId, occurredAt, seq, threadId, turnId, type: _, ...fields } = AnyEvent.fields
const { failureCode, failureDetails, failureText, timing, toolCallId, toolsetId, usage } = fields

/** The field where every event of a type has it: it means the same. */
const always = <S extends Schema.Top>(field: Schema.optionalKey<S>) =>
  Schema.requiredKey(field).annotateKey({ ...Schema.resolveAnnotationsKey(field) })

const event = <const Type extends ThreadEventType, const Fields extends Schema.Struct.Fields>(
  type: Type,
  own: Fields
) =>
  Schema.Struct({
    seq,
    eventId,
    threadId,
    turnId,
    type: described(Schema.Literal(type), "Type of the event: it tells the kinds of events apart."),
    occurredAt,
    ...own
  })

const imageFormat = "model_image_format_unsupported"

/** Exactly this failure has details (contract C16.8). */
const details = Schema.makeFilter<{ readonly failureCode?: string; readonly failureDetails?: object }>(
  ({ failureCode, failureDetails }) =>
    (failureCode === imageFormat) === (failureDetails !== undefined) || `failureDetails exactly with ${imageFormat}`,
  {
    toJsonSchema: () => ({
      if: is("failureCode", imageFormat),
      then: has("failureDetails"),
      else: { not: has("failureDetails") }
    })
  }
)

const over = { usage: always(usage), principal: always(fields.principal) }

export const ThreadEvent = Schema.Union([
  event("user_message", {
    content: always(fields.content),
    principal: always(fields.principal),
    submitMode: always(fields.submitMode),
    inputId: always(fields.inputId),
    submittedBy: fields.submittedBy
  }).annotate({ identifier: "UserMessageEvent" }),
  event("assistant_message", {
    content: always(fields.content),
    modelId: always(fields.modelId),
    inReplyToSeq: always(fields.inReplyToSeq),
    truncated: fields.truncated,
    finishReason: fields.finishReason
  }).annotate({ identifier: "AssistantMessageEvent" }),
  event("tool_intent", {
    toolName: always(fields.toolName),
    toolInput: fields.toolInput,
    toolCallId: always(toolCallId),
    providerToolCallId: always(fields.providerToolCallId),
    modelId: always(fields.modelId)
  }).annotate({ identifier: "ToolIntentEvent" }),
  event("tool_result", {
    toolCallId: always(toolCallId),
    toolOutput: fields.toolOutput,
    toolContent: fields.toolContent,
    toolMeta: fields.toolMeta,
    reveal: fields.reveal,
    usage,
    timing,
    failureCode,
    failureText
  }).annotate({ identifier: "ToolResultEvent" }),
  event("wait_created", {
    waitId: always(fields.waitId),
    toolCallId,
    toolName: fields.toolName,
    toolsetId,
    usage: always(usage)
  }).annotate({ identifier: "WaitCreatedEvent" }),
  event("wait_resolved", {
    waitId: always(fields.waitId),
    waitResult: fields.waitResult,
    toolCallId,
    toolsetId
  }).annotate({ identifier: "WaitResolvedEvent" }),
  event("hook_decision", { hook: always(fields.hook), toolCallId, waitId: fields.waitId }).annotate({
    identifier: "HookDecidedEvent"
  }),
  event("turn_completed", over).annotate({ identifier: "TurnCompletedEvent" }),
  event("turn_cancelled", over).annotate({ identifier: "TurnCancelledEvent" }),
  event("turn_failed", {
    failureCode: always(failureCode),
    failureText: always(failureText),
    failureDetails,
    usage: always(usage)
  })
    .check(details)
    .annotate({ identifier: "TurnFailedEvent" }),
  event("compacting", { compaction: always(fields.compaction), modelId: always(fields.modelId) }).annotate({
    identifier: "CompactingEvent"
  }),
  event("compacted", {
    compaction: always(fields.compaction),
    modelId: always(fields.modelId),
    usage,
    timing,
    failureCode,
    failureText,
    failureDetails
  })
    .check(details)
    .annotate({ identifier: "CompactedEvent" })
]).annotate({ identifier: "ThreadEvent" })
export type ThreadEvent = typeof ThreadEvent.Type

export const EventPage = Schema.Struct({
  events: described(Schema.Array(ThreadEvent), "Events of the log, in the order that was asked for."),
  nextCursor: NextCursor
}).annotate({ identifier: "EventPage" })
