/** Whether a thread may be what a subscription or a schedule sends to. */
import { sql } from "kysely"
import type { Db } from "../database/handle.ts"
import { toUuid } from "../domain/ids.ts"

/** Undefined where the agent has no such thread. */
export const targetThread = async (
  db: Db,
  workspace: string,
  agentId: string,
  threadId: string
): Promise<{ readonly archived: boolean } | undefined> => {
  const { rows } = await sql<{ readonly archived: boolean }>`select
      exists (select from archived_threads a where a.workspace = h.workspace and a.thread = h.id) as archived
    from heads h
    where h.workspace = ${toUuid(workspace)}::uuid and h.id = ${toUuid(threadId)}::uuid and h.kind = 'thread'
      and h.parent = ${toUuid(agentId)}::uuid
      and not exists (select from deleted_threads d where d.workspace = h.workspace and d.thread = h.id)`.execute(db)
  return rows[0]
}
