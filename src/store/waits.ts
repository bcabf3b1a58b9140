/** Waits by their own ids or by their calls, open or over; and what clients owe the results of, oldest first. */
import { Effect } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { Database } from "./Database.ts"
import { readWait, type StoredWait } from "./waitRow.ts"

export interface FoundWait extends StoredWait {
  readonly threadId: string
}

/** A call that a client has to execute. */
export interface OwedCall extends Pick<FoundWait, "threadId" | "wait"> {
  readonly agentId: string
  readonly createdAt: number
}

interface WaitColumns {
  id: string
  actor: string
  body: string
}

const one = (database: Database["Service"], name: string, condition: string, workspace: string, id: string) =>
  Effect.map(
    database.read<WaitColumns>({
      name: `wait ${name}`, text: `select w.actor, w.body from waits w where w.workspace = $1 and ${condition}`, values: [toUuid(workspace), toUuid(id)]
    }),
    ([row]): FoundWait | undefined => row && { ...readWait(row.body), threadId: fromUuid("thread", row.actor) }
  )

export const findWait = (database: Database["Service"], workspace: string, waitId: string) => one(database, "by id", "w.id = $2", workspace, waitId)

/** The wait for a client's result of this call. What else a call has waited for is not found by it. */
export const findCallWait = (database: Database["Service"], workspace: string, toolCallId: string) =>
  one(database, "by call", "w.call = $2 and w.call is not null", workspace, toolCallId)

export interface OwedQuery {
  readonly workspace: string
  readonly toolsetId?: string | undefined
  /** The last one of the page before: its createdAt, and its id as a UUID. */
  readonly after: { readonly at: number; readonly id: string } | undefined
  readonly limit: number
}

export const listOwedCalls = (database: Database["Service"], { after, limit, toolsetId, workspace }: OwedQuery) => {
  const values: Array<unknown> = [toUuid(workspace), limit]
  const filtered = toolsetId === undefined ? "" : ` and w.toolset = $${values.push(toUuid(toolsetId))}`
  const behind = after === undefined
    ? ""
    : ` and (w.created_at, w.id) > (to_timestamp($${values.push(after.at)}::float8 / 1000)::timestamptz(3), $${values.push(after.id)}::uuid)`
  return Effect.map(
    database.read<WaitColumns & { agent: string; created: number }>({
      name: `waits owed${filtered === "" ? "" : " by toolset"}${behind === "" ? "" : " after"}`,
      text: `select w.id, w.actor, w.body, h.parent as agent, (extract(epoch from w.created_at) * 1000)::float8 as created
        from waits w join heads h on h.workspace = w.workspace and h.id = w.actor
        where w.workspace = $1 and w.state = 'open' and w.call is not null${filtered}${behind} order by w.created_at, w.id limit $2`,
      values
    }),
    (rows) => rows.map(({ actor, agent, body, created }): OwedCall => ({
      threadId: fromUuid("thread", actor), agentId: fromUuid("agent", agent), createdAt: created, wait: readWait(body).wait
    }))
  )
}
