/**
 * Who listens to which feed. Subscriptions are actors: what they are is in their heads, and this is what appends and
 * lists have to find without them.
 *
 * The version before does not know the table and works beside it: what its nodes append wakes nobody. A rollback to it
 * removes this migration's name and leaves what it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // There from a moment before the subscription until it is deleted. `listed`: appends judge for it.
  sql`create table if not exists subscribers (
    workspace    uuid not null,
    feed         uuid not null,
    id           uuid not null,
    agent        uuid not null,
    listed       boolean not null,
    condition    text,
    include_self boolean not null,
    created_at   timestamptz(3) not null,
    primary key (workspace, feed, id)
  )`,
  sql`create index if not exists subscribers_by_agent on subscribers (workspace, agent, created_at, id)`,
  sql`create unique index if not exists subscribers_by_age on subscribers (workspace, created_at, id)`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
