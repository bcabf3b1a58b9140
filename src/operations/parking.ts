/**
 * Parks a request: it becomes an operation that waits for approval.
 *
 * K1. While it is pending, the same request of the same credential is the same operation.
 * K2. A workspace has at most 1,000 that wait: whoever parks holds the workspace's lock, so that no two count at once.
 * K3. What is known by its id finds its operation also once that is over: what was decided is not asked again.
 */
import { sql } from "kysely"
import { hash } from "node:crypto"
import { toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { freshId } from "../seed.ts"
import { telling } from "../database/telling.ts"
import { announcement } from "../webhooks/event.ts"
import type { Db } from "../database/handle.ts"
import { type Operation, type OperationAction, operationLifeMs } from "./operation.ts"
import { unsuccessful } from "./outcomes.ts"
import { credentialOf, type Requester } from "./requester.ts"
import { operationColumns, type OperationRow, storedOperation } from "./rows.ts"

export interface ParkedRequest {
  /** Derived from what asks, where that may ask again after a crash (K3). */
  readonly id?: string
  readonly action: OperationAction
  /** Agent that it is about, else the one that asks. */
  readonly agentId: string | undefined
  readonly request: unknown
  readonly requester: Requester
}

/** Keys in order: a request is the same however its properties were arranged. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part
  )

const fingerprintOf = ({ action, request, requester: { credential, principal } }: ParkedRequest) =>
  hash("sha256", canonical([action, request, credential, principal.type, principal.id]), "base64url")

interface Parked {
  /** Undefined when the workspace has as many as it may. */
  readonly operation: Operation | undefined
  /**
   * What is written of operations: the new one, and the one that was in its way and has expired. Whoever parks tells of
   * them once they are committed.
   */
  readonly written: ReadonlyArray<Operation>
}

const columns = sql.raw(`${operationColumns.join(", ")}, false as late`)

/** The same request that nobody decided in time is out of the way (O1), and the workspace's lock is held (K2). */
const makeRoom = async (tx: Db, space: string, fingerprint: string): Promise<ReadonlyArray<Operation>> => {
  const { body, status } = unsuccessful("expired")
  const { rows } = await sql<OperationRow | { readonly id: null }>`with expired as (update operations
      set state = 'expired', resolved_at = expires_at, status = ${status}, body = ${JSON.stringify(body)}::json
      where workspace = ${space}::uuid and fingerprint = ${fingerprint} and state = 'pending' and expires_at <= now()
      returning ${columns})
    select expired.* from (select pg_advisory_xact_lock(hashtextextended('operations ' || ${space}, 0))) held
      left join expired on true`.execute(tx)
  return rows.flatMap((row) => (row.id === null ? [] : [storedOperation(row).operation]))
}

export const parkRequest = async (tx: Db, workspace: string, parked: ParkedRequest, at: number): Promise<Parked> => {
  const { action, agentId, request, requester } = parked
  const space = toUuid(workspace)
  const fingerprint = fingerprintOf(parked)
  const expired = await makeRoom(tx, space, fingerprint)
  const { id = freshId("operation") } = parked
  const news = announcement(
    workspace,
    "operation.created",
    { ...(agentId === undefined ? {} : { agentId }), operationId: id },
    at
  )
  const { rows } = await sql<OperationRow & { readonly fresh: boolean }>`with
    known as (select ${columns}, false as fresh from operations
      where workspace = ${space}::uuid
        and (id = ${toUuid(id)}::uuid or fingerprint = ${fingerprint} and state = 'pending')
      order by id = ${toUuid(id)}::uuid desc limit 1),
    waiting as (select count(*) as many from operations where workspace = ${space}::uuid and state = 'pending'
      and expires_at > now()),
    made as (insert into operations
      (workspace, id, action, agent, state, requested_by, created_at, expires_at, request, requester, fingerprint,
        credential)
      select ${space}::uuid, ${toUuid(id)}::uuid, ${action},
        ${agentId === undefined ? null : toUuid(agentId)}::uuid, 'pending',
          ${JSON.stringify(requester.principal)}::json,
        ${new Date(at)}, ${new Date(at + operationLifeMs)}, ${JSON.stringify(request)}::json,
        ${JSON.stringify(requester)}::json, ${fingerprint},
        ${toUuid(credentialOf(requester))}::uuid
      from waiting where many < ${limits.pendingOperations} and not exists (select from known)
      returning ${columns}, true as fresh),
    told as (select ${space}::uuid as workspace, ${toUuid(news.id)}::uuid as id, ${news.type}::text as type, agent,
      ${news.body}::text as body, created_at as at from made),
    ${sql.raw(telling("told"))}
    select * from known union all select * from made`.execute(tx)
  const [row] = rows
  const operation = row && storedOperation(row).operation
  return { operation, written: operation !== undefined && row?.fresh === true ? [...expired, operation] : expired }
}
