/**
 * Full text search in one store, over keys and values, with the words as they are (`simple`).
 *
 * S1. The store itself is one of the words that are looked for: the index leads to its entries and to no others.
 */
import { sql } from "kysely"
import type { Db } from "../database/handle.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { toTimestamp } from "../domain/time.ts"
import type { MemoryHit, Store } from "./memory.ts"
import { storeOf } from "./writing.ts"

interface HitRow {
  readonly key: string
  readonly snippet: string
  readonly version: string
  readonly updated_at: Date
  readonly rank: number
}

/** The best first. A query without a word finds nothing. */
export const searchEntries = async (
  db: Db,
  workspace: string,
  store: Store,
  { limit, q }: { readonly q: string; readonly limit: number }
): Promise<ReadonlyArray<MemoryHit>> => {
  const id = storeOf(workspace, store)
  const query = sql`websearch_to_tsquery('simple', ${q})`
  // The word of the store as a query of its own: quoted, it is no text to be taken apart.
  // Fits come first, by that word alone: a planner without statistics would rather read the whole store.
  const { rows } = await sql<HitRow>`with fits as materialized (
      select workspace, store, key, version, updated_at, value, ts_rank(words, ${query}) as rank from memory_entries
      where words @@ (${`'S${id}'`}::tsquery && ${query}) and numnode(${query}) > 0)
    select key, version, updated_at, rank::float8,
      ts_headline('simple', value, ${query}, 'StartSel="", StopSel="", MaxWords=24, MinWords=8') as snippet
    from (select * from fits where workspace = ${toUuid(workspace)} and store = ${id} and value is not null
      order by rank desc, key limit ${limit}) found
    order by rank desc, key`.execute(db)
  return rows.map((row) => ({
    key: row.key,
    snippet: row.snippet,
    version: fromUuid("memoryVersion", row.version),
    updatedAt: toTimestamp(row.updated_at.getTime()),
    rank: row.rank
  }))
}
