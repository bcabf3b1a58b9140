/**
 * Spend of each node for itself: rows that nodes share would make their writers wait for each other.
 *
 * It finds its work done after a rollback (docs/operations.md).
 */
import { type Kysely, sql } from "kysely"

const statements = [
  sql`create table if not exists spend_by_node (
    workspace uuid not null,
    subject uuid not null,
    minute integer not null,
    node uuid not null,
    amount double precision not null,
    primary key (workspace, subject, minute, node)
  )`,
  // Nodes of the version before book in the old table, and know no other: what the new ones spend is missing in
  // their figures. The old table may go, and this view be one of the new alone, in a version that never runs
  // beside them, once its rows have been moved under a node of their own.
  sql`create or replace view spent as
    select workspace, subject, minute, amount from spend_by_node
    union all select workspace, subject, minute, amount from spend`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
