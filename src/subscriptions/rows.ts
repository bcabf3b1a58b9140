/**
 * Subscriptions as they are read: what the actor's head keeps, with what its feed has come to since.
 *
 * R1. One that has nothing in hand has dealt with all that its feed holds: those messages were judged when they were
 *     appended, and did not match.
 * R2. What is on its way to the actor is in hand.
 * R3. Until its feed hears of a change, it has dealt with what was judged before that all the same.
 */
import { Schema } from "effect"
import { type RawBuilder, sql } from "kysely"
import type { Db } from "../database/handle.ts"
import type { Position } from "../database/newestFirst.ts"
import { long } from "../database/shorthand.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Principal } from "../domain/principal.ts"
import { DisabledReason, PassedReason, SubscriptionSettings } from "../domain/subscription.ts"
import { toTimestamp } from "../domain/time.ts"
import { nextCron } from "../schedules/cron.ts"
import type { Subscription } from "./subscription.ts"
import { firstUnderway } from "./underway.ts"

/** What is read of the actor's carry. */
const readCarry = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      version: Schema.Int,
      updatedAt: Schema.Number,
      settings: SubscriptionSettings,
      disabled: Schema.NullOr(DisabledReason),
      cursor: Schema.Int,
      listing: Schema.NullOr(
        Schema.Struct({
          looks: Schema.Boolean,
          since: Schema.optionalKey(Schema.Int),
          settles: Schema.optionalKey(Schema.Boolean)
        })
      ),
      noticed: Schema.Array(Schema.Unknown),
      until: Schema.NullOr(Schema.Number),
      batch: Schema.NullOr(Schema.Unknown),
      retryAt: Schema.NullOr(Schema.Number),
      threadId: Schema.NullOr(Schema.String),
      turnId: Schema.NullOr(Schema.String),
      last: Schema.NullOr(
        Schema.Struct({
          at: Schema.Number,
          status: Schema.Literals(["escalated", "dismissed", "failed"]),
          reason: Schema.optionalKey(PassedReason)
        })
      )
    })
  )
)
type Carry = ReturnType<typeof readCarry>

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
  readonly last_at: Date | null
  readonly agent_archived_at: Date | null
  /** Seq of the first message whose notice is on its way. */
  readonly told_from: string | null
  readonly now: Date
}

const forced = (disabled: DisabledReason | null, row: Row): DisabledReason | null =>
  disabled ?? (row.archived_at !== null ? "feed_archived" : row.agent_archived_at !== null ? "agent_archived" : null)

/** R1 to R3: where it stands, and what became of the last messages. */
const standing = ({ batch, cursor, disabled, last, listing, noticed, retryAt }: Carry, row: Row) => {
  const lastSeq = Number(row.last_seq)
  const told = row.told_from === null ? undefined : Number(row.told_from)
  if (batch !== null || noticed.length > 0 || retryAt !== null) return { cursor, last }
  const judged = told === undefined ? lastSeq : told - 1
  // R3.
  const unread = listing?.since ?? (listing?.looks === true ? cursor : undefined)
  if (unread !== undefined) return { cursor: Math.max(cursor, Math.min(unread, judged)), last }
  if (disabled !== null) return { cursor: listing?.settles === true ? Math.max(cursor, judged) : cursor, last }
  if (told !== undefined) return { cursor: Math.max(cursor, told - 1), last }
  const isOwn = lastSeq <= cursor || row.last_at === null
  return {
    cursor: lastSeq,
    last: isOwn || row.last_at === null ? last : { at: row.last_at.getTime(), status: "dismissed" as const }
  }
}

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
  const { cursor, last } = standing(carry, row)
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
    ${firstUnderway(sql`s.workspace`, sql`s.id`)} as told_from
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
