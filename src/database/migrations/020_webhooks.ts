/**
 * Webhooks of workspaces: endpoints, what is told to them, and each telling.
 *
 * The version before does not know the tables and works beside it; what happens on its nodes is told to nobody. A
 * rollback to it removes this migration's name and leaves what it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // `sealed` is the secret that signs; `previous` signs beside it until `previous_until`. `failures` counts attempts
  // that failed in a row, the first of them at `failing_since`.
  sql`create table if not exists webhooks (
    workspace       uuid not null,
    id              uuid not null,
    url             text not null,
    events          text[] not null,
    agent           uuid,
    description     text,
    enabled         boolean not null,
    disabled_reason text,
    sealed          text not null,
    previous        text,
    previous_until  timestamptz(3),
    rev             int not null default 1,
    failures        int not null default 0,
    failing_since   timestamptz(3),
    last_success_at timestamptz(3),
    last_failure_at timestamptz(3),
    created_at      timestamptz(3) not null,
    created_by      json not null,
    updated_at      timestamptz(3) not null,
    primary key (workspace, id)
  )`,
  // `body` is what is sent, as it is.
  sql`create table if not exists webhook_events (
    workspace  uuid not null,
    id         uuid not null,
    type       text not null,
    agent      uuid,
    body       text not null,
    created_at timestamptz(3) not null,
    primary key (workspace, id)
  )`,
  sql`create index if not exists webhook_events_old on webhook_events (created_at)`,
  sql`create table if not exists webhook_deliveries (
    workspace   uuid not null,
    id          uuid not null,
    webhook     uuid not null,
    event       uuid not null,
    state       text not null,
    attempts    int not null default 0,
    next_at     timestamptz(3) not null,
    last_status int,
    last_error  text,
    created_at  timestamptz(3) not null,
    primary key (workspace, id)
  ) with (autovacuum_vacuum_scale_factor = 0.1)`,
  sql`create index if not exists webhook_deliveries_due on webhook_deliveries (webhook, next_at)
    where state = 'pending'`,
  sql`create index if not exists webhook_deliveries_listed on webhook_deliveries (workspace, webhook, created_at, id)`,
  sql`create index if not exists webhook_deliveries_old on webhook_deliveries (created_at)`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
