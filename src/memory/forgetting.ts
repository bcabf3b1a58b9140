/** Removes what is left of entries that were deleted long ago: the end of their chains, and their versions with it. */
import { Effect } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { limits } from "../domain/limits.ts"

/** Entries a statement, each with as many versions as are kept. */
const portion = 200

/** One round; how many entries went. */
export const forgetMemory = Effect.fnUntraced(function* () {
  const database = yield* Database
  let gone = 0
  for (;;) {
    const {
      rows: [round]
    } = yield* database.run("forget memory", (db) =>
      sql<{ readonly gone: number }>`with old as (
        delete from memory_entries where ctid = any (array(
          select ctid from memory_entries
            where value is null and updated_at < now() - ${limits.memoryDeletedDays}::int * interval '1 day'
            limit ${portion} for update skip locked))
        returning workspace, store, key),
      versions as (delete from memory_versions v using old
        where v.workspace = old.workspace and v.store = old.store and v.key = old.key)
      select count(*)::int as gone from old`.execute(db)
    )
    gone += round?.gone ?? 0
    if ((round?.gone ?? 0) < portion) return gone
  }
})
