/** What a hook has decided, with where: a row of GET /v1/hooks/decisions. */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { HookDecisionEvent } from "../domain/event.ts"
import { Timestamp } from "../domain/time.ts"

export const HookDecision = Schema.Struct({
  ...HookDecisionEvent.fields,
  threadId: described(Schema.String, "Thread of the turn."),
  agentId: described(Schema.String, "Agent of the thread."),
  turnId: described(Schema.String, "Turn in which it was asked."),
  seq: described(Schema.Int, "Seq of its `hook_decision` event."),
  toolCallId: described(
    Schema.optionalKey(Schema.String),
    "The call that it judged. Absent at the points without one."
  ),
  waitId: described(Schema.optionalKey(Schema.String), "The wait that its ask led to."),
  occurredAt: described(Timestamp, "When it was decided."),
  enforced: described(Schema.Boolean, "Whether it made a difference: it denied, asked, or rewrote.")
}).annotate({ identifier: "HookDecision" })
export type HookDecision = typeof HookDecision.Type
