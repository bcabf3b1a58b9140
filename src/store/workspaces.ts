/**
 * What a server needs before the first request: a workspace, a key, a profile and an agent to talk to.
 *
 * W1. Each `ensure…` may be called by many nodes at once and at every start: the first makes it, all
 *     others find it. A lock in the transaction holds them apart.
 */
import { Data } from "effect"
import { sql } from "kysely"
import { hashKey, parseKey } from "../crypto/apiKey.ts"
import { type Scope, scopes as allScopes } from "../domain/apiKey.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { freshId } from "../seed.ts"
import { createAgent } from "./agents.ts"
import { createKey } from "./apiKeys.ts"
import type { Connection } from "./Connection.ts"
import { createProfile } from "./profiles.ts"

/** Any number, the same for every node of every version. */
const lock = 7_417_316_073

const alone = (tx: Connection) => sql`select pg_advisory_xact_lock(${lock})`.execute(tx)

/** A key text that an operator set is not of the form `trp_…`, or was revoked, or belongs to another workspace. */
export class UnusableKey extends Data.TaggedError("UnusableKey")<{ readonly reason: "malformed" | "revoked" | "elsewhere" }> {
  override get message() {
    return this.reason === "malformed"
      ? "the key is not of the form trp_…: 8 characters, 32 characters, 6 characters of checksum"
      : this.reason === "revoked" ? "the key was revoked" : "the key belongs to another workspace"
  }
}

/** `wsp_…` of the workspace of that name. */
export const ensureWorkspace = async (tx: Connection, name: string): Promise<string> => {
  await alone(tx)
  const found = await tx.selectFrom("workspaces").select("id").where("name", "=", name).executeTakeFirst()
  if (found) return fromUuid("workspace", found.id)
  const id = freshId("workspace")
  await tx.insertInto("workspaces").values({ id: toUuid(id), name }).execute()
  return id
}

/** `key_…` of the key with that text, with all scopes unless told otherwise; a key that exists is left as it is. */
export const ensureKey = async (
  tx: Connection, workspace: string, token: string, scopes: ReadonlyArray<Scope> = allScopes, name = "default"
): Promise<string> => {
  await alone(tx)
  const publicPart = parseKey(token)
  if (publicPart === undefined) throw new UnusableKey({ reason: "malformed" })
  const found = await tx.selectFrom("api_keys").select(["workspace", "id", "hash", "revoked_at"]).where("public", "=", publicPart).executeTakeFirst()
  if (found === undefined) return (await createKey(tx, workspace, { public: publicPart, hash: hashKey(token), name, scopes }, Date.now())).id
  if (found.workspace !== toUuid(workspace)) throw new UnusableKey({ reason: "elsewhere" })
  if (found.hash !== hashKey(token) || found.revoked_at !== null) throw new UnusableKey({ reason: "revoked" })
  return fromUuid("key", found.id)
}

/** An agent over the scripted model, for the first message of a newcomer: made once, in a workspace without agents. */
export const ensureDemo = async (tx: Connection, workspace: string): Promise<{ readonly profileId: string; readonly agentId: string }> => {
  await alone(tx)
  const oldest = await tx.selectFrom("agents").select(["id", "profile"]).where("workspace", "=", toUuid(workspace))
    .orderBy("archived_at", (o) => o.desc().nullsFirst()).orderBy("created_at").orderBy("id").limit(1).executeTakeFirst()
  if (oldest) return { profileId: fromUuid("profile", oldest.profile), agentId: fromUuid("agent", oldest.id) }
  const at = Date.now()
  const profile = await createProfile(tx, workspace, {
    name: "Demo", description: "Answers from a script: no key and no network needed.", models: ["troupe/scripted"]
  }, at)
  const made = await createAgent(tx, workspace, { name: "Demo", profileId: profile.id, tags: ["demo"] }, at)
  if ("refused" in made) throw new Error(`the demo agent was refused: ${made.refused}`)
  return { profileId: profile.id, agentId: made.agent.id }
}
