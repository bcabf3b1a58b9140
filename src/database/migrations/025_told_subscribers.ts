/**
 * How far a feed had come when it was told of a subscription's last change: a node that dies after it has told the feed,
 * and before it has kept the answer, leaves another one to tell it again, which is to hear the same.
 *
 * The version before writes neither column: what it tells again is answered by where the feed is then, as before. A
 * rollback to it removes this migration's name and leaves what it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  sql`alter table subscribers add column if not exists told_version integer`,
  sql`alter table subscribers add column if not exists told_seq bigint`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
