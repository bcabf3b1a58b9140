/**
 * Removes what nobody asks for any more: idempotency keys.
 *
 * Keys count for 24 hours and are removed after 25: the hour between keeps a late round from mattering.
 */
import { Effect } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"

/** Rows a statement: no long locks, no large transactions. */
const portion = 2_000

/** One round; how many keys went. */
export const forgetOldKeys = Effect.fnUntraced(function* () {
  const database = yield* Database
  let gone = 0
  for (;;) {
    const { numAffectedRows = 0n } = yield* database.run("forget old keys", (db) =>
      sql`delete from idempotency where ctid = any (array(
        select ctid from idempotency where created_at < now() - interval '25 hours' limit ${portion} for update skip
          locked))`.execute(db)
    )
    gone += Number(numAffectedRows)
    if (numAffectedRows < portion) return gone
  }
})
