/**
 * What a trigger's key is for.
 *
 * The version before knows no triggers, and would let one read and run everything: `scopes` of a trigger is empty, and
 * what it may do stands in the new column, so that a node of that version refuses it. A rollback to it removes this
 * migration's name and leaves what it made; the statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // JSON: provider, agentIds, feedIds, scopes. Null for keys of other kinds.
  sql`alter table api_keys add column if not exists trigger json`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
