/**
 * Operations as rows: read and listed, and born resolved where nothing parks.
 *
 * O1. A pending one whose time is over is expired at every look, by the database's clock, whether or not the chore that
 *     writes so has been there.
 */
import { Schema } from "effect"
import { sql } from "kysely"
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
import { rightsOf } from "../keys/rows.ts"
import type { Db } from "../database/handle.ts"
import { behind, type Position } from "../database/newestFirst.ts"
import { type ResolvedState, unsuccessful } from "./outcomes.ts"
import { Requester } from "./requester.ts"

/** An operation with what only some may see. */
export interface StoredOperation {
  /** Without `request` and `requestedBy`. */
  readonly operation: Operation
  /** The action's parameters. */
  readonly request: unknown
  /** Undefined for one that never parked. */
  readonly requester: Requester | undefined
}

const readState = Schema.decodeUnknownSync(OperationState)
const readRequester = Schema.decodeUnknownSync(Requester)
const isPrincipal = Schema.is(Principal)

/** O1. */
const isLate = sql<boolean>`state = 'pending' and expires_at <= now()`

export const operationColumns = [
  "id",
  "action",
  "agent",
  "state",
  "created_at",
  "expires_at",
  "resolved_at",
  "resolved_by",
  "status",
  "body",
  "request",
  "requester"
] as const

export interface OperationRow {
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
  readonly request: unknown
  readonly requester: unknown
  readonly late: boolean
}

export const storedOperation = (row: OperationRow): StoredOperation => {
  const { late } = row
  const resolvedAt = late ? row.expires_at : row.resolved_at
  const result = late ? unsuccessful("expired") : row.status !== null && { status: row.status, body: row.body }
  return {
    operation: {
      id: fromUuid("operation", row.id),
      action: row.action,
      ...(row.agent !== null && { agentId: fromUuid("agent", row.agent) }),
      state: late ? "expired" : readState(row.state),
      createdAt: toTimestamp(row.created_at.getTime()),
      expiresAt: toTimestamp(row.expires_at.getTime()),
      ...(resolvedAt !== null && { resolvedAt: toTimestamp(resolvedAt.getTime()) }),
      ...(isPrincipal(row.resolved_by) && { resolvedBy: row.resolved_by }),
      ...(result && { result })
    },
    request: row.request,
    requester: row.requester === null ? undefined : readRequester(row.requester)
  }
}

/** An operation that needed no approval: completed by the one who asked. */
export const createCompleted = async (
  tx: Db,
  workspace: string,
  operation: {
    readonly action: OperationAction
    /** Agent that it is about, else the one that asked. */
    readonly agentId?: string | undefined
    readonly by: Principal
    readonly result: OperationResult
  },
  at: number
): Promise<Operation> => {
  const when = new Date(at)
  const by = JSON.stringify(operation.by)
  const row = {
    workspace: toUuid(workspace),
    id: toUuid(freshId("operation")),
    action: operation.action,
    agent: operation.agentId === undefined ? null : toUuid(operation.agentId),
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
  return storedOperation({
    ...row,
    resolved_by: operation.by,
    body: operation.result.body,
    request: null,
    requester: null,
    late: false
  }).operation
}

export const readOperation = async (db: Db, workspace: string, id: string): Promise<StoredOperation | undefined> => {
  const row = await db
    .selectFrom("operations")
    .select(operationColumns)
    .select(isLate.as("late"))
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .executeTakeFirst()
  return row && storedOperation(row)
}

/** An operation with what has become of the credential that asked for it. */
export interface HeldOperation extends StoredOperation {
  readonly credential: {
    /** Revoked or past its end, or of an agent that is archived. */
    readonly isOver: boolean
    /** Of a key. */
    readonly scopes: ReadonlyArray<string>
  }
}

/** Held until the transaction ends: nobody else decides it meanwhile. */
export const holdOperation = async (tx: Db, workspace: string, id: string): Promise<HeldOperation | undefined> => {
  const row = await tx
    .selectFrom("operations as o")
    .leftJoin("api_keys as k", (join) =>
      join.onRef("k.workspace", "=", "o.workspace").onRef("k.id", "=", "o.credential")
    )
    .leftJoin("agents as a", (join) => join.onRef("a.workspace", "=", "o.workspace").onRef("a.id", "=", "o.credential"))
    .select(operationColumns.map((column) => `o.${column}` as const))
    .select(sql<boolean>`o.state = 'pending' and o.expires_at <= now()`.as("late"))
    // Null where a key never ends.
    .select(
      sql<boolean>`case when k.id is not null then k.revoked_at is not null or coalesce(k.expires_at <= now(), false)
        else a.id is null or a.archived_at is not null end`.as("over")
    )
    .select(["k.kind", "k.scopes", "k.trigger"])
    .where("o.workspace", "=", toUuid(workspace))
    .where("o.id", "=", toUuid(id))
    .forUpdate("o")
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { kind, scopes, trigger } = row
  const held = kind === null || scopes === null ? [] : rightsOf({ kind, scopes, trigger }).scopes
  return { ...storedOperation(row), credential: { isOver: row.over, scopes: held } }
}

/** Moves one that is held: `result` in states that nothing leaves. */
export const resolveOperation = async (
  tx: Db,
  workspace: string,
  id: string,
  to: { readonly state: ResolvedState; readonly by: Principal | undefined; readonly result?: OperationResult },
  at: number
): Promise<StoredOperation> => {
  const { by, result, state } = to
  const row = await tx
    .updateTable("operations")
    .set({
      state,
      ...(result !== undefined && { status: result.status, body: JSON.stringify(result.body) }),
      ...(by !== undefined && { resolved_by: JSON.stringify(by) }),
      // When it left `pending`: what was approved before keeps its moment.
      resolved_at: sql<Date>`coalesce(resolved_at, ${new Date(at)})`
    })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .returning(operationColumns)
    .executeTakeFirstOrThrow()
  return storedOperation({ ...row, late: false })
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
): Promise<ReadonlyArray<StoredOperation>> => {
  const { action, agentId, state } = options
  let query = db
    .selectFrom("operations")
    .select(operationColumns)
    .select(isLate.as("late"))
    .where("workspace", "=", toUuid(workspace))
  if (state === "expired") query = query.where(sql<boolean>`(state = 'expired' or (${isLate}))`)
  else if (state !== undefined) query = query.where("state", "=", state).where(sql<boolean>`not (${isLate})`)
  if (action !== undefined) query = query.where("action", "=", action)
  if (agentId !== undefined) query = query.where("agent", "=", toUuid(agentId))
  const rows = await query
    .where(behind("created_at", "id", options.after))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(options.limit)
    .execute()
  return rows.map(storedOperation)
}
