/**
 * Rows of a workspace's configuration, counted where one more is made: whoever makes one holds the workspace's row
 * until the end of its transaction, so that no two count at once.
 */
import { type Expression, type SqlBool, sql } from "kysely"
import type { Counted } from "./quota.ts"
import { toUuid } from "../domain/ids.ts"
import type { Db } from "../database/handle.ts"

interface CountedRows {
  readonly table: "agents" | "api_keys" | "connections" | "roles" | "toolsets"
  readonly where: Expression<SqlBool>
}

const all = sql<SqlBool>`true`

/** Which rows count. */
const rows: Readonly<Record<Counted, CountedRows>> = {
  agents: { table: "agents", where: sql<SqlBool>`archived_at is null` },
  connections: { table: "connections", where: all },
  keys: { table: "api_keys", where: sql<SqlBool>`revoked_at is null` },
  roles: { table: "roles", where: all },
  toolsets: { table: "toolsets", where: all }
}

const counting = (workspace: string, resource: Counted, most?: number) => {
  const { table, where } = rows[resource]
  const found = sql`select from ${sql.table(table)} where workspace = ${toUuid(workspace)}::uuid and ${where}`
  return sql<number>`(select count(*)::int from (${most === undefined ? found : sql`${found} limit ${most}`}) as
    counted)`
}

/** Whether as many are there as may be. */
export const isQuotaFull = async (tx: Db, workspace: string, resource: Counted, limit: number): Promise<boolean> => {
  // Not `for update`: that would wait for every row being written that refers to the workspace.
  await tx
    .selectFrom("workspaces")
    .select("id")
    .where("id", "=", toUuid(workspace))
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const {
    rows: [counted]
  } = await sql<{ readonly count: number }>`select ${counting(workspace, resource, limit)} as count`.execute(tx)
  return (counted?.count ?? 0) >= limit
}

const names = ["agents", "connections", "keys", "roles", "toolsets"] as const satisfies ReadonlyArray<Counted>

/** How many there are of each. */
export const countAll = async (db: Db, workspace: string): Promise<Readonly<Record<Counted, number>>> => {
  const columns = names.map((name) => sql`${counting(workspace, name)} as ${sql.ref(name)}`)
  const {
    rows: [counted]
  } = await sql<Record<Counted, number>>`select ${sql.join(columns)}`.execute(db)
  if (counted === undefined) throw new Error("a select without from has a row")
  return counted
}
