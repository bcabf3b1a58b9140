/**
 * Stored facts as public ThreadEvents: the fields that all have in common,
 * and behind them the event's own text as it was stored. Nothing is parsed.
 */
import { derive } from "../domain/ids.ts"
import { toTimestamp } from "../domain/time.ts"
import type { StoredFact } from "./Journal.ts"

export type PublicFact = Pick<StoredFact, "turn" | "n" | "type" | "event" | "at"> & { readonly seq: number }

/** The id of an event: derived from its turn, so that it is known before the event exists. */
export const eventId = (turn: string, n: number) => derive("event", turn, n)

/**
 * The same text in one piece. V8 joins texts as a tree of their parts, some twenty objects for an event, and such a
 * tree stays for as long as the text is kept: most of what lived of a resting thread was those. Asking for a character
 * makes one text of it.
 */
const inOnePiece = (text: string) => (Number.isNaN(text.charCodeAt(0)) ? "" : text)

/** The JSON text of a ThreadEvent. */
export const eventText = (threadId: string, { at, event, n, seq, turn, type }: PublicFact) => {
  if (turn === null) throw new Error(`a public fact of a thread belongs to a turn: ${threadId} ${seq}`)
  const ids = `"eventId":"${eventId(turn, n)}","threadId":"${threadId}","turnId":"${turn}"`
  const common = `{"seq":${seq},${ids},"type":"${type}","occurredAt":"${toTimestamp(at)}"`
  return inOnePiece(event === "{}" ? `${common}}` : `${common},${event.slice(1)}`)
}
