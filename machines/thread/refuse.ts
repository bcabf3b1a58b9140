/** What a thread does not accept, and why: asked before it decides, so that a refusal changes nothing. */
import { limits } from "../../src/domain/limits.ts"
import type { Snapshot } from "./chart.ts"
import type { Command } from "./commands.ts"
import { knownInput, openWaits, type OpenWait } from "./context.ts"

export type Refusal =
  /** The turn named is not the active one. `active` is absent at rest. */
  | { readonly error: "turn_conflict"; readonly active?: string }
  | { readonly error: "queue_full"; readonly retryAfterSeconds: number }
  /** Not waiting any more, or never known: the log tells which. */
  | { readonly error: "input_not_pending"; readonly inputId: string }
  | { readonly error: "model_not_allowed_with_steer" }
  | { readonly error: "nothing_to_retry" }
  | { readonly error: "thread_archived" }
  | { readonly error: "wait_not_open"; readonly waitId: string }
  | { readonly error: "wait_type_mismatch"; readonly type: OpenWait["type"] }

export const refuse = ({ context }: Snapshot, command: Command): Refusal | undefined => {
  const {
    carry: { archivedAt, last },
    pending,
    turn
  } = context
  const conflict = (expected: string | undefined): Refusal | undefined =>
    expected === undefined || expected === turn?.turnId
      ? undefined
      : { error: "turn_conflict", ...(turn === null ? {} : { active: turn.turnId }) }
  const missing = (inputId: string): Refusal | undefined =>
    pending.some((input) => input.inputId === inputId) ? undefined : { error: "input_not_pending", inputId }
  switch (command.type) {
    case "submit": {
      const { input } = command
      if (knownInput(context, input.inputId) !== undefined) return undefined
      if (archivedAt !== undefined && command.acknowledged !== true) return { error: "thread_archived" }
      if (input.mode === "steer" && input.model !== undefined) return { error: "model_not_allowed_with_steer" }
      // What waits at rest runs before it.
      if (input.retryOf !== undefined && (turn !== null || pending.length > 0 || last?.turnId !== input.retryOf)) {
        return { error: "nothing_to_retry" }
      }
      return (
        conflict(command.expectedTurnId) ??
        (pending.length >= limits.pendingInputs && input.mode !== "interrupt" && command.acknowledged !== true
          ? { error: "queue_full", retryAfterSeconds: 5 }
          : undefined)
      )
    }
    case "edit":
    case "remove":
      return missing(command.inputId)
    case "promote":
      return (
        missing(command.inputId) ??
        conflict(command.expectedTurnId) ??
        (command.mode === "steer" &&
        pending.some((input) => input.inputId === command.inputId && input.model !== undefined)
          ? { error: "model_not_allowed_with_steer" }
          : undefined)
      )
    case "cancel":
      return conflict(command.turnId)
    case "compact":
      return archivedAt === undefined ? undefined : { error: "thread_archived" }
    case "archive":
      return turn === null && pending.length === 0
        ? undefined
        : { error: "turn_conflict", ...(turn === null ? {} : { active: turn.turnId }) }
    case "answer": {
      const found = openWaits(turn).find(({ wait }) => wait.waitId === command.waitId)
      if (found === undefined) return { error: "wait_not_open", waitId: command.waitId }
      const { type } = found.wait
      return (type === "client_tool") === (command.answer.type === "tool_result")
        ? undefined
        : { error: "wait_type_mismatch", type }
    }
    default:
      return undefined
  }
}
