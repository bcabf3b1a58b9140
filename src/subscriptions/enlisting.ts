/**
 * A feed knows its subscriptions: it has a place for one that is to be made, and what appends judge by.
 *
 * E1. A change of a row holds the feed's row and raises its revision: an append has either been judged by it, or
 *     ends before the seq that is told here. The same change told again is answered with the same seq. So is a change
 *     during a pause: nobody has judged what came since the pause began. Notices of appends before that seq were taken,
 *     or are in the inbox: the first message that those in the inbox name is told as well.
 * E2. Word of a change may be late, of a node that was taken for dead, or of a change before another one: it undoes
 *     nothing that the feed was told since, and brings nobody back who is deleted. How much was judged by then nobody
 *     knows any more: as if every message were on its way. (A node of an earlier version tells the feed of the end of a
 *     pause without the pause, and may leave before it hears.)
 * E3. A place is taken before the actor is born. A row whose actor was never born counts for a minute, and goes after
 *     an hour (src/subscriptions/forgetting.ts).
 * E4. Whoever is told of has a place, also where that was gone before it was born.
 */
import { sql } from "kysely"
import type { Db, Tx } from "../database/handle.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { firstUnderway } from "./underway.ts"

export interface SubscriberPlace {
  readonly id: string
  readonly agentId: string
  readonly feedId: string
}
export type NoPlace =
  | { readonly refused: "no_agent" | "agent_archived" | "no_feed" | "feed_archived" }
  | { readonly refused: "too_many"; readonly of: "agent" | "feed" }

const holdFeed = async (tx: Tx, space: string, feed: string) =>
  tx
    .selectFrom("feeds")
    .select(["last_seq", "archived_at"])
    .where("workspace", "=", space)
    .where("id", "=", feed)
    .forUpdate()
    .executeTakeFirst()

/** E3. */
const taken = async (tx: Tx, space: string, agent: string, feed: string) => {
  const { rows } = await sql<{ readonly of_agent: number; readonly of_feed: number }>`select
      count(*) filter (where s.agent = ${agent}::uuid)::int as of_agent,
      count(*) filter (where s.feed = ${feed}::uuid)::int as of_feed
    from subscribers s
    where s.workspace = ${space}::uuid and (s.agent = ${agent}::uuid or s.feed = ${feed}::uuid)
      and (s.created_at > clock_timestamp() - interval '1 minute'
        or exists (select from heads h where h.id = s.id and h.workspace = s.workspace))`.execute(tx)
  return rows[0] ?? { of_agent: 0, of_feed: 0 }
}

/** Takes a place, where it was not taken before. Answers with the feed's last seq. */
export const takePlace = async (
  tx: Tx,
  workspace: string,
  { agentId, feedId, id }: SubscriberPlace
): Promise<{ readonly lastSeq: number } | NoPlace> => {
  const space = toUuid(workspace)
  const agent = toUuid(agentId)
  const feed = toUuid(feedId)
  await sql`select pg_advisory_xact_lock(hashtextextended('subscriptions ' || ${agent}, 0))`.execute(tx)
  const owner = await tx
    .selectFrom("agents")
    .select("archived_at")
    .where("workspace", "=", space)
    .where("id", "=", agent)
    .executeTakeFirst()
  if (owner === undefined) return { refused: "no_agent" }
  if (owner.archived_at !== null) return { refused: "agent_archived" }
  const held = await holdFeed(tx, space, feed)
  if (held === undefined) return { refused: "no_feed" }
  if (held.archived_at !== null) return { refused: "feed_archived" }
  const lastSeq = Number(held.last_seq)
  const has = await tx
    .selectFrom("subscribers")
    .select("id")
    .where("workspace", "=", space)
    .where("feed", "=", feed)
    .where("id", "=", toUuid(id))
    .executeTakeFirst()
  if (has !== undefined) return { lastSeq }
  const { of_agent, of_feed } = await taken(tx, space, agent, feed)
  if (of_agent >= limits.subscriptionsPerAgent) return { refused: "too_many", of: "agent" }
  if (of_feed >= limits.subscriptionsPerFeed) return { refused: "too_many", of: "feed" }
  await sql`insert into subscribers (workspace, feed, id, agent, listed, include_self, created_at)
    values (${space}::uuid, ${feed}::uuid, ${toUuid(id)}::uuid, ${agent}::uuid, false, false,
      clock_timestamp())`.execute(tx)
  return { lastSeq }
}

export interface Enlisting {
  readonly id: string
  /** Of the change that the feed is told of. */
  readonly version: number
  readonly agentId: string
  readonly feedId: string
  /** Undefined where it is deleted. */
  readonly as:
    | { readonly listed: boolean; readonly condition: string | undefined; readonly includeSelf: boolean }
    | undefined
}

interface EnlistedRow {
  readonly told_seq: string | null
  readonly told_from: string | null
}

/** E1, E2. Undefined where there is no such feed. */
export const enlist = async (tx: Tx, workspace: string, { agentId, as, feedId, id, version }: Enlisting) => {
  const space = toUuid(workspace)
  const feed = toUuid(feedId)
  const held = await holdFeed(tx, space, feed)
  if (held === undefined) return undefined
  await sql`update feeds set subscribers_rev = subscribers_rev + 1
    where workspace = ${space}::uuid and id = ${feed}::uuid`.execute(tx)
  const own = toUuid(id)
  const { rows } = await (as === undefined
    ? sql<EnlistedRow>`delete from subscribers
          where workspace = ${space}::uuid and feed = ${feed}::uuid and id = ${own}::uuid
          returning null as told_seq, null as told_from`
    : sql<EnlistedRow>`insert into subscribers (workspace, feed, id, agent, listed, condition, include_self, created_at,
            told_version, told_seq)
          select ${space}::uuid, ${feed}::uuid, ${own}::uuid, ${toUuid(agentId)}::uuid, ${as.listed},
            ${as.condition ?? null}, ${as.includeSelf}, clock_timestamp(), ${version}::int, ${held.last_seq}::bigint
          where not exists (select from heads h
            where h.id = ${own}::uuid and h.workspace = ${space}::uuid and h.status = 'deleted')
          on conflict (workspace, feed, id) do update set listed = excluded.listed, condition = excluded.condition,
            include_self = excluded.include_self, told_version = excluded.told_version,
            told_seq = case when subscribers.told_version = excluded.told_version
              or not subscribers.listed and not excluded.listed then coalesce(subscribers.told_seq, excluded.told_seq)
              else excluded.told_seq end
          where subscribers.told_version is null or subscribers.told_version <= excluded.told_version
          returning told_seq, ${firstUnderway(sql`${space}::uuid`, sql`${own}::uuid`)} as told_from`
  ).execute(tx)
  // E2.
  const { told_from: from = as === undefined ? null : 1, told_seq: lastSeq = null } = rows[0] ?? {}
  return {
    lastSeq: Number(lastSeq ?? held.last_seq),
    ...(from === null ? {} : { from: Number(from) }),
    archived: held.archived_at !== null
  }
}

/** Tells the subscriptions of an archived feed, or agent, that they are disabled. Answers with their ids. */
export const disableAll = async (
  db: Db,
  workspace: string,
  of: { readonly feedId: string } | { readonly agentId: string }
): Promise<ReadonlyArray<string>> => {
  const space = toUuid(workspace)
  const [which, reason] =
    "feedId" in of
      ? [sql`s.feed = ${toUuid(of.feedId)}::uuid`, "feed_archived"]
      : [sql`s.agent = ${toUuid(of.agentId)}::uuid`, "agent_archived"]
  const command = JSON.stringify({ type: "disable", reason })
  const { rows } = await sql<{ readonly actor: string }>`insert into inbox (workspace, id, actor, kind, command)
    select s.workspace, s.id || ${` ${reason}`}, s.id, 'subscription', ${command} from subscribers s
    where s.workspace = ${space}::uuid and ${which}
      and exists (select from heads h where h.id = s.id and h.workspace = s.workspace)
    on conflict do nothing returning actor`.execute(db)
  return rows.map(({ actor }) => fromUuid("subscription", actor))
}
