/**
 * Events of webhooks as rows: an event, and a delivery for each endpoint that wants it, come into being together with
 * what they tell of, or not at all. Nothing is written where nobody wants to know.
 */
import { type RawBuilder, sql } from "kysely"
import type { Db } from "../database/handle.ts"
import { telling } from "../database/telling.ts"
import { toUuid } from "../domain/ids.ts"
import type { Announcement } from "./event.ts"

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
