/**
 * Roles as rows. The built-in ones have none: they are found here beside those of the workspace.
 *
 * O1. At most 64 a workspace (`quotas/counts.ts`).
 * O2. `rev` rises by one with every change; it is the ETag. A patch that changes nothing changes no `rev`.
 * O3. Every change and delete raises the auth revision in the same transaction: no node goes on with the
 *     role as it was for longer than a beat.
 * O4. A role in use stays: whoever lists one in a profile holds its row (`missingRole`), whoever deletes
 *     it looks for uses behind that lock.
 */
import { Result, Schema } from "effect"
import { sql } from "kysely"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { strictly } from "../domain/strict.ts"
import { limits } from "../domain/limits.ts"
import { mergePatch } from "../domain/mergePatch.ts"
import { Principal } from "../domain/principal.ts"
import { builtInRole, builtInRoles, Denial, Grant, type Role, RoleInput, type RolePatch } from "./role.ts"
import { toTimestamp } from "../domain/time.ts"
import { freshId } from "../seed.ts"
import { raiseAuthRevision } from "../keys/rows.ts"
import type { Db } from "../database/handle.ts"
import { isQuotaFull } from "../quotas/counts.ts"
import { behind, type Position } from "../database/newestFirst.ts"
import { isNamed } from "../database/profileUses.ts"

export interface StoredRole {
  readonly role: Role
  readonly rev: number
}

export interface NotChangeable {
  readonly refused: "not_found" | "built_in" | "precondition"
}
export type RolePatchRefusal = NotChangeable | { readonly refused: "invalid"; readonly cause: Schema.SchemaError }

const RoleBody = Schema.Struct({
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  allow: Schema.Array(Grant),
  deny: Schema.Array(Denial)
})
type RoleBody = typeof RoleBody.Type
export const readRoleBody = Schema.decodeUnknownSync(RoleBody)
const readPrincipal = Schema.decodeUnknownSync(Principal)
const decodeInput = strictly(RoleInput)

const columns = ["id", "body", "rev", "created_at", "updated_at", "created_by"] as const

interface Row {
  readonly id: string
  readonly body: unknown
  readonly rev: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly created_by: unknown
}

const stored = (row: Row): StoredRole => ({
  rev: row.rev,
  role: {
    id: fromUuid("role", row.id),
    ...readRoleBody(row.body),
    createdAt: toTimestamp(row.created_at.getTime()),
    updatedAt: toTimestamp(row.updated_at.getTime()),
    createdBy: readPrincipal(row.created_by)
  }
})

const bodyOf = ({ allow = [], deny = [], description, name }: RoleInput): RoleBody => ({
  name,
  ...(description !== undefined && { description }),
  allow,
  deny
})

const one = (db: Db, workspace: string, id: string) =>
  db.selectFrom("roles").select(columns).where("workspace", "=", toUuid(workspace)).where("id", "=", toUuid(id))

const among = (ids: ReadonlyArray<string>) => sql<boolean>`id = any(${ids.map(toUuid)}::uuid[])`

/** Undefined where the workspace is full (O1). */
export const createRole = async (
  tx: Db,
  workspace: string,
  input: RoleInput,
  by: Principal,
  at: number
): Promise<StoredRole | undefined> => {
  if (await isQuotaFull(tx, workspace, "roles", limits.rolesPerWorkspace)) return undefined
  const body = bodyOf(input)
  const when = new Date(at)
  const row = { id: toUuid(freshId("role")), rev: 1, created_at: when, updated_at: when }
  await tx
    .insertInto("roles")
    .values({
      workspace: toUuid(workspace),
      name: body.name,
      body: JSON.stringify(body),
      created_by: JSON.stringify(by),
      ...row
    })
    .execute()
  return stored({ ...row, body, created_by: by })
}

export const readRole = async (db: Db, workspace: string, id: string): Promise<StoredRole | undefined> => {
  const builtIn = builtInRole(id)
  if (builtIn !== undefined) return { role: builtIn, rev: 1 }
  const row = await one(db, workspace, id).executeTakeFirst()
  return row && stored(row)
}

/** Those of the ids that are there, in the order of the ids. */
export const readRoles = async (
  db: Db,
  workspace: string,
  ids: ReadonlyArray<string>
): Promise<ReadonlyArray<Role>> => {
  const rows = await db
    .selectFrom("roles")
    .select(columns)
    .where("workspace", "=", toUuid(workspace))
    .where(among(ids))
    .execute()
  const found = new Map(
    rows.map((row) => {
      const { role } = stored(row)
      return [role.id, role]
    })
  )
  return ids.flatMap((id) => builtInRole(id) ?? found.get(id) ?? [])
}

/** `fits` says whether the role's revision meets the request's If-Match (O2). */
export const patchRole = async (
  tx: Db,
  workspace: string,
  id: string,
  patch: RolePatch,
  fits: (rev: number) => boolean,
  at: number
): Promise<StoredRole | RolePatchRefusal> => {
  if (builtInRole(id) !== undefined) return { refused: "built_in" }
  const row = await one(tx, workspace, id).forNoKeyUpdate().executeTakeFirst()
  if (row === undefined) return { refused: "not_found" }
  if (!fits(row.rev)) return { refused: "precondition" }
  const before = readRoleBody(row.body)
  const merged = decodeInput(mergePatch(before, patch))
  if (Result.isFailure(merged)) return { refused: "invalid", cause: merged.failure }
  const body = bodyOf(merged.success)
  if (JSON.stringify(body) === JSON.stringify(before)) return stored(row)
  const next = { rev: row.rev + 1, updated_at: new Date(Math.max(at, row.updated_at.getTime())) }
  await tx
    .updateTable("roles")
    .set({ ...next, name: body.name, body: JSON.stringify(body) })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", row.id)
    .execute()
  await raiseAuthRevision(tx)
  return stored({ ...row, ...next, body })
}

export const deleteRole = async (
  tx: Db,
  workspace: string,
  id: string,
  fits: (rev: number) => boolean
): Promise<NotChangeable | { readonly refused: "in_use" } | undefined> => {
  if (builtInRole(id) !== undefined) return { refused: "built_in" }
  const row = await one(tx, workspace, id).forUpdate().executeTakeFirst()
  if (row === undefined) return { refused: "not_found" }
  if (!fits(row.rev)) return { refused: "precondition" }
  if (await isNamed(tx, workspace, id)) return { refused: "in_use" }
  await tx.deleteFrom("roles").where("workspace", "=", toUuid(workspace)).where("id", "=", row.id).execute()
  await raiseAuthRevision(tx)
  return undefined
}

/** `limit` rows after a position: the built-in roles, then the workspace's, newest first. */
export const listRoles = async (
  db: Db,
  workspace: string,
  options: { readonly after: Position | undefined; readonly limit: number }
): Promise<ReadonlyArray<Role>> => {
  const { after, limit } = options
  const last = builtInRoles.findIndex((role) => toUuid(role.id) === after?.id)
  const head = after === undefined || last !== -1 ? builtInRoles.slice(last + 1, last + 1 + limit) : []
  const rows = await db
    .selectFrom("roles")
    .select(columns)
    .where("workspace", "=", toUuid(workspace))
    .where(behind("created_at", "id", last === -1 ? after : undefined))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit - head.length)
    .execute()
  return [...head, ...rows.map((row) => stored(row).role)]
}

/**
 * The first of the ids that no role of the workspace has. For whoever writes them into a profile: those
 * that are there stay until the transaction ends (O4).
 */
export const missingRole = async (
  tx: Db,
  workspace: string,
  ids: ReadonlyArray<string>
): Promise<string | undefined> => {
  const rows = await tx
    .selectFrom("roles")
    .select("id")
    .where("workspace", "=", toUuid(workspace))
    .where(among(ids))
    .orderBy("id")
    .forKeyShare()
    .execute()
  const found = new Set<string>(rows.map((row) => fromUuid("role", row.id)))
  return ids.find((id) => builtInRole(id) === undefined && !found.has(id))
}
