/**
 * What nodes have counted for quotas, and profiles that are archived.
 *
 * The version before knows neither and works beside both: threads that its nodes make meanwhile are not counted. A
 * rollback to it removes this migration's name and leaves what it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // What one node has counted within one minute: rows that nodes share would make their writers wait for each other.
  // Old minutes are folded into minute 0, of no node (src/quotas/tallies.ts).
  sql`create table if not exists tallies (
    workspace uuid not null,
    minute integer not null,
    resource text not null,
    node uuid not null,
    amount bigint not null,
    primary key (workspace, minute, resource, node)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0)`,
  sql`create index if not exists tallies_by_minute on tallies (minute)`,
  // Threads from before are counted here, once: one pass over the index heads_touched, about a second a million. Again
  // after a rollback, since the version before has made some that it did not count.
  sql`delete from tallies where resource = 'threads'`,
  sql`insert into tallies (workspace, minute, resource, node, amount)
    select workspace, 0, 'threads', '00000000-0000-0000-0000-000000000000', count(*) from heads where kind = 'thread' group by workspace`,

  sql`alter table profiles add column if not exists archived_at timestamptz(3)`,
  // Quotas count those that are not archived.
  sql`create index if not exists agents_active on agents (workspace) where archived_at is null`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
