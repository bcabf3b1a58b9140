/** Several nodes: what each says of itself, shards that SQL can tell from an id, an actor's rows of the inbox. */
import { type Kysely, sql } from "kysely"

const statements = [
  // What a node said with its last beat, and when that was; for people: which program it runs.
  sql`alter table nodes add column version text not null default '', add column status json not null default '{}',
    add column beaten_at timestamptz(3) not null default now()`,
  // src/journal/shard.ts: a byte of the id. The column was the same in another way, and nobody read it.
  sql`create function shard_of(uuid) returns integer language sql immutable strict parallel safe return get_byte(uuid_send($1), 11)`,
  sql`alter table heads drop column shard`,
  // Whether something waits for an actor is asked with every input that is appended.
  sql`create index inbox_actor on inbox (actor)`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
