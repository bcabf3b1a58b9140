/**
 * Webhooks as rows: made, merged, deleted, listed, their secrets rotated. Functions over a connection or a transaction.
 *
 * R1. `rev` rises by one with every change of what a client has said, and where the server disables; it is the ETag.
 * R2. Making one holds the workspace's lock: no two take the last place.
 * R3. Every change raises the auth revision: nodes ask again who wants to be told (Interest.ts).
 * R4. A disabled webhook has nothing pending.
 */
import { Result, type Schema } from "effect"
import { sql } from "kysely"
import { isDeepStrictEqual } from "node:util"
import type { Db } from "../database/handle.ts"
import { behind, type Position } from "../database/newestFirst.ts"
import { toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { mergePatch } from "../domain/mergePatch.ts"
import type { Principal } from "../domain/principal.ts"
import { strictly } from "../domain/strict.ts"
import { raiseAuthRevision } from "../keys/rows.ts"
import { freshId } from "../seed.ts"
import { columns, webhookInputOf, type Row, type StoredWebhook, stored } from "./shown.ts"
import { WebhookInput, type WebhookPatch } from "./webhook.ts"

export interface WebhookNotThere {
  readonly refused: "not_found" | "precondition"
}
export interface NoAgent {
  readonly refused: "agent_not_found"
}
export type WebhookPatchRefusal =
  | WebhookNotThere
  | NoAgent
  | { readonly refused: "invalid"; readonly cause: Schema.SchemaError }

const decodeInput = strictly(WebhookInput)

const selected = (db: Db, workspace: string) =>
  db.selectFrom("webhooks").select(columns).where("workspace", "=", toUuid(workspace))

const valuesOf = ({ agentId, description, enabled = true, events, url }: WebhookInput) => ({
  url,
  events: [...events],
  agent: agentId === undefined ? null : toUuid(agentId),
  description: description ?? null,
  enabled
})

const hasAgent = async (tx: Db, workspace: string, agentId: string | undefined) =>
  agentId === undefined ||
  (await tx
    .selectFrom("agents")
    .select("id")
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(agentId))
    .executeTakeFirst()) !== undefined

export const createWebhook = async (
  tx: Db,
  workspace: string,
  input: WebhookInput,
  by: Principal,
  sealed: (webhookId: string) => string,
  at: number
): Promise<StoredWebhook | NoAgent | { readonly refused: "too_many" }> => {
  const space = toUuid(workspace)
  await sql`select pg_advisory_xact_lock(hashtextextended('webhooks ' || ${space}, 0))`.execute(tx)
  const { count } = await tx
    .selectFrom("webhooks")
    .select(sql<number>`count(*)::int`.as("count"))
    .where("workspace", "=", space)
    .executeTakeFirstOrThrow()
  if (count >= limits.webhooks) return { refused: "too_many" }
  if (!(await hasAgent(tx, workspace, input.agentId))) return { refused: "agent_not_found" }
  const id = freshId("webhook")
  const made = await tx
    .insertInto("webhooks")
    .values({
      workspace: space,
      id: toUuid(id),
      ...valuesOf(input),
      sealed: sealed(id),
      created_at: new Date(at),
      created_by: JSON.stringify(by),
      updated_at: new Date(at)
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  await raiseAuthRevision(tx)
  return stored(made)
}

export const readWebhook = async (db: Db, workspace: string, id: string): Promise<StoredWebhook | undefined> => {
  const row = await selected(db, workspace).where("id", "=", toUuid(id)).executeTakeFirst()
  return row && stored(row)
}

export const listWebhooks = async (
  db: Db,
  workspace: string,
  { after, limit }: { readonly after: Position | undefined; readonly limit: number }
) => {
  const rows = await selected(db, workspace)
    .where(behind("created_at", "id", after))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute()
  return rows.map((row) => stored(row).webhook)
}

const held = async (
  tx: Db,
  workspace: string,
  id: string,
  fits: (rev: number) => boolean
): Promise<Row | WebhookNotThere> => {
  const row = await selected(tx, workspace).where("id", "=", toUuid(id)).forUpdate().executeTakeFirst()
  if (row === undefined) return { refused: "not_found" }
  return fits(row.rev) ? row : { refused: "precondition" }
}

/** R4. */
const failPending = (tx: Db, workspace: string, id: string) =>
  tx
    .updateTable("webhook_deliveries")
    .set({ state: "failed", last_error: "the webhook was disabled" })
    .where("workspace", "=", toUuid(workspace))
    .where("webhook", "=", toUuid(id))
    .where("state", "=", "pending")
    .execute()

/** One that changes nothing leaves `rev` as it is. Enabled again, or with another url, it counts its failures anew. */
export const patchWebhook = async (
  tx: Db,
  workspace: string,
  id: string,
  patch: WebhookPatch,
  fits: (rev: number) => boolean,
  at: number
): Promise<StoredWebhook | WebhookPatchRefusal> => {
  const found = await held(tx, workspace, id, fits)
  if ("refused" in found) return found
  const before = webhookInputOf(found)
  const decoded = decodeInput(mergePatch(before, patch))
  if (Result.isFailure(decoded)) return { refused: "invalid", cause: decoded.failure }
  const input = decoded.success
  if (isDeepStrictEqual(input, before)) return stored(found)
  if (!(await hasAgent(tx, workspace, input.agentId))) return { refused: "agent_not_found" }
  const anew = input.enabled !== false && !found.enabled
  const row = await tx
    .updateTable("webhooks")
    .set({
      ...valuesOf(input),
      ...(anew ? { disabled_reason: null } : {}),
      ...(anew || input.url !== found.url ? { failures: 0, failing_since: null } : {}),
      rev: found.rev + 1,
      updated_at: new Date(Math.max(at, found.updated_at.getTime()))
    })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .returning(columns)
    .executeTakeFirstOrThrow()
  if (!row.enabled) await failPending(tx, workspace, id)
  await raiseAuthRevision(tx)
  return stored(row)
}

/** The one that signs now goes on beside the new one for `overlapSeconds`. */
export const rotateWebhook = async (
  tx: Db,
  workspace: string,
  id: string,
  sealed: string,
  { at, overlapSeconds }: { readonly at: number; readonly overlapSeconds: number }
): Promise<StoredWebhook | undefined> => {
  const row = await tx
    .updateTable("webhooks")
    .set({
      previous: overlapSeconds === 0 ? null : sql<string>`sealed`,
      previous_until: overlapSeconds === 0 ? null : new Date(at + overlapSeconds * 1000),
      sealed,
      rev: sql`rev + 1`,
      updated_at: new Date(at)
    })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .returning(columns)
    .executeTakeFirst()
  return row && stored(row)
}

export const deleteWebhook = async (
  tx: Db,
  workspace: string,
  id: string,
  fits: (rev: number) => boolean
): Promise<WebhookNotThere | undefined> => {
  const found = await held(tx, workspace, id, fits)
  if ("refused" in found) return found
  const [space, webhook] = [toUuid(workspace), toUuid(id)]
  await tx.deleteFrom("webhooks").where("workspace", "=", space).where("id", "=", webhook).execute()
  await tx.deleteFrom("webhook_deliveries").where("workspace", "=", space).where("webhook", "=", webhook).execute()
  await raiseAuthRevision(tx)
  return undefined
}
