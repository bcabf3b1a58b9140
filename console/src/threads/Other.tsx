/** An event that is neither message nor call, in a line: decisions, waits, rounds of compaction, how a turn ended. */
import type { LogEvent } from "../../../src/client/follow.ts"
import { duration } from "../parts/duration.ts"
import { Time } from "../parts/Time.tsx"
import { visibleLine } from "../parts/visible.ts"

const field = (value: unknown, name: string): string => {
  const found =
    typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name) : undefined
  return typeof found?.[1] === "string" ? found[1] : ""
}

const cost = (usage: { readonly totalTokens: number; readonly estimatedCost?: number }) => {
  const { estimatedCost, totalTokens } = usage
  const price = estimatedCost === undefined ? "" : `, $${estimatedCost.toFixed(4)}`
  return `${totalTokens.toLocaleString("en")} tokens${price}`
}

const lineOf = (event: LogEvent): readonly [mark: string, text: string, isBad?: boolean] => {
  switch (event.type) {
    case "hook_decision": {
      const { decision, index, latencyMs, point, reason } = event.hook
      const why = reason === undefined ? "" : `, ${reason}`
      return ["⚖", `hook ${index} ${point}: ${decision}${why} (${duration(latencyMs)})`, decision === "deny"]
    }
    case "wait_created":
      return ["◐", `waits${event.toolName === undefined ? "" : ` for ${event.toolName}`}`]
    case "wait_resolved": {
      const reason = field(event.waitResult, "reason")
      return ["◑", `answered: ${field(event.waitResult, "outcome")}${reason === "" ? "" : `, ${reason}`}`]
    }
    case "turn_completed":
      return ["■", `turn completed · ${cost(event.usage)}`]
    case "turn_cancelled":
      return ["⊘", "turn cancelled", true]
    case "turn_failed":
      return ["✕", `turn failed: ${event.failureCode}: ${event.failureText}`, true]
    case "compacting":
      return ["⇣", `the conversation is being summarised through ${event.compaction.throughSeq}`]
    case "compacted":
      return event.failureCode === undefined
        ? ["⇣", `summarised through ${event.compaction.throughSeq}`]
        : ["✕", `no summary: ${event.failureCode}: ${event.failureText ?? ""}`, true]
    default:
      return ["·", event.type]
  }
}

export const Other = ({ event }: { readonly event: LogEvent }) => {
  const [mark, text, isBad = false] = lineOf(event)
  return (
    <p className={isBad ? "line bad" : "line"}>
      <span aria-hidden="true">{mark}</span> {visibleLine(text)}{" "}
      <span className="quiet">
        · #{event.seq} · <Time at={event.occurredAt} />
      </span>
    </p>
  )
}
