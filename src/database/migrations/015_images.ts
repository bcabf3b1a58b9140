/**
 * Images: their bytes once a workspace, and whose they are.
 *
 * The version before does not know the tables and works beside it: it refuses images, and a turn that it takes over is
 * asked with their names. A rollback to it removes this migration's name and leaves what it made; each statement may
 * find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // The key that a workspace's image ids are made with, sealed (src/crypto). It never changes.
  sql`create table if not exists image_keys (
    workspace uuid primary key references workspaces (id) on delete cascade,
    sealed    text not null
  )`,
  sql`create table if not exists images (
    workspace  uuid not null references workspaces (id) on delete cascade,
    id         bytea not null,
    format     text not null,
    width      int not null,
    height     int not null,
    size       int not null,
    created_at timestamptz(3) not null default now(),
    bytes      bytea not null,
    primary key (workspace, id)
  )`,
  // Pictures are compressed already: kept as they are, and not in the row.
  sql`alter table images alter column bytes set storage external`,
  sql`create table if not exists image_agents (
    workspace  uuid not null,
    agent      uuid not null,
    image      bytea not null,
    place      uuid not null default gen_random_uuid(),
    created_at timestamptz(3) not null default now(),
    primary key (workspace, agent, image),
    foreign key (workspace, image) references images (workspace, id) on delete cascade
  )`,
  sql`create index if not exists image_agents_newest on image_agents (workspace, agent, created_at desc, place desc)`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
