/** Waits by their own ids or by their calls, open or over; and what clients owe the results of, oldest first. */
import { Effect } from "effect"
import { derive, fromUuid, toUuid } from "../domain/ids.ts"
import { admissionOf } from "../domain/once.ts"
import type { Database } from "../database/Database.ts"
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

const foundWait = ({ actor, body }: Pick<WaitColumns, "actor" | "body">): FoundWait => ({
  ...readWait(body),
  threadId: fromUuid("thread", actor)
})

const one = (database: Database["Service"], name: string, condition: string, workspace: string, id: string) =>
  Effect.map(
    database.read<WaitColumns>({
      name: `wait ${name}`,
      text: `select w.actor, w.body from waits w where w.workspace = $1 and ${condition}`,
      values: [toUuid(workspace), toUuid(id)]
    }),
    ([row]) => row && foundWait(row)
  )

export const findWait = (database: Database["Service"], workspace: string, waitId: string) =>
  one(database, "by id", "w.id = $2", workspace, waitId)

/**
 * The open wait of a call for somebody's decision. Its row names the call in its text only: the input that opened the
 * call's turn has the call's body but for its number, and its admission says in which thread to look.
 */
const findDecisionWait = (database: Database["Service"], workspace: string, toolCallId: string) =>
  Effect.map(
    database.read<WaitColumns>({
      name: "wait by call, of a decision",
      text: `select w.actor, w.body from facts f join waits w on w.workspace = $1 and w.actor = f.actor and w.state =
        'open' and w.call is null
        where f.once = $2 and strpos(w.body, $3) > 0`,
      values: [toUuid(workspace), toUuid(admissionOf(derive("turn", toolCallId, 0))), toolCallId]
    }),
    (rows) => rows.map(foundWait).find(({ wait }) => wait.toolCallId === toolCallId)
  )

/** The wait of this call for a client's result, open or over; where there is none, an open one for a decision. */
export const findCallWait = (database: Database["Service"], workspace: string, toolCallId: string) =>
  Effect.flatMap(one(database, "by call", "w.call = $2 and w.call is not null", workspace, toolCallId), (found) =>
    found === undefined ? findDecisionWait(database, workspace, toolCallId) : Effect.succeed(found)
  )

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
  const behind =
    after === undefined
      ? ""
      : ` and (w.created_at, w.id) > (to_timestamp($${values.push(after.at)}::float8 / 1000)::timestamptz(3), ` +
        `$${values.push(after.id)}::uuid)`
  return Effect.map(
    database.read<WaitColumns & { agent: string; created: number }>({
      name: `waits owed${filtered === "" ? "" : " by toolset"}${behind === "" ? "" : " after"}`,
      text: `select w.id, w.actor, w.body, h.parent as agent, (extract(epoch from w.created_at) * 1000)::float8 as
        created
        from waits w join heads h on h.workspace = w.workspace and h.id = w.actor
        where w.workspace = $1 and w.state = 'open' and w.call is not null${filtered}${behind} order by w.created_at,
          w.id limit $2`,
      values
    }),
    (rows) =>
      rows.map(
        ({ actor, agent, body, created }): OwedCall => ({
          threadId: fromUuid("thread", actor),
          agentId: fromUuid("agent", agent),
          createdAt: created,
          wait: readWait(body).wait
        })
      )
  )
}
