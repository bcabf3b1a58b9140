/**
 * Pages of a thread's log. Clients that poll are most of a busy server's statements, so reads that come
 * while others are under way share one (`batches.ts`). They take one connection at a time, and the largest of them a
 * turn of the event loop each: pages of megabytes hold up nobody's short reads.
 *
 * A page is found by pos: seq has no index, but pos is never below it. A turn's events lie between its
 * admission and its end, two look-ups by `once`, since turns never interleave.
 */
import { setImmediate } from "node:timers/promises"
import { Effect } from "effect"
import { fromUuid, isIdOf } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { admissionOf, endOf } from "../domain/once.ts"
import { eventText } from "../journal/eventText.ts"
import { readEvent } from "../journal/storedFact.ts"
import { batched } from "../database/batches.ts"
import { type Database, DatabaseUnavailable, isUnavailable } from "../database/Database.ts"
import { ints, places, uuids } from "../database/parameters.ts"

export interface EventQuery {
  readonly workspace: string
  readonly threadId: string
  /** Only events of this turn. */
  readonly turnId?: string
  /** Only events with a higher seq. Any whole number. */
  readonly afterSeq?: number
  /** `position` of the page before. */
  readonly position?: number
  readonly order: "asc" | "desc"
  readonly limit: number
}

export interface EventTexts {
  /** ThreadEvents as JSON texts, in the order asked for. */
  readonly events: ReadonlyArray<string>
  /** Where the next page begins; undefined when this is the last. */
  readonly position: number | undefined
  /** seq of the thread's newest event: at least that of every event here. */
  readonly lastSeq: number
  /** Seq of the last event of this page, 0 when it is empty. */
  readonly seq: number
}

interface Row {
  o: number
  last: number
  pos: number | null
  seq: number
  n: number
  turn: string
  event: string
  at: number
}

/** Events that pages of one statement may have together. */
const mostRows = 2_000

/** Pages of more leave others a turn of the event loop behind them. */
const largeBytes = 64 * 1024

/** PostgreSQL's largest integer: no log gets there. */
const most = 2_147_483_647

// The row after a page's last is read too: it says that there is more. Stored texts are shorter than they
// read, so what is read is enough for a page; where it ends is seen when they are spelled out.
const textOf = (
  order: "asc" | "desc",
  ofTurn: boolean
) => `select q.o, h.seq as last, e.pos, e.seq, e.n, e.turn, e.event, e.at
from unnest($1::int[], $2::uuid[], $3::uuid[], $4::int[], $5::int[],
  $6::int[]${ofTurn ? ", $7::uuid[], $8::uuid[], $9::uuid[]" : ""})
  as q(o, w, id, after, position, lim${ofTurn ? ", opens, ends, turn" : ""})
join heads h on h.id = q.id and h.workspace = q.w
left join lateral (select * from (
    select p.*, sum(octet_length(p.event)) over (order by p.pos ${order}) as bytes, row_number() over (order by p.pos
      ${order}) as place from (
      select f.pos, f.seq, f.n, f.turn, f.event, (extract(epoch from f.at) * 1000)::float8 as at
      from facts f where f.actor = h.id and f.seq > q.after and
        ${order === "asc" ? "f.pos > greatest(q.after, q.position)" : "f.pos < q.position"}${
          ofTurn
            ? `
        and f.turn = q.turn
        and f.pos >= (select s.pos from facts s where s.once = q.opens and s.actor = h.id and s.turn = q.turn)
        and f.pos <= coalesce((select s.pos from facts s where s.once = q.ends and s.actor = h.id), ${most})`
            : ""
        }
      order by f.pos ${order} limit q.lim + 1) p
  ) e where e.place <= 2 or e.bytes - octet_length(e.event) <= ${limits.pageBytes}) e on true
order by q.o, e.pos ${order}`

const isTurn = isIdOf("turn")

/** The page that an answer's rows are; undefined where there is no such thread. */
const pageOf = (
  { limit, threadId }: EventQuery,
  rows: ReadonlyArray<Row> | undefined
): { readonly texts: EventTexts; readonly bytes: number } | undefined => {
  const [first] = rows ?? []
  if (rows === undefined || first === undefined) return undefined
  const events: Array<string> = []
  let [bytes, seq] = [0, 0]
  let position: number | undefined
  let last = 0
  for (const row of rows) {
    if (row.pos === null) continue
    const text = eventText(threadId, { ...row, turn: fromUuid("turn", row.turn), ...readEvent(row.event) })
    bytes += Buffer.byteLength(text)
    if (events.length === limit || (events.length > 0 && bytes > limits.pageBytes)) {
      position = last
      break
    }
    events.push(text)
    last = row.pos
    seq = row.seq
  }
  return { texts: { events, position, lastSeq: first.last, seq }, bytes }
}

export const threadEvents = (database: Pick<Database["Service"], "query">) => {
  let before: Promise<unknown> = Promise.resolve()
  /** One statement at a time: pages of megabytes leave the other connections to what else is read. */
  const read = (statement: Parameters<typeof database.query>[0]) => {
    const rows = before.then(() => database.query<Row>(statement))
    before = rows.then(
      () => {},
      () => {}
    )
    return rows
  }
  const reader = (order: "asc" | "desc", ofTurn: boolean) => {
    const name = `events ${order}${ofTurn ? " of turn" : ""}`
    const text = textOf(order, ofTurn)
    return batched<EventQuery, EventTexts | undefined, DatabaseUnavailable>({
      max: 64,
      // Twenty of the largest pages are megabytes: what is asked beside them would wait for all.
      size: { of: ({ limit }) => limit, most: mostRows },
      lanes: 2,
      run: async (requests) => {
        const queries = requests.map((request) => request.item)
        const turns = queries.map(({ turnId = "" }) => (isTurn(turnId) ? turnId : null))
        let rows: ReadonlyArray<Row>
        try {
          rows = await read({
            name,
            text,
            values: [
              places(queries),
              uuids(queries, (query) => query.workspace),
              uuids(queries, (query) => query.threadId),
              ints(queries, ({ afterSeq = 0 }) => Math.min(afterSeq, most)),
              ints(queries, ({ position = order === "asc" ? 0 : most }) => position),
              ints(queries, (query) => query.limit),
              ...(ofTurn
                ? [
                    uuids(turns, (turn) => (turn === null ? null : admissionOf(turn))),
                    uuids(turns, (turn) => (turn === null ? null : endOf(turn))),
                    uuids(turns, (turn) => turn)
                  ]
                : [])
            ]
          })
        } catch (cause) {
          if (!isUnavailable(cause)) throw cause
          for (const { answer } of requests) answer(Effect.fail(new DatabaseUnavailable({ operation: name, cause })))
          return
        }
        const found = Map.groupBy(rows, ({ o }) => o)
        for (const [o, { answer, item }] of requests.entries()) {
          const page = pageOf(item, found.get(o))
          answer(Effect.succeed(page?.texts))
          // Whoever asks something small does not wait for twenty of them.
          if ((page?.bytes ?? 0) > largeBytes) await setImmediate()
        }
      }
    })
  }
  const readers = {
    asc: [reader("asc", false), reader("asc", true)],
    desc: [reader("desc", false), reader("desc", true)]
  } as const
  return (query: EventQuery) => readers[query.order][query.turnId === undefined ? 0 : 1](query)
}
