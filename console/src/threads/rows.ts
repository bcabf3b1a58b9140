/** A stretch of a log as it is read: turn by turn, each call with all that belongs to it. */
import type { LogEvent } from "../../../src/client/follow.ts"

type Of<Type extends LogEvent["type"]> = Extract<LogEvent, { readonly type: Type }>

export interface CallRow {
  readonly kind: "call"
  readonly key: string
  readonly seq: number
  readonly intent: Of<"tool_intent"> | undefined
  readonly toolCallId: string
  readonly beside: ReadonlyArray<Of<"hook_decision"> | Of<"wait_created"> | Of<"wait_resolved">>
  readonly result: Of<"tool_result"> | undefined
}

export type Row =
  | { readonly kind: "user"; readonly key: string; readonly seq: number; readonly event: Of<"user_message"> }
  | { readonly kind: "assistant"; readonly key: string; readonly seq: number; readonly event: Of<"assistant_message"> }
  | CallRow
  | { readonly kind: "other"; readonly key: string; readonly seq: number; readonly event: LogEvent }
  | { readonly kind: "writing"; readonly key: string; readonly seq: number; readonly text: string }

const callOf = (event: LogEvent): string | undefined => ("toolCallId" in event ? event.toolCallId : undefined)

export const rowsOf = (
  events: ReadonlyArray<LogEvent>,
  writing: ReadonlyMap<string, { readonly text: string }>
): ReadonlyArray<Row> => {
  const rows: Array<Row> = []
  const places = new Map<string, number>()
  for (const event of events) {
    const toolCallId = callOf(event)
    const shared = { key: event.eventId, seq: event.seq }
    if (toolCallId !== undefined) {
      const place = places.get(toolCallId)
      const found = place === undefined ? undefined : rows[place]
      const call: CallRow =
        found?.kind === "call"
          ? found
          : { ...shared, kind: "call", toolCallId, intent: undefined, beside: [], result: undefined }
      const next: CallRow =
        event.type === "tool_intent"
          ? { ...call, intent: event }
          : event.type === "tool_result"
            ? { ...call, result: event }
            : event.type === "hook_decision" || event.type === "wait_created" || event.type === "wait_resolved"
              ? { ...call, beside: [...call.beside, event] }
              : call
      if (place === undefined) places.set(toolCallId, rows.push(next) - 1)
      else rows[place] = next
    } else if (event.type === "user_message") rows.push({ ...shared, kind: "user", event })
    else if (event.type === "assistant_message") rows.push({ ...shared, kind: "assistant", event })
    else rows.push({ ...shared, kind: "other", event })
  }
  const last = events.at(-1)?.seq ?? 0
  for (const [id, { text }] of writing) rows.push({ kind: "writing", key: id, seq: last, text })
  return rows
}

/** The turn that runs at the end of a stretch, if one does. */
export const openTurn = (events: ReadonlyArray<LogEvent>): string | undefined => {
  const last = events.at(-1)
  return last === undefined ||
    last.type === "turn_completed" ||
    last.type === "turn_failed" ||
    last.type === "turn_cancelled"
    ? undefined
    : last.turnId
}

export const contentText = (
  content: ReadonlyArray<{ readonly type: string; readonly text?: string; readonly imageId?: string }>
) =>
  content.map((block) => (block.type === "text" ? (block.text ?? "") : `[image ${block.imageId ?? ""}]`)).join("\n\n")
