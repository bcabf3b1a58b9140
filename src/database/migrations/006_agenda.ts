/**
 * The agenda by owner and moment, moments that are far ahead apart from it, 4,096 shards, the inbox actor by actor.
 *
 * The version before works on these tables, so that its nodes run beside new ones. A rollback to it removes this
 * migration's name and leaves its tables: each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // The incarnation that noted a row: while it lives, its rows are nobody else's business. Without owner are rows
  // that an actor left which was given back, and those of earlier versions.
  sql`alter table agenda add column if not exists owner uuid`,
  sql`create index if not exists agenda_owned on agenda (owner, at)`,
  sql`create table if not exists agenda_later (
    owner uuid,
    at timestamptz(3) not null,
    actors uuid[] not null
  ) with (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0)`,
  sql`create index if not exists agenda_later_at on agenda_later (at)`,
  // src/journal/shard.ts. `shard_of`, its first eight bits, is still asked by nodes of earlier versions.
  sql`create or replace function fine_shard_of(uuid) returns integer language sql immutable strict parallel safe
    return get_byte(uuid_send($1), 11) * 16 + get_byte(uuid_send($1), 12) / 16`,
  // An actor's rows in their order, from actor to actor without the rows between.
  sql`create index if not exists inbox_line on inbox (actor, created_at, id)`,
  sql`drop index if exists inbox_actor`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
