/**
 * The decisions of hooks in a workspace, newest first: the hook_decision facts of its threads.
 *
 * Q1. Only these facts have a workspace, which their indexes begin with (migration 3).
 * Q2. A page looks at a bounded number of facts. What no index tells is filtered among those, so that a page may hold
 *     fewer decisions than there are, or none, and still say where the next one begins.
 */
import { Schema } from "effect"
import { sql } from "kysely"
import { HookDecisionEvent } from "../domain/event.ts"
import type { HookDecision } from "./decision.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { toTimestamp } from "../domain/time.ts"
import { readEvent } from "../journal/storedFact.ts"
import type { Db } from "../database/handle.ts"

/** A row's place: its time, its thread as a UUID, its place there. */
export interface DecisionPosition {
  readonly at: number
  readonly thread: string
  readonly pos: number
}

export interface DecisionFilter {
  readonly threadId?: string | undefined
  readonly agentId?: string | undefined
  readonly hookId?: string | undefined
  readonly point?: string | undefined
  readonly decision?: string | undefined
  /** RFC 3339; `from` included, `to` not. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

interface FoundDecision {
  readonly decision: HookDecision
  readonly position: DecisionPosition
}

interface Row {
  readonly actor: string
  readonly agent: string
  readonly turn: string
  readonly seq: number
  readonly pos: number
  readonly at: Date
  readonly event: string
}

const decode = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      hook: HookDecisionEvent,
      toolCallId: Schema.optionalKey(Schema.String),
      waitId: Schema.optionalKey(Schema.String)
    })
  )
)

const found = (row: Row): FoundDecision => {
  const { hook, ...ids } = decode(readEvent(row.event).event)
  return {
    decision: {
      ...hook,
      threadId: fromUuid("thread", row.actor),
      agentId: fromUuid("agent", row.agent),
      turnId: fromUuid("turn", row.turn),
      seq: row.seq,
      ...ids,
      occurredAt: toTimestamp(row.at.getTime()),
      enforced: hook.decision === "deny" || hook.decision === "ask" || hook.rewrote === true
    },
    position: { at: row.at.getTime(), thread: row.actor, pos: row.pos }
  }
}

export interface DecisionPage {
  readonly decisions: ReadonlyArray<HookDecision>
  /** Where the next page begins, if there is one. */
  readonly next?: DecisionPosition
}

/** Facts that a page looks at (Q2). */
const looked = 5_000

const older = (a: DecisionPosition, b: DecisionPosition | undefined): DecisionPosition => {
  if (b === undefined) return a
  const by = a.at - b.at || (a.thread < b.thread ? -1 : a.thread > b.thread ? 1 : a.pos - b.pos)
  return by < 0 ? a : b
}

/** What an index finds, newest first. Times of a thread never fall, so its facts come in the order of their places. */
const facts = (
  workspace: string,
  { from, hookId, threadId, to }: DecisionFilter,
  after: DecisionPosition | undefined
) => {
  if (threadId !== undefined) {
    const conditions = [
      sql`actor = ${toUuid(threadId)}::uuid`,
      ...(after === undefined ? [] : [sql`pos < ${after.pos}::int`])
    ]
    return sql`from facts where ${sql.join(conditions, sql` and `)} order by pos desc`
  }
  const conditions = [
    sql`workspace = ${toUuid(workspace)}::uuid`,
    // The expression that the index holds, word for word.
    ...(hookId === undefined ? [] : [sql`readable(event) -> 'hook' ->> 'hookId' = ${hookId}`]),
    ...(from === undefined ? [] : [sql`at >= ${new Date(from)}`]),
    ...(to === undefined ? [] : [sql`at < ${new Date(to)}`]),
    ...(after === undefined
      ? []
      : [sql`(at, actor, pos) < (${new Date(after.at)}::timestamptz, ${after.thread}::uuid, ${after.pos}::int)`])
  ]
  return sql`from facts where ${sql.join(conditions, sql` and `)} order by at desc, actor desc, pos desc`
}

/** At most `limit` behind a position. */
export const listHookDecisions = async (
  db: Db,
  workspace: string,
  filter: DecisionFilter,
  page: { readonly after: DecisionPosition | undefined; readonly limit: number }
): Promise<DecisionPage> => {
  const { agentId, decision, from, hookId, point, threadId, to } = filter
  const { after, limit } = page
  const seen = facts(workspace, filter, after)
  const narrowed = [
    ...(agentId === undefined ? [] : [sql`h.parent = ${toUuid(agentId)}::uuid`]),
    ...(point === undefined ? [] : [sql`d.hook ->> 'point' = ${point}`]),
    ...(decision === undefined ? [] : [sql`d.hook ->> 'decision' = ${decision}`]),
    ...(threadId === undefined
      ? []
      : [
          sql`f.workspace = ${toUuid(workspace)}::uuid`,
          ...(hookId === undefined ? [] : [sql`d.hook ->> 'hookId' = ${hookId}`]),
          ...(from === undefined ? [] : [sql`f.at >= ${new Date(from)}`]),
          ...(to === undefined ? [] : [sql`f.at < ${new Date(to)}`])
        ])
  ]
  const { rows } = await sql<Row>`
    select f.actor, h.parent as agent, f.turn, f.seq, f.pos, f.at, f.event
      from (select workspace, actor, turn, seq, pos, at, event ${seen} limit ${looked}) f
      join heads h on h.id = f.actor
      cross join lateral (select readable(f.event) -> 'hook' as hook offset 0) d
     where ${narrowed.length === 0 ? sql`true` : sql.join(narrowed, sql` and `)}
     order by f.at desc, f.actor desc, f.pos desc limit ${limit + 1}`.execute(db)
  const all = rows.map(found)
  const decisions = all.slice(0, limit).map(({ decision }) => decision)
  const last = all.slice(0, limit).at(-1)?.position
  if (all.length > limit && last !== undefined) return { decisions, next: last }
  if (narrowed.length === 0) return { decisions }
  const {
    rows: [end]
  } = await sql<Pick<Row, "actor" | "at" | "pos">>`select actor, at, pos ${seen} offset ${looked - 1} limit 1`.execute(
    db
  )
  // Decisions that were made in between have moved the end: none is left out, and none comes twice.
  return {
    decisions,
    ...(end !== undefined && { next: older({ at: end.at.getTime(), thread: end.actor, pos: end.pos }, last) })
  }
}
