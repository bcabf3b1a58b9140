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

/** The JSON text of a ThreadEvent. */
export const eventText = (threadId: string, { at, event, n, seq, turn, type }: PublicFact) => {
  if (turn === null) throw new Error(`a public fact of a thread belongs to a turn: ${threadId} ${seq}`)
  const ids = `"eventId":"${eventId(turn, n)}","threadId":"${threadId}","turnId":"${turn}"`
  const common = `{"seq":${seq},${ids},"type":"${type}","occurredAt":"${toTimestamp(at)}"`
  return event === "{}" ? `${common}}` : `${common},${event.slice(1)}`
}
