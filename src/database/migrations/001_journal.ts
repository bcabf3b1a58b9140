/** The journal's tables: heads, facts, and the rows that change with them; nodes with their leases. */
import { type Kysely, sql } from "kysely"
import { shorthand } from "../shorthand.ts"

/** $1 with every sign of the shorthand as its phrase. */
const spelled = shorthand.reduce(
  (text, [sign, phrase]) => `replace(${text}, chr(${sign.charCodeAt(0)}), '${phrase}')`,
  "$1"
)

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

  // One row an actor: first what was said at its birth, then what every append changes. An actor's id is
  // the only one of its kind in the database, so the workspace need not be in the key. `touched` is the
  // minute of updated_at: lists by updatedAt descend through it, so that an update within the same minute
  // leaves its indexes alone.
  sql`create table heads (
    workspace uuid not null,
    id uuid primary key,
    parent uuid,
    created_at timestamptz(3) not null,
    version integer not null default 1,
    shard smallint not null,
    kind text not null,
    attributes text not null,
    owner uuid,
    epoch integer not null,
    touched integer not null,
    fruitless integer not null default 0,
    pos integer not null,
    seq integer not null,
    rev integer not null,
    since integer,
    updated_at timestamptz(3) not null,
    runnable_at timestamptz(3),
    status text not null,
    carry text not null
  ) with (fillfactor = 28, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1)`,
  sql`create index heads_touched on heads (workspace, touched) where kind = 'thread'`,
  sql`create index heads_parent on heads (parent, touched) where parent is not null`,
  // JSON of ours is stored in the journal's shorthand, and may hold \\u0000 and lone surrogates, which
  // PostgreSQL stores as text and refuses to read. Whole pairs are never escaped in it, so that what looks
  // like a surrogate is a lone one.
  sql`create function readable(text) returns json language sql immutable strict parallel safe
    return regexp_replace(${sql.raw(spelled)}, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::json`,
  sql`create index heads_identity on heads (workspace, (readable(attributes) ->> 'identity'), id)
    where kind = 'thread' and attributes like '%"identity":%'`,

  // Who may have something to do, and when: a statement adds those whose runnable_at becomes a new moment, a
  // row for each second, and the sweep takes them away once their heads say otherwise. An index on
  // runnable_at itself would make every turn rewrite all of its head's index entries, twice.
  sql`create table agenda (
    at timestamptz(3) not null,
    actors uuid[] not null
  ) with (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 0)`,

  // `once` is what must not happen twice: an admission, an end, a result, a resolution (src/domain/once.ts).
  // `workspace` stands only on facts that are listed across actors: hook decisions (migration 3).
  sql`create table facts (
    actor uuid not null,
    at timestamptz(3) not null,
    pos integer not null,
    seq integer,
    n smallint not null,
    turn uuid,
    once uuid,
    workspace uuid,
    event text not null,
    detail text,
    primary key (actor, pos)
  ) with (autovacuum_vacuum_insert_scale_factor = 0.5)`,
  sql`create unique index facts_once on facts (once) where once is not null`,

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
