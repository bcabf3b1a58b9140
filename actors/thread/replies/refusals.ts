/** A thread's refusals in words for people, with the contract's error words. */
import type { Failure } from "../../../src/domain/failure.ts"
import { limits } from "../../../src/domain/limits.ts"
import type { Refusal } from "../../../machines/thread/refuse.ts"
import { Declined } from "../../Actor.ts"

/** An input that would not run is refused to its sender with the same word that its turn would fail with. */
export const refusedAdmission = ({ code, text }: Failure): Declined =>
  new Declined({
    reason:
      code === "identity_disabled" ||
      code === "agent_archived" ||
      code === "model_unavailable" ||
      code === "model_not_priced"
        ? code
        : "profile_not_found",
    message: text
  })

/**
 * Whoever may not change the profile may not choose a model past it either: the model decides which tools are called.
 */
export const notInProfile = (): Declined =>
  new Declined({
    reason: "permission_denied",
    code: "model_not_in_profile",
    message: "model: the profile does not select it. A key with the scope write may name any model."
  })

/** Its turn would stand at the end of a line that is long already. */
export const lineFull = (): Declined =>
  new Declined({
    reason: "rate_limited",
    code: "turns_waiting",
    retryAfterSeconds: 5,
    message:
      `${limits.turnsInLine} turns of this workspace wait for a slot on this node already. Try again when some ` +
      "have run, or cancel some."
  })

export const declinedFor = (refusal: Refusal): Declined => {
  switch (refusal.error) {
    case "turn_conflict":
      return new Declined({
        reason: "turn_conflict",
        message:
          refusal.active === undefined
            ? "No turn is active in this thread."
            : `The active turn is ${refusal.active}, not the turn that was named.`
      })
    case "queue_full":
      return new Declined({
        reason: "queue_full",
        message: "100 inputs wait in this thread already. Try again when some have run, or cancel some.",
        retryAfterSeconds: refusal.retryAfterSeconds
      })
    case "input_not_pending":
      return new Declined({ reason: "input_not_pending", message: `${refusal.inputId} does not wait any more.` })
    case "model_not_allowed_with_steer":
      return new Declined({
        reason: "model_not_allowed_with_steer",
        message: "model: a steer joins a turn that has its model already. Leave it out, or use another mode."
      })
    case "nothing_to_retry":
      return new Declined({
        reason: "nothing_to_retry",
        message: "The last turn of this thread neither failed nor was cancelled, or one is running."
      })
    case "thread_archived":
      return new Declined({
        reason: "thread_archived",
        message: "The thread was archived: it takes no input any more."
      })
    case "wait_not_open":
      return new Declined({ reason: "wait_not_open", message: `${refusal.waitId} is not open.` })
    case "wait_type_mismatch":
      return new Declined({
        reason: "wait_type_mismatch",
        message:
          refusal.type === "client_tool"
            ? "type: this wait is for a tool's result: answer with type tool_result."
            : "type: this wait is for a decision: answer with type decision."
      })
  }
}
