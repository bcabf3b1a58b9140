/**
 * Messages of a feed as they are read: a page, with where the feed begins and ends at that time.
 *
 * R1. One statement: what it finds of the feed and of its messages is of one moment.
 * R2. A page ends at 4 MiB, or where the reader wants it to, with one message at least.
 */
import { Schema } from "effect"
import { sql } from "kysely"
import type { Db } from "../database/handle.ts"
import { toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { Origin, Principal } from "../domain/principal.ts"
import { toTimestamp } from "../domain/time.ts"
import type { FeedMessage } from "./feed.ts"

export interface MessageQuery {
  readonly startSeq?: number
  readonly endSeq?: number
  readonly tailOffset?: number
  readonly limit: number
  /** That a page may have, where it is not as many as usual. */
  readonly bytes?: number
}
export interface MessagePage {
  readonly messages: ReadonlyArray<FeedMessage>
  readonly nextSeq?: number
  /** Seq that the page has begun at, or would have. */
  readonly from: number
  readonly lastSeq: number
  readonly archived: boolean
}

const readBody = Schema.decodeUnknownSync(
  Schema.Struct({
    text: Schema.String,
    tags: Schema.Array(Schema.String),
    data: Schema.optionalKey(Schema.Unknown),
    origin: Schema.optionalKey(Origin)
  })
)
const readPrincipal = Schema.decodeUnknownSync(Principal)

interface Row {
  readonly first_seq: string
  readonly last_seq: string
  readonly archived: boolean
  /** Null where the page is empty. */
  readonly seq: string | null
  readonly body: unknown
  readonly dedupe_key: string | null
  readonly principal: unknown
  readonly appended_at: Date | null
}

const messageOf = (feedId: string, row: Row, appendedAt: Date): FeedMessage => {
  const { data, origin, tags, text } = readBody(row.body)
  return {
    seq: Number(row.seq),
    feedId,
    text,
    tags,
    ...(data === undefined ? {} : { data }),
    ...(row.dedupe_key === null ? {} : { dedupeKey: row.dedupe_key }),
    principal: readPrincipal(row.principal),
    ...(origin === undefined ? {} : { origin }),
    appendedAt: toTimestamp(appendedAt.getTime())
  }
}

const most = Number.MAX_SAFE_INTEGER

/** Undefined where there is no such feed. */
export const readMessages = async (
  db: Db,
  workspace: string,
  feedId: string,
  { bytes = limits.pageBytes, endSeq = most, limit, startSeq, tailOffset }: MessageQuery
): Promise<MessagePage | undefined> => {
  const start = sql`greatest(f.first_seq,
    ${tailOffset === undefined ? sql`${startSeq ?? 0}::bigint` : sql`f.last_seq - ${tailOffset - 1}::bigint`})`
  const { rows } = await sql<Row>`select f.first_seq, f.last_seq, f.archived_at is not null as archived, m.seq, m.body,
      m.dedupe_key, m.principal, m.appended_at
    from feeds f
    left join lateral (select * from (
        select p.*, sum(octet_length(p.body::text)) over (order by p.seq) as bytes, row_number() over (order by p.seq)
          as place
        from (select n.seq, n.body, n.dedupe_key, n.principal, n.appended_at from feed_messages n
          where n.workspace = f.workspace and n.feed = f.id and n.seq >= ${start} and n.seq <= ${endSeq}
          order by n.seq limit ${limit}) p
      ) m where m.place = 1 or m.bytes <= ${bytes}) m on true
    where f.workspace = ${toUuid(workspace)}::uuid and f.id = ${toUuid(feedId)}::uuid
    order by m.seq`.execute(db)
  const [feed] = rows
  if (feed === undefined) return undefined
  const lastSeq = Number(feed.last_seq)
  const wantedFrom = tailOffset === undefined ? (startSeq ?? 0) : lastSeq - tailOffset + 1
  const found = rows.flatMap((row) => (row.appended_at === null ? [] : [messageOf(feedId, row, row.appended_at)]))
  const messages = withinPage(found, bytes)
  const end = messages.at(-1)?.seq
  return {
    messages,
    ...(end !== undefined && end < Math.min(endSeq, lastSeq) ? { nextSeq: end + 1 } : {}),
    from: Math.max(Number(feed.first_seq), wantedFrom),
    lastSeq,
    archived: feed.archived
  }
}

/** R2, of the messages as they are sent. */
const withinPage = (messages: ReadonlyArray<FeedMessage>, most: number) => {
  let bytes = 0
  const over = messages.findIndex((message, at) => {
    bytes += Buffer.byteLength(JSON.stringify(message)) + 1
    return at > 0 && bytes > most
  })
  return over === -1 ? messages : messages.slice(0, over)
}
