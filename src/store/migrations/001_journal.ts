/** The journal's tables: heads, actors, facts, and the rows that change with them; nodes with their leases. */
import { type Kysely, sql } from "kysely"

/**
 * What shapes them is the write-ahead log of a turn: few indexes, narrow columns, and in `heads` the
 * columns that an append changes side by side at the end, so that an update logs only that part.
 */
const statements = [
  sql`create table workspaces (
    id uuid primary key,
    name text not null,
    created_at timestamptz(3) not null default now()
  )`,

  // One row an actor. `touched` is the minute of updated_at: lists by updatedAt descend through it,
  // so that an update within the same minute leaves its index alone.
  sql`create table heads (
    workspace uuid not null,
    id uuid not null,
    kind text not null,
    shard smallint not null,
    owner uuid,
    epoch integer not null,
    pos integer not null,
    seq integer not null,
    rev integer not null,
    touched integer not null,
    updated_at timestamptz(3) not null,
    fruitless smallint not null default 0,
    since integer,
    runnable_at timestamptz(3),
    status text not null,
    carry text not null,
    primary key (workspace, id)
  ) with (fillfactor = 28, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1)`,
  // Who may have something to do, and when: a row is added whenever a head's runnable_at becomes a new
  // moment, and taken away by the sweep once its head says otherwise. An index on runnable_at itself
  // would make every turn rewrite all of the head's index entries, twice.
  sql`create table agenda (
    workspace uuid not null,
    actor uuid not null,
    at timestamptz(3) not null
  ) with (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0)`,
  sql`create index heads_touched on heads (workspace, touched) where kind = 'thread'`,

  // The birth certificate: what was said of an actor when it was made, and may be edited since.
  sql`create table actors (
    workspace uuid not null,
    id uuid not null,
    kind text not null,
    parent uuid,
    version integer not null default 1,
    created_at timestamptz(3) not null,
    attributes text not null,
    primary key (workspace, id)
  )`,
  sql`create index actors_parent on actors (workspace, parent) where parent is not null`,
  // JSON of ours may hold \\u0000 and lone surrogates, which PostgreSQL stores as text and refuses to read.
  // Whole pairs are never escaped in it, so that what looks like a surrogate is a lone one.
  sql`create function readable(text) returns json language sql immutable strict parallel safe
    return regexp_replace($1, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::json`,
  sql`create index actors_identity on actors (workspace, (readable(attributes) ->> 'identity'), id)
    where kind = 'thread' and readable(attributes) ->> 'identity' is not null`,

  // `once` is what must not happen twice in an actor: an admission, an end, a result, a resolution (src/domain/once.ts).
  sql`create table facts (
    workspace uuid not null,
    actor uuid not null,
    pos integer not null,
    seq integer,
    n integer not null,
    turn uuid,
    at timestamptz(3) not null,
    type text not null,
    once uuid,
    event text not null,
    detail text,
    primary key (actor, pos)
  ) with (autovacuum_vacuum_insert_scale_factor = 0.5)`,
  sql`create unique index facts_once on facts (actor, once) where once is not null`,

  sql`create table inputs (
    workspace uuid not null,
    actor uuid not null,
    id uuid not null,
    ord integer not null,
    state text not null check (state in ('pending', 'cancelled')),
    body text not null,
    primary key (workspace, actor, id)
  )`,

  sql`create table waits (
    workspace uuid not null,
    actor uuid not null,
    id uuid not null,
    target text not null,
    state text not null check (state in ('open', 'resolved', 'expired', 'cancelled')),
    created_at timestamptz(3) not null,
    body text not null,
    call uuid,
    toolset uuid,
    primary key (workspace, id)
  )`,
  sql`create index waits_open on waits (workspace, actor) where state = 'open'`,
  // Calls that clients have to execute: by their ids, and oldest first.
  sql`create unique index waits_of_calls on waits (workspace, call) where call is not null`,
  sql`create index waits_of_clients on waits (workspace, created_at, id) where state = 'open' and call is not null`,

  sql`create table idempotency (
    workspace uuid not null,
    scope text not null,
    created_at timestamptz(3) not null default now(),
    status smallint not null,
    fingerprint text not null,
    body text not null,
    primary key (workspace, scope)
  )`,
  sql`create index idempotency_age on idempotency using brin (created_at)`,

  sql`create table inbox (
    workspace uuid not null,
    id text not null,
    actor uuid not null,
    kind text not null,
    created_at timestamptz not null default clock_timestamp(),
    command text not null,
    primary key (workspace, id)
  )`,
  sql`create index inbox_age on inbox (created_at)`,

  sql`create table spend (
    workspace uuid not null,
    subject uuid not null,
    minute integer not null,
    amount double precision not null,
    primary key (workspace, subject, minute)
  )`,

  // The cluster's, not a workspace's: who is alive, and the revision of all credentials.
  sql`create table nodes (
    incarnation uuid primary key,
    name text not null,
    deadline timestamptz not null,
    started_at timestamptz(3) not null default now()
  )`,
  sql`create table auth_revision (
    single boolean primary key default true check (single),
    revision bigint not null
  )`,
  sql`insert into auth_revision (revision) values (1)`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
