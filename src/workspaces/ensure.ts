/**
 * What a server needs before the first request: a workspace and a key.
 *
 * W1. Each `ensure…` may be called by many nodes at once and at every start: the first makes it, all
 *     others find it. A lock in the transaction holds them apart.
 */
import { Data } from "effect"
import { sql } from "kysely"
import { hashKey, parseKey } from "../keys/keyText.ts"
import type { Scope } from "../keys/apiKey.ts"
import { scopes as allScopes } from "../keys/scopes.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { freshId } from "../seed.ts"
import { createKey } from "../keys/rows.ts"
import type { Db } from "../database/handle.ts"

/** Any number, the same for every node of every version. */
const lock = 7_417_316_073

const alone = (tx: Db) => sql`select pg_advisory_xact_lock(${lock})`.execute(tx)

/** A key text that an operator set is not of the form `trp_…`, or was revoked, or belongs to another workspace. */
export class UnusableKey extends Data.TaggedError("UnusableKey")<{
  readonly reason: "malformed" | "revoked" | "elsewhere"
}> {
  override get message() {
    return this.reason === "malformed"
      ? "the key is not of the form trp_…: 8 characters, 32 characters, 6 characters of checksum"
      : this.reason === "revoked"
        ? "the key was revoked"
        : "the key belongs to another workspace"
  }
}

/** `wsp_…` of the workspace of that name. */
export const ensureWorkspace = async (tx: Db, name: string): Promise<string> => {
  await alone(tx)
  const found = await tx.selectFrom("workspaces").select("id").where("name", "=", name).executeTakeFirst()
  if (found) return fromUuid("workspace", found.id)
  const id = freshId("workspace")
  await tx
    .insertInto("workspaces")
    .values({ id: toUuid(id), name })
    .execute()
  return id
}

/** `key_…` of the key with that text, with all scopes unless told otherwise; a key that exists is left as it is. */
export const ensureKey = async (
  tx: Db,
  workspace: string,
  token: string,
  scopes: ReadonlyArray<Scope> = allScopes,
  name = "default"
): Promise<string> => {
  await alone(tx)
  const publicPart = parseKey(token)
  if (publicPart === undefined) throw new UnusableKey({ reason: "malformed" })
  const found = await tx
    .selectFrom("api_keys")
    .select(["workspace", "id", "hash", "revoked_at"])
    .where("public", "=", publicPart)
    .executeTakeFirst()
  if (found === undefined)
    return (await createKey(tx, workspace, { public: publicPart, hash: hashKey(token), name, scopes }, Date.now())).id
  if (found.workspace !== toUuid(workspace)) throw new UnusableKey({ reason: "elsewhere" })
  if (found.hash !== hashKey(token) || found.revoked_at !== null) throw new UnusableKey({ reason: "revoked" })
  return fromUuid("key", found.id)
}
