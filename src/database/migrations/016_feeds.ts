/**
 * Feeds of a workspace, and their messages.
 *
 * The version before does not know the tables and works beside it. A rollback to it removes this migration's name and
 * leaves what it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // The row counts its messages: whoever appends holds it, so that seqs have no gaps. `subscribers_rev` is raised with
  // every change of who listens.
  sql`create table if not exists feeds (
    workspace       uuid not null,
    id              uuid not null,
    name            text collate "C" not null,
    description     text,
    tags            text[] not null,
    max_messages    int,
    max_age_seconds int,
    first_seq       bigint not null default 1,
    last_seq        bigint not null default 0,
    subscribers_rev bigint not null default 0,
    rev             int not null default 1,
    created_at      timestamptz(3) not null,
    created_by      json not null,
    updated_at      timestamptz(3) not null,
    archived_at     timestamptz(3),
    primary key (workspace, id),
    unique (workspace, name)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0)`,
  sql`create index if not exists feeds_retained on feeds (workspace, id)
    where max_messages is not null or max_age_seconds is not null or first_seq > 1`,
  // `body` is text, tags, data and origin, as JSON: unlike a text it may hold U+0000.
  sql`create table if not exists feed_messages (
    workspace   uuid not null,
    feed        uuid not null,
    seq         bigint not null,
    body        json not null,
    dedupe_key  text collate "C",
    principal   json not null,
    hops        smallint not null,
    appended_at timestamptz(3) not null,
    primary key (workspace, feed, seq)
  )`,
  sql`create index if not exists feed_messages_by_key on feed_messages (workspace, feed, dedupe_key, appended_at)
    where dedupe_key is not null`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
