/**
 * What a command was, beside its first fact: with it a log falls into the steps that its actor took.
 *
 * The version before does not write it and works beside it; its facts have none. A rollback to it removes this
 * migration's name and leaves the column; the statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

export const up = async (db: Kysely<unknown>) => {
  // Without a default nothing is rewritten.
  await sql`alter table facts add column if not exists cause smallint`.execute(db)
}
