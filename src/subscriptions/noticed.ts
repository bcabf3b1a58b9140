/** Messages of a feed that a subscription looks at, by the ranges that it has noticed: a page of them. */
import { Schema } from "effect"
import { sql } from "kysely"
import type { Db } from "../database/handle.ts"
import { toUuid } from "../domain/ids.ts"
import { Principal } from "../domain/principal.ts"

export interface NoticedMessage {
  readonly seq: number
  readonly text: string
  readonly tags: ReadonlyArray<string>
  readonly data?: unknown
  readonly principal: Principal
  readonly hops: number
  /** Milliseconds. */
  readonly appendedAt: number
}

export interface SeenPage {
  readonly feed: { readonly name: string; readonly firstSeq: number }
  readonly messages: ReadonlyArray<NoticedMessage>
}

const readBody = Schema.decodeUnknownSync(
  Schema.Struct({
    text: Schema.String,
    tags: Schema.Array(Schema.String),
    data: Schema.optionalKey(Schema.Unknown)
  })
)
const readPrincipal = Schema.decodeUnknownSync(Principal)

interface Row {
  readonly name: string
  readonly first_seq: string
  /** Null where the page is empty. */
  readonly seq: string | null
  readonly body: unknown
  readonly principal: unknown
  readonly hops: number | null
  readonly appended_at: Date | null
}

/** Undefined where there is no such feed. */
export const readNoticed = async (
  db: Db,
  workspace: string,
  feedId: string,
  ranges: ReadonlyArray<{ readonly from: number; readonly to: number }>,
  limit: number
): Promise<SeenPage | undefined> => {
  const { rows } = await sql<Row>`select f.name, f.first_seq, m.seq, m.body, m.principal, m.hops, m.appended_at
    from feeds f left join lateral (
      select n.* from unnest(${ranges.map(({ from }) => from)}::bigint[], ${ranges.map(({ to }) => to)}::bigint[])
          with ordinality r (first, last, place)
        cross join lateral (select p.seq, p.body, p.principal, p.hops, p.appended_at from feed_messages p
          where p.workspace = f.workspace and p.feed = f.id and p.seq >= greatest(r.first, f.first_seq)
            and p.seq <= r.last
          order by p.seq limit ${limit}) n
      order by n.seq limit ${limit}) m on true
    where f.workspace = ${toUuid(workspace)}::uuid and f.id = ${toUuid(feedId)}::uuid
    order by m.seq`.execute(db)
  const [feed] = rows
  if (feed === undefined) return undefined
  const messages = rows.flatMap(({ appended_at, body, hops, principal, seq }): ReadonlyArray<NoticedMessage> => {
    if (appended_at === null || seq === null) return []
    const { data, tags, text } = readBody(body)
    return [
      {
        seq: Number(seq),
        text,
        tags,
        ...(data === undefined ? {} : { data }),
        principal: readPrincipal(principal),
        hops: hops ?? 0,
        appendedAt: appended_at.getTime()
      }
    ]
  })
  return { feed: { name: feed.name, firstSeq: Number(feed.first_seq) }, messages }
}
