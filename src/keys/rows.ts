/**
 * API keys as rows: issued, read, listed, revoked. What authentication reads of them is `postgres.ts`.
 *
 * Whoever revokes raises the auth revision in the same transaction (Keys.ts, K2).
 *
 * L1. A key that was revoked makes no other: whoever issues one holds the row of the key that makes it, so that a
 *     revoke of a whole lineage waits for what is being made, and finds it.
 */
import { Schema } from "effect"
import { sql } from "kysely"
import { type ApiKey, KeyKind, Scope, TriggerContent } from "./apiKey.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Principal } from "../domain/principal.ts"
import { toTimestamp } from "../domain/time.ts"
import { freshId } from "../seed.ts"
import type { Db } from "../database/handle.ts"
import { seeIdentity } from "../identities/rows.ts"
import { behind, type Position } from "../database/newestFirst.ts"

export interface KeyToStore {
  /** The eight characters that find the row. */
  readonly public: string
  /** SHA-256 of the whole text, in hex. */
  readonly hash: string
  readonly name: string
  readonly kind?: KeyKind
  readonly scopes: ReadonlyArray<Scope>
  /** Of a key of kind trigger. */
  readonly trigger?: Omit<TriggerContent, "scopes">
  readonly identity?: string
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  /** Of one that takes the place of another: the key that stood there first. */
  readonly firstId?: string
  /** Absent for keys that an operator's command made. */
  readonly by?: Principal
}

const readScopes = Schema.decodeUnknownSync(Schema.Array(Scope))
const readKind = Schema.decodeUnknownSync(KeyKind)
const readTrigger = Schema.decodeUnknownSync(TriggerContent)
const isPrincipal = Schema.is(Principal)

/**
 * As whom and for what a key is taken. The row of a trigger names no scopes: what it may do is `trigger`, which a node
 * of the version before does not read (migration 11).
 */
export const rightsOf = (row: Pick<Row, "kind" | "scopes" | "trigger">) => {
  const principal = readKind(row.kind)
  if (row.trigger === null) return { principal, scopes: readScopes(row.scopes) }
  const trigger = readTrigger(row.trigger)
  return { principal, scopes: trigger.scopes, trigger }
}

const columns = [
  "id",
  "name",
  "kind",
  "scopes",
  "trigger",
  "identity",
  "created_at",
  "created_by",
  "expires_at",
  "last_used_at"
] as const

interface Row {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly scopes: ReadonlyArray<string>
  readonly trigger: unknown
  readonly identity: string | null
  readonly created_at: Date
  readonly created_by: unknown
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
}

const keyOf = (row: Row): ApiKey => {
  const { principal, scopes, trigger } = rightsOf(row)
  const { scopes: _, ...ofTrigger } = trigger ?? {}
  return {
    id: fromUuid("key", row.id),
    name: row.name,
    kind: principal,
    scopes,
    ...(row.identity !== null && { identity: row.identity }),
    ...ofTrigger,
    createdAt: toTimestamp(row.created_at.getTime()),
    ...(isPrincipal(row.created_by) && { createdBy: row.created_by }),
    ...(row.expires_at !== null && { expiresAt: toTimestamp(row.expires_at.getTime()) }),
    ...(row.last_used_at !== null && { lastUsedAt: toTimestamp(row.last_used_at.getTime()) })
  }
}

export const createKey = async (tx: Db, workspace: string, key: KeyToStore, at: number): Promise<ApiKey> => {
  if (key.identity !== undefined) await seeIdentity(tx, workspace, key.identity, at)
  const trigger = key.trigger && { ...key.trigger, scopes: key.scopes }
  const row = {
    workspace: toUuid(workspace),
    id: toUuid(freshId("key")),
    public: key.public,
    hash: key.hash,
    name: key.name,
    kind: key.kind ?? "api_key",
    scopes: trigger === undefined ? [...key.scopes] : [],
    trigger: trigger === undefined ? null : JSON.stringify(trigger),
    identity: key.identity ?? null,
    created_at: new Date(at),
    created_by: key.by === undefined ? null : JSON.stringify(key.by),
    expires_at: key.expiresAt === undefined ? null : new Date(key.expiresAt),
    last_used_at: null,
    revoked_at: null,
    first: key.firstId === undefined ? null : toUuid(key.firstId)
  }
  await tx.insertInto("api_keys").values(row).execute()
  return keyOf({ ...row, trigger: trigger ?? null, created_by: key.by })
}

/** Raises the auth revision: every node asks again for what it holds of keys and identities. */
export const raiseAuthRevision = async (tx: Db): Promise<void> => {
  await tx.updateTable("auth_revision").set({ revision: sql`revision + 1` }).execute()
}

/** Holds the row of a key until the transaction ends (L1); false where it was revoked. */
export const holdKey = async (tx: Db, workspace: string, id: string): Promise<boolean> => {
  const row = await tx
    .selectFrom("api_keys")
    .select("revoked_at")
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .forShare()
    .executeTakeFirst()
  return row !== undefined && row.revoked_at === null
}

/**
 * Keys by their ids, those that are not revoked, held until the transaction ends: nobody revokes or rotates one of
 * them meanwhile. In one order, so that keys that rotate each other do not wait for each other. Each with the id of the
 * key that stood in its place first.
 */
export const lockKeys = async (
  tx: Db,
  workspace: string,
  ids: ReadonlyArray<string>
): Promise<ReadonlyMap<string, { readonly key: ApiKey; readonly firstId: string }>> => {
  const rows = await tx
    .selectFrom("api_keys")
    .select([...columns, "first"])
    .where("workspace", "=", toUuid(workspace))
    .where("id", "in", ids.map(toUuid))
    .where("revoked_at", "is", null)
    .orderBy("id")
    .forUpdate()
    .execute()
  return new Map(
    rows.map((row) => [fromUuid("key", row.id), { key: keyOf(row), firstId: fromUuid("key", row.first ?? row.id) }])
  )
}

/** The key ends then (Keys.ts, K2). */
export const endKey = async (tx: Db, workspace: string, id: string, at: number): Promise<void> => {
  await tx
    .updateTable("api_keys")
    .set({ expires_at: new Date(at) })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .execute()
  await raiseAuthRevision(tx)
}

/**
 * The keys that this one has made, and those that they have made, and so on: also past keys that were revoked before.
 */
const lineageOf = (workspace: string, id: string) => sql<{ id: string }>`with recursive lineage as (
    select ${toUuid(id)}::uuid as id
    union
    select k.id from lineage l join api_keys k on k.workspace = ${toUuid(workspace)} and k.created_by ->> 'id' = 'key_'
      || id_body(l.id))
  select id from lineage`

/** False when there was nothing to revoke: no such key, or it was revoked before; with `descendants`, they too. */
export const revokeKey = async (
  tx: Db,
  workspace: string,
  id: string,
  at: number,
  descendants = false
): Promise<boolean> => {
  let any = false
  for (;;) {
    const ids = descendants ? (await lineageOf(workspace, id).execute(tx)).rows.map((row) => row.id) : [toUuid(id)]
    const revoked = await tx
      .updateTable("api_keys")
      .set({ revoked_at: new Date(at) })
      .where("workspace", "=", toUuid(workspace))
      .where("id", "in", ids)
      .where("revoked_at", "is", null)
      .executeTakeFirst()
    if (revoked.numUpdatedRows === 0n) break
    any = true
    // One of them may have been making another, which the update has waited for (L1): it is found by the next look.
    if (!descendants) break
  }
  if (any) await raiseAuthRevision(tx)
  return any
}

/** A key that is not revoked. */
export const readKey = async (db: Db, workspace: string, id: string): Promise<ApiKey | undefined> => {
  const row = await db
    .selectFrom("api_keys")
    .select(columns)
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .where("revoked_at", "is", null)
    .executeTakeFirst()
  return row && keyOf(row)
}

/** Keys that are not revoked, newest first; expired ones stay until they are deleted. */
export const listKeys = async (
  db: Db,
  workspace: string,
  options: { readonly after: Position | undefined; readonly limit: number }
): Promise<ReadonlyArray<ApiKey>> => {
  const rows = await db
    .selectFrom("api_keys")
    .select(columns)
    .where("workspace", "=", toUuid(workspace))
    .where("revoked_at", "is", null)
    .where(behind("created_at", "id", options.after))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(options.limit)
    .execute()
  return rows.map(keyOf)
}
