/** What a hook has decided, with where (design, section 6, Audit): a row of GET /v1/hooks/decisions. */
import { Schema } from "effect"
import { HookDecisionEvent } from "./event.ts"
import { Timestamp } from "./time.ts"

export const HookDecision = Schema.Struct({
  ...HookDecisionEvent.fields,
  threadId: Schema.String,
  agentId: Schema.String,
  turnId: Schema.String,
  seq: Schema.Int,
  toolCallId: Schema.optionalKey(Schema.String),
  waitId: Schema.optionalKey(Schema.String),
  occurredAt: Timestamp,
  /** Whether it made a difference: it denied, asked, or rewrote. */
  enforced: Schema.Boolean
}).annotate({ identifier: "HookDecision" })
export type HookDecision = typeof HookDecision.Type
