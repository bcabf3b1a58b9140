/**
 * Memory as it is read: an entry, pages of a store, an entry's versions.
 *
 * M1. A store is listed in the order of its keys' bytes; what was deleted is not passed over, but not there.
 */
import { Effect } from "effect"
import { sql } from "kysely"
import type { Database } from "../database/Database.ts"
import type { Db } from "../database/handle.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import type { Principal } from "../domain/principal.ts"
import { toTimestamp } from "../domain/time.ts"
import type { MemoryItem, MemoryVersion, Store } from "./memory.ts"
import { entryOf, type EntryRow, storeOf } from "./writing.ts"

const oneEntry = `select value, size, version, created_at, updated_at, updated_by, thread, turn from memory_entries
  where workspace = $1 and store = $2 and key = $3 and value is not null`

export const readEntry = (database: Database["Service"], workspace: string, store: Store, key: string) =>
  Effect.map(
    database.read<EntryRow>({
      name: "memory_entry",
      text: oneEntry,
      values: [toUuid(workspace), storeOf(workspace, store), key]
    }),
    ([row]) => row && entryOf(key, row)
  )

/** What no key with a prefix comes behind: as many bytes as a key may have, of the last of all characters. */
const lastOf = (prefix: string) => prefix + "\u{10FFFF}".repeat(limits.memoryKeyBytes / 4)

interface ItemRow {
  readonly key: string
  readonly size: number
  readonly version: string
  readonly updated_at: Date
  readonly updated_by: Principal
}

/** At most so many entries behind a key, of those that begin with the prefix (M1). */
export const listEntries = async (
  db: Db,
  workspace: string,
  store: Store,
  {
    after = "",
    limit,
    prefix
  }: { readonly after?: string | undefined; readonly limit: number; readonly prefix: string }
): Promise<ReadonlyArray<MemoryItem>> => {
  const { rows } = await sql<ItemRow>`select key, size, version, updated_at, updated_by from memory_entries
    where workspace = ${toUuid(workspace)} and store = ${storeOf(workspace, store)} and value is not null
      and key > ${after} and key >= ${prefix} and key <= ${lastOf(prefix)}
    order by key limit ${limit}`.execute(db)
  return rows.map((row) => ({
    key: row.key,
    size: row.size,
    version: fromUuid("memoryVersion", row.version),
    updatedAt: toTimestamp(row.updated_at.getTime()),
    updatedBy: row.updated_by
  }))
}

interface VersionRow {
  readonly seq: number
  readonly version: string
  readonly previous: string | null
  readonly operation: "put" | "delete"
  readonly size: number
  readonly value?: string | null
  readonly redacted_at: Date | null
  readonly created_at: Date
  readonly created_by: Principal
  readonly thread: string | null
  readonly turn: string | null
}

const versionOf = (row: VersionRow): MemoryVersion => ({
  version: fromUuid("memoryVersion", row.version),
  ...(row.previous !== null && { previousVersion: fromUuid("memoryVersion", row.previous) }),
  operation: row.operation,
  size: row.size,
  createdAt: toTimestamp(row.created_at.getTime()),
  createdBy: row.created_by,
  ...(row.thread !== null && { threadId: fromUuid("thread", row.thread) }),
  ...(row.turn !== null && { turnId: fromUuid("turn", row.turn) }),
  ...(row.redacted_at !== null && { redactedAt: toTimestamp(row.redacted_at.getTime()) }),
  ...(typeof row.value === "string" && { value: row.value })
})

const columns = sql`seq, version, previous, operation, size, redacted_at, created_at, created_by, thread, turn`

/** Where an entry's versions are. */
interface Versions extends Store {
  readonly key: string
}
const within = (workspace: string, { agentId, key }: Versions) =>
  sql`workspace = ${toUuid(workspace)} and store = ${toUuid(agentId ?? workspace)} and key = ${key}`

/** The newest first, at most so many behind a place in their chain. */
export const listMemoryVersions = async (
  db: Db,
  workspace: string,
  of: Versions,
  { after, limit }: { readonly after: number | undefined; readonly limit: number }
) => {
  const { rows } = await sql<VersionRow>`select ${columns} from memory_versions
    where ${within(workspace, of)} ${after === undefined ? sql`` : sql`and seq < ${after}`}
    order by seq desc limit ${limit}`.execute(db)
  return rows.map((row) => ({ seq: row.seq, version: versionOf(row) }))
}

/** One version with its value; none of another entry. */
export const readVersion = async (db: Db, workspace: string, of: Versions, version: string) => {
  const { rows } = await sql<VersionRow>`select ${columns}, value from memory_versions
    where ${within(workspace, of)} and version = ${toUuid(version)}`.execute(db)
  return rows[0] && versionOf(rows[0])
}

/**
 * Takes the value of a version away for good. What is current now is refused, and what is not will never be again: no
 * lock is needed. Repeating it changes nothing.
 */
export const redactVersion = async (
  db: Db,
  workspace: string,
  of: Versions,
  version: string,
  at: number
): Promise<MemoryVersion | { readonly refused: "not_found" | "current" }> => {
  const uuid = toUuid(version)
  const { rows } = await sql<VersionRow>`update memory_versions
    set value = null, redacted_at = coalesce(redacted_at, ${new Date(at)})
    where ${within(workspace, of)} and version = ${uuid} and not exists (select from memory_entries
      where ${within(workspace, of)} and version = ${uuid} and value is not null)
    returning ${columns}`.execute(db)
  if (rows[0] !== undefined) return versionOf(rows[0])
  return { refused: (await readVersion(db, workspace, of, version)) === undefined ? "not_found" : "current" }
}
