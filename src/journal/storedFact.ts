/**
 * A fact as a row of `facts`, and back. The stored text is the event with its type in front, in the
 * journal's shorthand: in almost every row these are the same words.
 */
import { bodyOfUuid, fromUuid } from "../domain/ids.ts"
import type { FactRow, StoredFact } from "./Journal.ts"
import { long, short } from "../database/shorthand.ts"

export interface FactColumns {
  readonly pos: number
  readonly seq: number | null
  readonly n: number
  readonly turn: string | null
  readonly once: string | null
  readonly event: string
  readonly detail: string | null
  readonly at: number
}

/** From `facts f`. */
export const factColumns =
  "f.pos, f.seq, f.n, f.turn, f.once, f.event, f.detail, (extract(epoch from f.at) * 1000)::float8 as at"

export const storedEvent = ({ event, type }: Pick<FactRow, "type" | "event">) =>
  short(`{"type":"${type}"${event === "{}" ? "}" : `,${event.slice(1)}`}`)

export const storedDetail = ({ detail }: Pick<FactRow, "detail">) => (detail === null ? null : short(detail))

/** Type and event of a stored text. */
export const readEvent = (stored: string) => {
  const text = long(stored)
  const [head, type] = /^\{"type":"(\w+)",?/.exec(text) ?? []
  if (head === undefined || type === undefined) throw new Error(`not a stored event: ${text.slice(0, 40)}`)
  return { type, event: `{${text.slice(head.length)}` }
}

export const storedFact = ({ at, detail, event, n, once, pos, seq, turn }: FactColumns): StoredFact => ({
  ...readEvent(event),
  pos,
  seq,
  n,
  at,
  public: seq !== null,
  turn: turn === null ? null : fromUuid("turn", turn),
  once: once === null ? null : bodyOfUuid(once),
  detail: detail === null ? null : long(detail)
})
