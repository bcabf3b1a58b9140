/**
 * Events of webhooks as rows: an event, and a delivery for each endpoint that wants it, come into being together with
 * what they tell of, or not at all. Nothing is written where nobody wants to know.
 */
import { type RawBuilder, sql } from "kysely"
import type { Db } from "../database/handle.ts"
import { toUuid } from "../domain/ids.ts"
import type { Announcement } from "./event.ts"

/** For a `where`: the endpoint `k` wants the event of that row. */
const wants = (row: string) =>
  `k.workspace = ${row}.workspace and k.enabled and ${row}.type = any (k.events) and
    (k.agent is null or k.agent = ${row}.agent)`

/**
 * Parts of a `with`: `source` is the name of one before them that has workspace, id, type, agent, body and at. An event
 * that has been told of before is not told of again.
 */
export const telling = (source: string) => `announced as (insert into webhook_events
    (workspace, id, type, agent, body, created_at)
  select e.workspace, e.id, e.type, e.agent, e.body, e.at from ${source} e
  where exists (select from webhooks k where ${wants("e")})
  on conflict (workspace, id) do nothing
  returning workspace, id, type, agent, created_at),
delivering as (insert into webhook_deliveries (workspace, id, webhook, event, state, next_at, created_at)
  select e.workspace, md5(k.id::text || e.id::text)::uuid, k.id, e.id, 'pending', e.created_at, e.created_at
  from announced e join webhooks k on ${wants("e")})`

const rowsOf = (workspace: string, events: ReadonlyArray<Announcement>): RawBuilder<unknown> =>
  sql.join(
    events.map(
      ({ agentId, at, body, id, type }) =>
        sql`(${toUuid(workspace)}::uuid, ${toUuid(id)}::uuid, ${type}::text,
          ${agentId === undefined ? null : toUuid(agentId)}::uuid, ${body}::text, ${new Date(at)}::timestamptz(3))`
    )
  )

/** Tells of what a transaction does, in it. */
export const announce = async (tx: Db, workspace: string, events: ReadonlyArray<Announcement>): Promise<void> => {
  if (events.length === 0) return
  await sql`with told (workspace, id, type, agent, body, at) as (values ${rowsOf(workspace, events)}),
    ${sql.raw(telling("told"))} select 1`.execute(tx)
}
