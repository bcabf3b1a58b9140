/**
 * What whoever asked must still be: asked again when what they asked for is carried out. Their credential may have been
 * revoked or have ended, their agent archived since.
 */
import { sql } from "kysely"
import { toUuid } from "../domain/ids.ts"
import type { Scope } from "../keys/apiKey.ts"
import type { Db } from "../database/handle.ts"
import type { Requester } from "./requester.ts"

/** Why it may not be carried out any more. */
export type LostRight = "credential_ended" | "scope_missing" | "agent_archived"

const ofKey = async (db: Db, workspace: string, keyId: string, scope: Scope): Promise<LostRight | undefined> => {
  const row = await db
    .selectFrom("api_keys")
    .select("scopes")
    .select(sql<boolean | null>`revoked_at is not null or expires_at <= now()`.as("over"))
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(keyId))
    .executeTakeFirst()
  // Null where it never ends.
  if (row === undefined || row.over === true) return "credential_ended"
  return row.scopes.includes(scope) ? undefined : "scope_missing"
}

const ofAgent = async (db: Db, workspace: string, agentId: string): Promise<LostRight | undefined> => {
  const row = await db
    .selectFrom("agents")
    .select("archived_at")
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(agentId))
    .executeTakeFirst()
  return row?.archived_at === null ? undefined : "agent_archived"
}

export const lostRight = (db: Db, workspace: string, { credential }: Requester, scope: Scope) =>
  credential.type === "key" ? ofKey(db, workspace, credential.keyId, scope) : ofAgent(db, workspace, credential.agentId)
