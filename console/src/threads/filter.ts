/** Which events of a log somebody wants to see. */
import type { LogEvent } from "../../../src/client/follow.ts"

export interface Filter {
  /** Empty: all. */
  readonly type: string
  /** Anywhere in the event, in upper or lower case. */
  readonly words: string
  readonly failures: boolean
}

export const everything: Filter = { type: "", words: "", failures: false }

export const isFiltered = ({ failures, type, words }: Filter) => failures || type !== "" || words !== ""

export const isFailure = (event: LogEvent) =>
  event.type === "turn_failed" || ("failureCode" in event && event.failureCode !== undefined)

export const fitting = ({ failures, type, words }: Filter) => {
  const wanted = words.toLowerCase()
  return (event: LogEvent) =>
    (type === "" || event.type === type) &&
    (!failures || isFailure(event)) &&
    (wanted === "" || JSON.stringify(event).toLowerCase().includes(wanted))
}

/** In the order of what usually comes first. A search may be for a type that no event here has. */
export const types: ReadonlyArray<LogEvent["type"]> = [
  "user_message",
  "assistant_message",
  "tool_intent",
  "tool_result",
  "hook_decision",
  "wait_created",
  "wait_resolved",
  "turn_completed",
  "turn_failed",
  "turn_cancelled",
  "compacting",
  "compacted"
]
