/**
 * The decisions of hooks in a workspace, newest first: the hook_decision facts of its threads.
 *
 * Q1. Of all facts only these have a workspace, which their indexes begin with (migration 3).
 */
import { Schema } from "effect"
import { sql } from "kysely"
import { HookDecisionEvent } from "../domain/event.ts"
import type { HookDecision } from "../domain/hookDecision.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { toTimestamp } from "../domain/time.ts"
import { readEvent } from "../journal/storedFact.ts"
import type { Connection } from "./Connection.ts"

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

export interface FoundDecision {
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

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({
  hook: HookDecisionEvent,
  toolCallId: Schema.optionalKey(Schema.String),
  waitId: Schema.optionalKey(Schema.String)
})))

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

/** At most `limit` behind a position. */
export const listHookDecisions = async (
  db: Connection, workspace: string, filter: DecisionFilter, page: { readonly after: DecisionPosition | undefined; readonly limit: number }
): Promise<ReadonlyArray<FoundDecision>> => {
  const { agentId, decision, from, hookId, point, threadId, to } = filter
  const { after, limit } = page
  const field = (name: string) => sql`readable(f.event) -> 'hook' ->> ${sql.lit(name)}`
  const conditions = [
    sql`f.workspace = ${toUuid(workspace)}::uuid`,
    ...threadId === undefined ? [] : [sql`f.actor = ${toUuid(threadId)}::uuid`],
    ...agentId === undefined ? [] : [sql`h.parent = ${toUuid(agentId)}::uuid`],
    ...hookId === undefined ? [] : [sql`${field("hookId")} = ${hookId}`],
    ...point === undefined ? [] : [sql`${field("point")} = ${point}`],
    ...decision === undefined ? [] : [sql`${field("decision")} = ${decision}`],
    ...from === undefined ? [] : [sql`f.at >= ${new Date(from)}`],
    ...to === undefined ? [] : [sql`f.at < ${new Date(to)}`],
    ...after === undefined ? [] : [sql`(f.at, f.actor, f.pos) < (${new Date(after.at)}::timestamptz, ${after.thread}::uuid, ${after.pos}::int)`]
  ]
  const { rows } = await sql<Row>`select f.actor, h.parent as agent, f.turn, f.seq, f.pos, f.at, f.event
    from facts f join heads h on h.id = f.actor
    where ${sql.join(conditions, sql` and `)}
    order by f.at desc, f.actor desc, f.pos desc limit ${limit}`.execute(db)
  return rows.map(found)
}
