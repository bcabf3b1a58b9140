/**
 * Connections as rows: what may be shown, and beside it the sealed secret.
 *
 * C1. `rev` rises by one with every change; it is the ETag, and what If-Match is held against under a row lock.
 * C2. A connection that a toolset names, or a hook of a version by which a turn could begin, is not deleted. The maker
 *     of such a reference holds the row first (`holdConnection`), so that no delete comes between.
 * C3. A secret is only ever replaced by one of the same kind: what was checked of it when it was referred to stays
 *     true.
 */
import { Schema } from "effect"
import {
  type Connection,
  ConnectionContent,
  type ConnectionInput,
  type ConnectionKind,
  type ConnectionPatch,
  knowsWhere,
  splitSecret
} from "./connection.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { mergePatch } from "../domain/mergePatch.ts"
import type { Principal } from "../domain/principal.ts"
import { toTimestamp } from "../domain/time.ts"
import { freshId } from "../seed.ts"
import type { Db } from "../database/handle.ts"
import { behind, type Position } from "../database/newestFirst.ts"
import { isNamed } from "../database/profileUses.ts"

export interface StoredConnection {
  readonly connection: Connection
  readonly rev: number
}

/** Nothing says where its secret may be sent. */
export interface NoHosts {
  readonly refused: "no_hosts"
}
export interface ConnectionPatchRefusal {
  readonly refused: "not_found" | "precondition" | "other_kind" | NoHosts["refused"]
}
export interface DeleteRefusal {
  readonly refused: "not_found" | "precondition" | "in_use"
}

/** Encrypts a secret for the connection of that id. */
export type Seal = (connectionId: string, plain: string) => string

export const readConnectionContent = Schema.decodeUnknownSync(ConnectionContent)

const columns = ["id", "body", "rev", "created_at", "updated_at", "last_used_at"] as const

interface Row {
  readonly id: string
  readonly body: unknown
  readonly rev: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_used_at: Date | null
}

const storedOf = (row: Row): StoredConnection => {
  const { createdBy, ...content } = readConnectionContent(row.body)
  return {
    connection: {
      id: fromUuid("connection", row.id),
      ...content,
      status: "active",
      createdAt: toTimestamp(row.created_at.getTime()),
      createdBy,
      updatedAt: toTimestamp(row.updated_at.getTime()),
      ...(row.last_used_at !== null && { lastUsedAt: toTimestamp(row.last_used_at.getTime()) })
    },
    rev: row.rev
  }
}

const connections = (db: Db, workspace: string) =>
  db.selectFrom("connections").select(columns).where("workspace", "=", toUuid(workspace))

export const createConnection = async (
  tx: Db,
  workspace: string,
  { secret, ...content }: ConnectionInput,
  createdBy: Principal,
  seal: Seal,
  at: number
): Promise<StoredConnection | NoHosts> => {
  const id = freshId("connection")
  const { plain, shown } = splitSecret(secret)
  const body: ConnectionContent = { ...content, ...shown, createdBy }
  if (!knowsWhere(body)) return { refused: "no_hosts" }
  const row = { id: toUuid(id), rev: 1, created_at: new Date(at), updated_at: new Date(at), last_used_at: null }
  await tx
    .insertInto("connections")
    .values({ ...row, workspace: toUuid(workspace), body: JSON.stringify(body), sealed: seal(id, plain) })
    .execute()
  return storedOf({ ...row, body })
}

export const readConnection = async (db: Db, workspace: string, id: string): Promise<StoredConnection | undefined> => {
  const row = await connections(db, workspace).where("id", "=", toUuid(id)).executeTakeFirst()
  return row && storedOf(row)
}

/**
 * The kind of a connection that something is about to refer to, kept until the transaction ends (C2); undefined where
 * there is none.
 */
export const holdConnection = async (tx: Db, workspace: string, id: string): Promise<ConnectionKind | undefined> => {
  const row = await connections(tx, workspace).where("id", "=", toUuid(id)).forKeyShare().executeTakeFirst()
  return row && readConnectionContent(row.body).kind
}

const locked = (tx: Db, workspace: string, id: string) =>
  connections(tx, workspace).select("sealed").where("id", "=", toUuid(id)).forUpdate().executeTakeFirst()

/** One that changes nothing leaves `rev` as it is; a new secret is always a change. */
export const patchConnection = async (
  tx: Db,
  workspace: string,
  id: string,
  { secret, ...patch }: ConnectionPatch,
  fits: (rev: number) => boolean,
  seal: Seal,
  at: number
): Promise<StoredConnection | ConnectionPatchRefusal> => {
  const row = await locked(tx, workspace, id)
  if (row === undefined) return { refused: "not_found" }
  if (!fits(row.rev)) return { refused: "precondition" }
  const before = readConnectionContent(row.body)
  const written = secret && splitSecret(secret)
  if (written !== undefined && written.shown.kind !== before.kind) return { refused: "other_kind" }
  const { last4, ...kept } = before
  const shown = written === undefined ? { ...(last4 !== undefined && { last4 }) } : written.shown
  const content = readConnectionContent({ ...mergePatch(kept, patch), ...shown })
  // One from before it had to say may be renamed, but gets no new secret.
  if (!knowsWhere(content) && (written !== undefined || knowsWhere(before))) return { refused: "no_hosts" }
  const body = JSON.stringify(content)
  if (written === undefined && body === JSON.stringify(readConnectionContent({ ...kept, ...shown })))
    return storedOf(row)
  const next = { rev: row.rev + 1, updated_at: new Date(Math.max(at, row.updated_at.getTime())) }
  await tx
    .updateTable("connections")
    .set({ ...next, body, ...(written !== undefined && { sealed: seal(id, written.plain) }) })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .execute()
  return storedOf({ ...row, ...next, body: content })
}

const toolsetNames = async (tx: Db, workspace: string, id: string) => {
  const found = await tx
    .selectFrom("toolsets")
    .select("id")
    .where("workspace", "=", toUuid(workspace))
    .where("connection", "=", toUuid(id))
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Deletes it for good, its secret with it (C2). */
export const deleteConnection = async (
  tx: Db,
  workspace: string,
  id: string,
  fits: (rev: number) => boolean
): Promise<DeleteRefusal | undefined> => {
  const row = await locked(tx, workspace, id)
  if (row === undefined) return { refused: "not_found" }
  if (!fits(row.rev)) return { refused: "precondition" }
  if ((await toolsetNames(tx, workspace, id)) || (await isNamed(tx, workspace, id))) return { refused: "in_use" }
  await tx.deleteFrom("connections").where("workspace", "=", toUuid(workspace)).where("id", "=", toUuid(id)).execute()
  return undefined
}

export const listConnections = async (
  db: Db,
  workspace: string,
  options: { readonly after: Position | undefined; readonly limit: number }
): Promise<ReadonlyArray<Connection>> => {
  const rows = await connections(db, workspace)
    .where(behind("created_at", "id", options.after))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(options.limit)
    .execute()
  return rows.map((row) => storedOf(row).connection)
}
