/** Failure codes of events, and the details that one of them carries (specification, ModelImageFormatUnsupportedDetails). */
import { Schema } from "effect"
import { ImageFormat } from "./content.ts"
import { nonBlank } from "./text.ts"

export const failureCodes = [
  "model_image_format_unsupported", "model_error", "model_rate_limited", "model_overloaded", "model_unavailable",
  "context_overflow", "content_refused", "tool_error", "tool_timeout", "tool_denied", "tool_not_found",
  "tool_input_invalid", "toolset_unreachable", "toolset_unauthorized", "hook_denied", "hook_failed", "wait_expired",
  "turn_interrupted", "turn_timeout", "step_limit", "budget_exceeded", "thread_cost_exceeded", "identity_disabled",
  "agent_archived", "tool_outcome_unknown", "turn_poisoned", "compaction_failed", "internal"
] as const
export type FailureCode = typeof failureCodes[number]
export const isFailureCode = (text: string): text is FailureCode => (failureCodes as ReadonlyArray<string>).includes(text)

export const ModelImageFormatUnsupportedDetails = Schema.Struct({
  targetId: Schema.String.check(nonBlank),
  formats: Schema.Array(ImageFormat).check(Schema.isMinLength(1), Schema.isMaxLength(4), Schema.isUnique())
}).annotate({ identifier: "ModelImageFormatUnsupportedDetails" })
export type FailureDetails = typeof ModelImageFormatUnsupportedDetails.Type

/** Why a turn or a call failed. `details` exactly when the code is model_image_format_unsupported. */
export interface Failure {
  readonly code: FailureCode
  readonly text: string
  readonly details?: FailureDetails
}
