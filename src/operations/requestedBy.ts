/** Who asked for an operation, as its row says. */
import { Schema } from "effect"
import type { Db } from "../database/handle.ts"
import { toUuid } from "../domain/ids.ts"
import { Principal } from "../domain/principal.ts"

const readPrincipal = Schema.decodeUnknownSync(Principal)

export const requestedBy = async (db: Db, workspace: string, id: string): Promise<Principal | undefined> => {
  const row = await db
    .selectFrom("operations")
    .select("requested_by")
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .executeTakeFirst()
  return row && readPrincipal(row.requested_by)
}
