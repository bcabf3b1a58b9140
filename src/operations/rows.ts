/**
 * Operations as rows. So far every one is born resolved: what the interface answers is stored first,
 * so that the handle can be polled from the start. Parking comes with the approval policy.
 */
import { Schema } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import {
  type Operation,
  type OperationAction,
  operationLifeMs,
  type OperationResult,
  OperationState
} from "./operation.ts"
import { Principal } from "../domain/principal.ts"
import { toTimestamp } from "../domain/time.ts"
import { freshId } from "../seed.ts"
import type { Db } from "../database/handle.ts"
import { behind, type Position } from "../database/newestFirst.ts"

const readState = Schema.decodeUnknownSync(OperationState)
const isPrincipal = Schema.is(Principal)

const columns = [
  "id",
  "action",
  "agent",
  "state",
  "created_at",
  "expires_at",
  "resolved_at",
  "resolved_by",
  "status",
  "body"
] as const

interface Row {
  readonly id: string
  readonly action: string
  readonly agent: string | null
  readonly state: string
  readonly created_at: Date
  readonly expires_at: Date
  readonly resolved_at: Date | null
  readonly resolved_by: unknown
  readonly status: number | null
  readonly body: unknown
}

const operationOf = (row: Row): Operation => ({
  id: fromUuid("operation", row.id),
  action: row.action,
  ...(row.agent !== null && { agentId: fromUuid("agent", row.agent) }),
  state: readState(row.state),
  createdAt: toTimestamp(row.created_at.getTime()),
  expiresAt: toTimestamp(row.expires_at.getTime()),
  ...(row.resolved_at !== null && { resolvedAt: toTimestamp(row.resolved_at.getTime()) }),
  ...(isPrincipal(row.resolved_by) && { resolvedBy: row.resolved_by }),
  ...(row.status !== null && { result: { status: row.status, body: row.body } })
})

/** An operation that needed no approval: completed by the one who asked. */
export const createCompleted = async (
  tx: Db,
  workspace: string,
  operation: { readonly action: OperationAction; readonly by: Principal; readonly result: OperationResult },
  at: number
): Promise<Operation> => {
  const when = new Date(at)
  const by = JSON.stringify(operation.by)
  const row = {
    workspace: toUuid(workspace),
    id: toUuid(freshId("operation")),
    action: operation.action,
    agent: null,
    state: "completed",
    requested_by: by,
    created_at: when,
    expires_at: new Date(at + operationLifeMs),
    resolved_at: when,
    resolved_by: by,
    status: operation.result.status,
    body: JSON.stringify(operation.result.body)
  }
  await tx.insertInto("operations").values(row).execute()
  return operationOf({ ...row, resolved_by: operation.by, body: operation.result.body })
}

export const readOperation = async (db: Db, workspace: string, id: string): Promise<Operation | undefined> => {
  const row = await db
    .selectFrom("operations")
    .select(columns)
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .executeTakeFirst()
  return row && operationOf(row)
}

export const listOperations = async (
  db: Db,
  workspace: string,
  options: {
    readonly state: OperationState | undefined
    readonly action: string | undefined
    readonly agentId: string | undefined
    readonly after: Position | undefined
    readonly limit: number
  }
): Promise<ReadonlyArray<Operation>> => {
  const { action, agentId, state } = options
  let query = db.selectFrom("operations").select(columns).where("workspace", "=", toUuid(workspace))
  if (state !== undefined) query = query.where("state", "=", state)
  if (action !== undefined) query = query.where("action", "=", action)
  if (agentId !== undefined) query = query.where("agent", "=", toUuid(agentId))
  const rows = await query
    .where(behind("created_at", "id", options.after))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(options.limit)
    .execute()
  return rows.map(operationOf)
}
