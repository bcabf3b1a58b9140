/**
 * Of a key that took the place of another one: the key that stood there first. What one of them has asked for, none of
 * them decides.
 *
 * The version before does not write it: a key that it rotates is a key of its own. A rollback to it removes this
 * migration's name and leaves the column; the statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

export const up = async (db: Kysely<unknown>) => {
  // Without a default nothing is rewritten.
  await sql`alter table api_keys add column if not exists first uuid`.execute(db)
}
