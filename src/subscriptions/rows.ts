/** Subscriptions as they are read: what the actor's head keeps, and how far it has come in its feed (progress.ts). */
import { Schema } from "effect"
import { type RawBuilder, sql } from "kysely"
import type { Db } from "../database/handle.ts"
import type { Position } from "../database/newestFirst.ts"
import { long } from "../database/shorthand.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Principal } from "../domain/principal.ts"
import { type DisabledReason, SubscriptionSettings } from "../domain/subscription.ts"
import { toTimestamp } from "../domain/time.ts"
import { nextCron } from "../schedules/cron.ts"
import { type FeedProgress, OwnProgress, progressOf } from "./progress.ts"
import type { Subscription } from "./subscription.ts"
import { firstUnderway } from "./underway.ts"

/** What is read of the actor's carry. */
const readCarry = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      version: Schema.Int,
      updatedAt: Schema.Number,
      settings: SubscriptionSettings,
      until: Schema.NullOr(Schema.Number),
      threadId: Schema.NullOr(Schema.String),
      turnId: Schema.NullOr(Schema.String),
      ...OwnProgress.fields
    })
  )
)

const readAttributes = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ createdBy: Principal })))

export interface StoredSubscription {
  readonly subscription: Subscription
  readonly version: number
  readonly settings: SubscriptionSettings
  /** As its actor has it, which may not have heard yet of the end of its feed or agent. */
  readonly switchedOn: boolean
  readonly feed: { readonly lastSeq: number; readonly archived: boolean }
  readonly agentArchived: boolean
  readonly position: Position
}

interface Row {
  readonly id: string
  readonly agent: string
  readonly feed: string
  readonly created_at: Date
  /** When its place was taken: the order of lists. */
  readonly placed_at: Date
  readonly attributes: string
  readonly carry: string
  readonly name: string
  readonly archived_at: Date | null
  readonly last_seq: string
  /** Seq up to which appends were judged for it. */
  readonly judged_seq: string
  readonly last_at: Date | null
  readonly agent_archived_at: Date | null
  /** Seq of the first message whose notice is in the inbox. */
  readonly told_from: string | null
  readonly now: Date
}

const forced = (disabled: DisabledReason | null, row: Row): DisabledReason | null =>
  disabled ?? (row.archived_at !== null ? "feed_archived" : row.agent_archived_at !== null ? "agent_archived" : null)

/** What the row says of the feed. */
const feedOf = (row: Row): FeedProgress => ({
  lastSeq: Number(row.last_seq),
  judgedSeq: Number(row.judged_seq),
  lastAt: row.last_at?.getTime(),
  underway: row.told_from === null ? undefined : Number(row.told_from)
})

/** A cadence that waits for instants has a next one whatever comes. */
const instantOf = ({ cadence }: SubscriptionSettings, now: number) =>
  cadence.mode === "schedule" ? (nextCron(cadence.expression, cadence.timezone, now) ?? null) : null

const stored = (workspace: string, row: Row): StoredSubscription => {
  const now = row.now.getTime()
  const carry = readCarry(long(row.carry))
  const { settings, threadId, turnId } = carry
  const { condition = "", intent = "", name, ...rest } = settings
  const id = fromUuid("subscription", row.id)
  const disabled = forced(carry.disabled, row)
  const lastSeq = Number(row.last_seq)
  const { cursor, last } = progressOf(carry, feedOf(row))
  const reason = last !== null && "reason" in last ? last.reason : undefined
  const nextAt = disabled === null ? (carry.retryAt ?? carry.until ?? instantOf(settings, now)) : null
  return {
    version: carry.version,
    settings,
    switchedOn: carry.disabled === null,
    feed: { lastSeq, archived: row.archived_at !== null },
    agentArchived: row.agent_archived_at !== null,
    position: { at: row.placed_at.getTime(), id: row.id },
    subscription: {
      id,
      agentId: fromUuid("agent", row.agent),
      workspaceId: workspace,
      feedId: fromUuid("feed", row.feed),
      feedName: row.name,
      ...(row.archived_at === null ? {} : { feedArchivedAt: toTimestamp(row.archived_at.getTime()) }),
      ...(name === undefined ? {} : { name }),
      ...rest,
      condition,
      intent,
      enabled: disabled === null,
      ...(disabled === null || disabled === "requested" ? {} : { disabledReason: disabled }),
      cursor,
      pendingCount: Math.max(0, lastSeq - cursor),
      createdAt: toTimestamp(row.created_at.getTime()),
      updatedAt: toTimestamp(carry.updatedAt),
      createdBy: readAttributes(long(row.attributes)).createdBy,
      ...(last === null ? {} : { lastEvaluatedAt: toTimestamp(last.at), lastStatus: last.status }),
      ...(reason === undefined ? {} : { lastReason: reason }),
      ...(threadId === null ? {} : { lastThreadId: threadId }),
      ...(turnId === null ? {} : { lastTurnId: turnId }),
      ...(nextAt === null ? {} : { nextAt: toTimestamp(nextAt) })
    }
  }
}

const selecting = (space: string, which: RawBuilder<unknown>, limit: number) => sql<Row>`select s.id, s.agent, s.feed,
    now() as now, h.created_at, s.created_at as placed_at, h.attributes, h.carry, f.name, f.archived_at, f.last_seq,
      a.archived_at as agent_archived_at,
    (select m.appended_at from feed_messages m
      where m.workspace = f.workspace and m.feed = f.id and m.seq = f.last_seq) as last_at,
    ${firstUnderway(sql`s.workspace`, sql`s.id`)} as told_from,
    case when s.listed then f.last_seq else coalesce(s.told_seq, f.last_seq) end as judged_seq
  from subscribers s
  join heads h on h.id = s.id and h.workspace = s.workspace
  join feeds f on f.workspace = s.workspace and f.id = s.feed
  join agents a on a.workspace = s.workspace and a.id = s.agent
  where s.workspace = ${space}::uuid and h.kind = 'subscription' and h.status <> 'deleted' and ${which}
  order by s.created_at desc, s.id desc limit ${limit}`

export const readSubscription = async (
  db: Db,
  workspace: string,
  id: string
): Promise<StoredSubscription | undefined> => {
  const { rows } = await selecting(toUuid(workspace), sql`s.id = ${toUuid(id)}::uuid`, 1).execute(db)
  const [row] = rows
  return row && stored(workspace, row)
}

export interface SubscriptionQuery {
  readonly agentId: string | undefined
  readonly feedId: string | undefined
  readonly after: Position | undefined
  readonly limit: number
}

/** Newest first. */
export const listSubscriptions = async (
  db: Db,
  workspace: string,
  { after, agentId, feedId, limit }: SubscriptionQuery
): Promise<ReadonlyArray<StoredSubscription>> => {
  const which = sql.join(
    [
      agentId === undefined ? sql`true` : sql`s.agent = ${toUuid(agentId)}::uuid`,
      feedId === undefined ? sql`true` : sql`s.feed = ${toUuid(feedId)}::uuid`,
      after === undefined
        ? sql`true`
        : sql`(s.created_at, s.id) < (${new Date(after.at)}::timestamptz, ${after.id}::uuid)`
    ],
    sql` and `
  )
  const { rows } = await selecting(toUuid(workspace), which, limit).execute(db)
  return rows.map((row) => stored(workspace, row))
}

/** Whose subscription it is; undefined where there is none. */
export const agentOfSubscription = async (db: Db, workspace: string, id: string): Promise<string | undefined> => {
  const row = await db
    .selectFrom("subscribers")
    .select("agent")
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .executeTakeFirst()
  return row && fromUuid("agent", row.agent)
}

/** Whether it was changed by a request that is known by that name, whatever has become of it since. */
export const wasChanged = async (db: Db, workspace: string, id: string, change: string): Promise<boolean> => {
  const { rows } = await sql`select from facts f join heads h on h.id = f.actor
    where h.workspace = ${toUuid(workspace)}::uuid and f.actor = ${toUuid(id)}::uuid
      and readable(f.event) ->> 'change' = ${change} limit 1`.execute(db)
  return rows.length > 0
}
