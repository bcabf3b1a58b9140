/**
 * What the models of a workspace were used for, by day, agent and model.
 *
 * The version before does not know the table and works beside it: calls of its nodes are not counted. A rollback to it
 * removes this migration's name and leaves what it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // What one node has counted of a day: rows that nodes share would make their writers wait for each other. Days that
  // are over are folded into rows of no node (src/usage/rows.ts).
  sql`create table if not exists usage_by_day (
    workspace          uuid not null,
    day                date not null,
    agent              uuid not null,
    model              text collate "C" not null,
    node               uuid not null,
    calls              bigint not null,
    input_tokens       bigint not null,
    output_tokens      bigint not null,
    cache_read_tokens  bigint not null,
    cache_write_tokens bigint not null,
    reasoning_tokens   bigint not null,
    cost               double precision not null,
    unpriced           bigint not null,
    primary key (workspace, day, agent, model, node)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0)`,
  sql`create index if not exists usage_by_day_unfolded on usage_by_day (day)
    where node <> '00000000-0000-0000-0000-000000000000'`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
