/** What time leaves to do of operations: some expire, some were approved by a node that is gone, old ones go. */
import { sql } from "kysely"
import { fromUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import type { Db } from "../database/handle.ts"
import { type Operation, operationActions } from "./operation.ts"
import { unsuccessful } from "./outcomes.ts"
import { type OperationRow, storedOperation } from "./rows.ts"

/** Rows a statement: no long locks, no large transactions. */
const portion = 500

interface Owned {
  readonly workspace: string
  readonly id: string
}

/** Writes that nobody decided in time. The operations that it has written so. */
export const expireOperations = async (
  db: Db
): Promise<ReadonlyArray<{ readonly workspace: string; readonly operation: Operation }>> => {
  const { body, status } = unsuccessful("expired")
  const { rows } = await sql<OperationRow & { readonly workspace: string }>`update operations o
    set state = 'expired', resolved_at = o.expires_at, status = ${status}, body = ${JSON.stringify(body)}::json
    from (select workspace, id from operations where state = 'pending' and expires_at <= now()
      order by expires_at limit ${portion} for update skip locked) due
    where o.workspace = due.workspace and o.id = due.id
    returning o.workspace, o.id, action, agent, state, created_at, expires_at, resolved_at, resolved_by, status, body,
      request, requester, false as late`.execute(db)
  return rows.map((row) => ({
    workspace: fromUuid("workspace", row.workspace),
    operation: storedOperation(row).operation
  }))
}

/**
 * Approved for over ten seconds: whoever approved them has not carried them out. Those of a later version are its own.
 */
export const staleOperations = async (
  db: Db
): Promise<ReadonlyArray<{ readonly workspace: string; readonly id: string }>> => {
  const { rows } = await sql<Owned>`select workspace, id from operations
    where state = 'approved' and resolved_at < now() - interval '10 seconds' and action in
      (${sql.join(operationActions)})
    order by resolved_at limit 50`.execute(db)
  return rows.map(({ id, workspace }) => ({
    workspace: fromUuid("workspace", workspace),
    id: fromUuid("operation", id)
  }))
}

/** How many were old enough to go. */
export const forgetOperations = async (db: Db): Promise<number> => {
  const { numAffectedRows = 0n } = await sql`delete from operations where ctid = any (array(
    select ctid from operations where resolved_at < now() - make_interval(days => ${limits.operationDays})
      limit ${portion} for update skip locked))`.execute(db)
  return Number(numAffectedRows)
}
