/** Failure codes of events, and the details that one of them carries (contract C16.8, C16.10 to C16.15). */
import { Schema } from "effect"
import { ImageFormat } from "./content.ts"
import { described } from "./described.ts"
import { limits } from "./limits.ts"
import { nonBlank, utf8Bytes } from "./text.ts"

export const failureCodes = [
  "model_image_format_unsupported",
  "model_error",
  "model_rate_limited",
  "model_overloaded",
  "model_unavailable",
  "context_overflow",
  "content_refused",
  "tool_error",
  "tool_timeout",
  "tool_denied",
  "tool_not_found",
  "tool_input_invalid",
  "toolset_unreachable",
  "toolset_unauthorized",
  "hook_denied",
  "hook_failed",
  "wait_expired",
  "turn_interrupted",
  "turn_timeout",
  "step_limit",
  "budget_exceeded",
  "thread_cost_exceeded",
  "model_not_priced",
  "identity_disabled",
  "agent_archived",
  "tool_outcome_unknown",
  "turn_poisoned",
  "compaction_failed",
  "internal"
] as const
export type FailureCode = (typeof failureCodes)[number]
export const isFailureCode = (text: string): text is FailureCode =>
  // `includes` of a list of literals takes only these.
  (failureCodes as ReadonlyArray<string>).includes(text)

const sorted = Schema.makeFilter<ReadonlyArray<string>>(
  (formats) => formats.every((format, i) => i === 0 || formats[i - 1]! < format) || "sorted formats",
  {
    toJsonSchema: () => [{ description: "Sorted." }, true]
  }
)

export const ModelImageFormatUnsupportedDetails = Schema.Struct({
  targetId: described(
    Schema.String.check(nonBlank),
    "The model target that refused the images: one of `targets[].id` of the model list."
  ),
  formats: described(
    Schema.Array(ImageFormat).check(Schema.isMinLength(1), Schema.isMaxLength(4), Schema.isUnique(), sorted),
    "The image formats that it refused."
  )
})
  .check(
    Schema.makeFilter(
      (details) =>
        utf8Bytes(JSON.stringify(details)) <= limits.failureDetailsBytes ||
        `at most ${limits.failureDetailsBytes} bytes of JSON`,
      {
        toJsonSchema: () => [{ description: `At most ${limits.failureDetailsBytes} bytes of JSON.` }, true]
      }
    )
  )
  .annotate({ identifier: "ModelImageFormatUnsupportedDetails" })
export type FailureDetails = typeof ModelImageFormatUnsupportedDetails.Type

/** Why a turn or a call failed. `details` exactly when the code is model_image_format_unsupported. */
export interface Failure {
  readonly code: FailureCode
  readonly text: string
  readonly details?: FailureDetails
}
