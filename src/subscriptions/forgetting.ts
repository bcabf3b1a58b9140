/**
 * What time leaves to do of subscriptions: places whose actor was never born.
 *
 * G1. An hour after a place was taken nobody is making its subscription any more. Were it born after all, the place is
 *     taken anew when its feed is told (E4 of enlisting.ts).
 * G2. The rows are held first, and looked at again then: what was born meanwhile is seen.
 */
import { Effect } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"

/** Rows a transaction: no long locks. */
const portion = 1_000

const unborn = sql`s.created_at < now() - interval '1 hour'
  and not exists (select from heads h where h.id = s.id and h.workspace = s.workspace)`

/** One round; how many places went. */
export const forgetUnborn = Effect.fnUntraced(function* () {
  const database = yield* Database
  let gone = 0
  for (;;) {
    const some = yield* database.atomically("subscriptions.unborn", async (tx) => {
      const { rows } = await sql<{ readonly id: string }>`select s.id from subscribers s where ${unborn}
        limit ${portion} for update skip locked`.execute(tx)
      if (rows.length === 0) return 0
      // G2.
      const { numAffectedRows = 0n } = await sql`delete from subscribers s
        where s.id = any (${rows.map(({ id }) => id)}::uuid[]) and ${unborn}`.execute(tx)
      return Number(numAffectedRows)
    })
    gone += some
    if (some < portion) return gone
  }
})
