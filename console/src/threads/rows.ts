/**
 * A stretch of a log as it is read: turn by turn, response by response, each call with all that belongs to it.
 *
 * R1. A row of which nothing is new is the same object as before: what is drawn is drawn again only where it changed.
 */
import type { LogEvent } from "../../../src/client/follow.ts"

type Of<Type extends LogEvent["type"]> = Extract<LogEvent, { readonly type: Type }>

interface Placed {
  readonly key: string
  readonly seq: number
}

export interface TurnRow extends Placed {
  readonly kind: "turn"
  readonly turnId: string
  /** What began it, where that is in the stretch. */
  readonly begunBy: Of<"user_message"> | undefined
}

export interface CallRow extends Placed {
  readonly kind: "call"
  readonly intent: Of<"tool_intent"> | undefined
  readonly toolCallId: string
  readonly beside: ReadonlyArray<Of<"hook_decision"> | Of<"wait_created"> | Of<"wait_resolved">>
  readonly result: Of<"tool_result"> | undefined
  /** It is the first of a response that said nothing else. */
  readonly begins: boolean
}

export type Row =
  | TurnRow
  | CallRow
  | (Placed & { readonly kind: "user"; readonly event: Of<"user_message"> })
  | (Placed & { readonly kind: "assistant"; readonly event: Of<"assistant_message"> })
  | (Placed & { readonly kind: "other"; readonly event: LogEvent })
  | (Placed & { readonly kind: "writing"; readonly text: string })

const callOf = (event: LogEvent): string | undefined => ("toolCallId" in event ? event.toolCallId : undefined)

const plainRow = (event: LogEvent): Row => {
  const shared = { key: event.eventId, seq: event.seq }
  if (event.type === "user_message") return { ...shared, kind: "user", event }
  if (event.type === "assistant_message") return { ...shared, kind: "assistant", event }
  return { ...shared, kind: "other", event }
}

/** A call with one more of its events. */
const withEvent = (call: CallRow, event: LogEvent): CallRow =>
  event.type === "tool_intent"
    ? { ...call, intent: event }
    : event.type === "tool_result"
      ? { ...call, result: event }
      : event.type === "hook_decision" || event.type === "wait_created" || event.type === "wait_resolved"
        ? { ...call, beside: [...call.beside, event] }
        : call

const isSameCall = (one: CallRow, other: CallRow) =>
  one.intent === other.intent &&
  one.result === other.result &&
  one.begins === other.begins &&
  one.key === other.key &&
  one.beside.length === other.beside.length

/** Makes rows of events; remembers those that it has made (R1). */
export const rowsMaker = () => {
  const plain = new WeakMap<LogEvent, Row>()
  const turns = new WeakMap<LogEvent, TurnRow>()
  const calls = new Map<string, CallRow>()
  const known = (event: LogEvent): Row => {
    const found = plain.get(event)
    if (found !== undefined) return found
    const row = plainRow(event)
    plain.set(event, row)
    return row
  }
  const turnRow = (first: LogEvent): TurnRow => {
    const found = turns.get(first)
    if (found !== undefined) return found
    const row: TurnRow = {
      kind: "turn",
      key: `turn ${first.eventId}`,
      seq: first.seq,
      turnId: first.turnId,
      begunBy: first.type === "user_message" ? first : undefined
    }
    turns.set(first, row)
    return row
  }

  return (events: ReadonlyArray<LogEvent>): ReadonlyArray<Row> => {
    const rows: Array<Row> = []
    const places = new Map<string, number>()
    let turnId: string | undefined
    // The calls of a response stand right behind its words, or behind each other.
    let isWithin = false
    for (const event of events) {
      if (event.turnId !== turnId) {
        rows.push(turnRow(event))
        turnId = event.turnId
        isWithin = false
      }
      const toolCallId = callOf(event)
      if (toolCallId === undefined) rows.push(known(event))
      else {
        const place = places.get(toolCallId)
        const found = place === undefined ? undefined : rows[place]
        const call: CallRow =
          found?.kind === "call"
            ? found
            : {
                kind: "call",
                key: event.eventId,
                seq: event.seq,
                toolCallId,
                intent: undefined,
                beside: [],
                result: undefined,
                begins: event.type === "tool_intent" && !isWithin
              }
        const next = withEvent(call, event)
        if (place === undefined) places.set(toolCallId, rows.push(next) - 1)
        else rows[place] = next
      }
      isWithin = event.type === "assistant_message" || event.type === "tool_intent"
    }
    for (const [toolCallId, place] of places) {
      const row = rows[place]
      if (row?.kind !== "call") continue
      const before = calls.get(toolCallId)
      if (before !== undefined && isSameCall(before, row)) rows[place] = before
      else calls.set(toolCallId, row)
    }
    for (const toolCallId of calls.keys()) if (!places.has(toolCallId)) calls.delete(toolCallId)
    return rows
  }
}

/** Rows of text that is being written, behind a seq. */
export const writingRows = (writing: ReadonlyMap<string, { readonly text: string }>, seq: number): ReadonlyArray<Row> =>
  [...writing].map(([key, { text }]) => ({ kind: "writing", key, seq, text }))

/** The turn that runs at the end of a log, if one does; of an earlier stretch it says nothing. */
export const openTurn = (events: ReadonlyArray<LogEvent>): string | undefined => {
  const last = events.at(-1)
  return last === undefined ||
    last.type === "turn_completed" ||
    last.type === "turn_failed" ||
    last.type === "turn_cancelled"
    ? undefined
    : last.turnId
}

type Content = ReadonlyArray<
  { readonly type: "text"; readonly text: string } | { readonly type: "image"; readonly imageId: string }
>

/** What is typed of a content: its words. */
export const textOf = (content: Content) =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n")

/** A content with other words in front of its images. */
export const reworded = (content: Content, text: string): Array<Content[number]> => [
  ...(text.trim() === "" ? [] : [{ type: "text" as const, text }]),
  ...content.filter(({ type }) => type === "image")
]

export const contentText = (
  content: ReadonlyArray<{ readonly type: string; readonly text?: string; readonly imageId?: string }>
) =>
  content.map((block) => (block.type === "text" ? (block.text ?? "") : `[image ${block.imageId ?? ""}]`)).join("\n\n")
