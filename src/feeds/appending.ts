/**
 * Messages of a feed as they are written.
 *
 * W1. An append holds the feed's row: seqs have no gaps, and follow each other in the order of the commits.
 * W2. The number of statements does not depend on the number of messages.
 * W3. A key that came within 24 hours stands for the message that has it, also where that is not kept any more.
 * W4. Subscriptions that messages match are told in the same transaction.
 * W5. Messages without keys, that match no subscription, are one statement, where no answer has to be kept with them.
 */
import { Effect } from "effect"
import { sql } from "kysely"
import type { Database } from "../database/Database.ts"
import type { Tx } from "../database/handle.ts"
import { toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import type { Principal } from "../domain/principal.ts"
import { type Judged, tellSubscribers } from "../subscriptions/matching.ts"
import type { FeedAppend, FeedAppended, FeedMessageInput } from "./feed.ts"

export interface AppendedBy {
  readonly principal: Principal
  /** How many turns led to it, each begun by what the one before had appended; 0 for whoever acts in no turn. */
  readonly hops: number
}
/** Of a message that is appended in a turn: one more than lead to the turn. */
export const hopsAfter = (hops = 0) => hops + 1

export type AppendRefusal =
  | { readonly refused: "not_found" | "archived" }
  | { readonly refused: "conflict"; readonly lastSeq: number }

interface Row {
  /** Of its message among those that were sent. */
  readonly place: number
  readonly seq: number
  readonly body: string
  readonly key: string | null
}

const bodyOf = ({ data, origin, tags = [], text }: FeedMessageInput) =>
  JSON.stringify({ text, tags, ...(data === undefined ? {} : { data }), ...(origin === undefined ? {} : { origin }) })

/** Where each key was, within 24 hours. */
const knownKeys = async (tx: Tx, space: string, feed: string, keys: ReadonlyArray<string>) => {
  if (keys.length === 0) return new Map<string, number>()
  const { rows } = await sql<{
    readonly key: string
    readonly seq: string
  }>`select m.dedupe_key as key, max(m.seq) as seq
    from feed_messages m
    where m.workspace = ${space}::uuid and m.feed = ${feed}::uuid and m.dedupe_key = any (${[...keys]}::text[])
      and m.appended_at > clock_timestamp() - make_interval(hours => ${limits.dedupeHours})
    group by 1`.execute(tx)
  return new Map(rows.map(({ key, seq }) => [key, Number(seq)]))
}

/** Numbers what is new; what has a key that is known gets the seq of that. `known` learns the new keys. */
const numbered = (messages: ReadonlyArray<FeedMessageInput>, lastSeq: number, known: Map<string, number>) => {
  const rows: Array<Row> = []
  const answers = messages.map((message, place): FeedAppended["messages"][number] => {
    const { dedupeKey } = message
    const before = dedupeKey === undefined ? undefined : known.get(dedupeKey)
    if (before !== undefined) return { seq: before, duplicate: true }
    const seq = lastSeq + rows.length + 1
    if (dedupeKey !== undefined) known.set(dedupeKey, seq)
    rows.push({ place, seq, body: bodyOf(message), key: dedupeKey ?? null })
    return { seq }
  })
  return { answers, rows }
}

/**
 * `judged`: what is known ahead of who matches (src/subscriptions/matching.ts, M1). `tellSubscribed` hears the ids of
 * the subscriptions that are told, once they are.
 */
export const appendMessages = async (
  tx: Tx,
  workspace: string,
  feedId: string,
  { expectedLastSeq, messages }: FeedAppend,
  { hops, principal }: AppendedBy,
  judged: Judged | undefined,
  tellSubscribed: (subscriptions: ReadonlyArray<string>) => void = () => {}
): Promise<FeedAppended | AppendRefusal> => {
  const space = toUuid(workspace)
  const feed = toUuid(feedId)
  const held = await tx
    .selectFrom("feeds")
    .select(["last_seq", "archived_at", "subscribers_rev"])
    .where("workspace", "=", space)
    .where("id", "=", feed)
    .forUpdate()
    .executeTakeFirst()
  if (held === undefined) return { refused: "not_found" }
  if (held.archived_at !== null) return { refused: "archived" }
  const lastSeq = Number(held.last_seq)
  if (expectedLastSeq !== undefined && expectedLastSeq !== lastSeq) return { refused: "conflict", lastSeq }
  const keys = messages.flatMap(({ dedupeKey }) => (dedupeKey === undefined ? [] : [dedupeKey]))
  const { answers, rows } = numbered(messages, lastSeq, await knownKeys(tx, space, feed, keys))
  const [first] = rows
  const last = rows.at(-1)
  if (first === undefined || last === undefined) return { messages: answers }
  await sql`with counted as (update feeds set last_seq = ${last.seq}
      where workspace = ${space}::uuid and id = ${feed}::uuid)
    insert into feed_messages (workspace, feed, seq, body, dedupe_key, principal, hops, appended_at)
    select ${space}::uuid, ${feed}::uuid, m.seq, m.body::json, m.key, ${JSON.stringify(principal)}::json, ${hops},
      clock_timestamp()
    from unnest(${rows.map(({ seq }) => seq)}::bigint[], ${rows.map(({ body }) => body)}::text[],
      ${rows.map(({ key }) => key)}::text[]) m (seq, body, key)`.execute(tx)
  const rev = Number(held.subscribers_rev)
  const seqs = new Map(rows.map(({ place, seq }) => [place, seq]))
  tellSubscribed(await tellSubscribers(tx, { workspace, feedId, rev, messages, seqs, principal }, judged))
  return { messages: answers, startSeq: first.seq, endSeq: last.seq }
}

/** The update waits for whoever holds the row, and sees what that has left (W1). */
const aloneText = `with counted as (
    update feeds set last_seq = last_seq + cardinality($3::text[])
    where workspace = $1::uuid and id = $2::uuid and archived_at is null and ($6::bigint is null or last_seq = $6)
      and subscribers_rev = $7::bigint
    returning last_seq - cardinality($3::text[]) as before),
  added as (insert into feed_messages (workspace, feed, seq, body, principal, hops, appended_at)
    select $1::uuid, $2::uuid, c.before + m.place, m.body::json, $4::json, $5::int, clock_timestamp()
    from counted c, unnest($3::text[]) with ordinality m (body, place))
  select before from counted`

/** By itself (W5). Undefined where nothing was written: `appendMessages` then says why, or writes it. */
export const appendAlone = Effect.fnUntraced(function* (
  database: Database["Service"],
  workspace: string,
  feedId: string,
  { expectedLastSeq, messages }: FeedAppend,
  { hops, principal }: AppendedBy,
  judged: Judged | undefined
) {
  if (messages.some(({ dedupeKey }) => dedupeKey !== undefined)) return undefined
  // Of a feed that nobody has subscribed to, nothing is remembered.
  const { hits, rev } = judged ?? { hits: [], rev: 0 }
  if (hits.length > 0) return undefined
  const values = [toUuid(workspace), toUuid(feedId), messages.map(bodyOf), JSON.stringify(principal), hops]
  const [row] = yield* database.read<{ readonly before: string }>({
    name: "feed_append",
    text: aloneText,
    values: [...values, expectedLastSeq ?? null, rev]
  })
  if (row === undefined) return undefined
  const before = Number(row.before)
  return {
    messages: messages.map((_, i) => ({ seq: before + i + 1 })),
    startSeq: before + 1,
    endSeq: before + messages.length
  }
})
