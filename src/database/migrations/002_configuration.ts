/** Configuration: profiles with their versions, agents, API keys, identities, operations. */
import { type Kysely, sql } from "kysely"

const statements = [
  // A workspace is found by its name where people and commands name one.
  sql`create unique index workspaces_by_name on workspaces (name)`,

  // The row says which version is the latest; what a version holds is in profile_versions and never changes.
  sql`create table profiles (
    workspace  uuid not null references workspaces (id),
    id         uuid not null,
    version    int not null,
    created_at timestamptz(3) not null,
    primary key (workspace, id)
  )`,
  sql`create index profiles_listed on profiles (workspace, created_at desc, id desc)`,

  sql`create table profile_versions (
    workspace  uuid not null,
    profile    uuid not null,
    version    int not null,
    body       json not null,
    created_at timestamptz(3) not null,
    primary key (workspace, profile, version),
    foreign key (workspace, profile) references profiles (workspace, id)
  )`,

  // Of the body only what queries need has columns of its own: legal text such as \\u0000 fits json, not text.
  sql`create table agents (
    workspace       uuid not null references workspaces (id),
    id              uuid not null,
    profile         uuid not null,
    profile_version int,
    identity        text,
    body            json not null,
    rev             int not null,
    created_at      timestamptz(3) not null,
    updated_at      timestamptz(3) not null,
    archived_at     timestamptz(3),
    primary key (workspace, id),
    foreign key (workspace, profile) references profiles (workspace, id),
    foreign key (workspace, profile, profile_version) references profile_versions (workspace, profile, version)
  )`,
  sql`create index agents_listed on agents (workspace, created_at desc, id desc)`,
  sql`create index agents_by_identity on agents (workspace, identity) where identity is not null and archived_at is null`,
  sql`create index agents_by_profile on agents (workspace, profile)`,

  // A revoked key keeps its row: principals in old logs name it.
  sql`create table api_keys (
    workspace    uuid not null references workspaces (id),
    id           uuid not null,
    public       text not null,
    hash         text not null,
    name         text not null,
    scopes       text[] not null,
    identity     text,
    created_at   timestamptz(3) not null,
    created_by   json,
    expires_at   timestamptz(3),
    last_used_at timestamptz(3),
    revoked_at   timestamptz(3),
    primary key (workspace, id)
  )`,
  // The one look-up that has no workspace yet: it finds out which one the caller is of.
  sql`create unique index api_keys_by_public on api_keys (public)`,
  sql`create index api_keys_listed on api_keys (workspace, created_at desc, id desc) where revoked_at is null`,

  // Whether one is disabled, since when and by whom is its actor's to say: its head and its last fact.
  sql`create table identities (
    workspace   uuid not null references workspaces (id),
    identity    text not null,
    actor       uuid not null,
    first_seen  timestamptz(3) not null,
    last_seen   timestamptz(3) not null,
    primary key (workspace, identity)
  )`,
  sql`create index identities_listed on identities (workspace, first_seen desc, actor desc)`,

  sql`create table operations (
    workspace    uuid not null references workspaces (id),
    id           uuid not null,
    action       text not null,
    agent        uuid,
    state        text not null,
    requested_by json not null,
    created_at   timestamptz(3) not null,
    expires_at   timestamptz(3) not null,
    resolved_at  timestamptz(3),
    resolved_by  json,
    status       int,
    body         json,
    primary key (workspace, id)
  )`,
  sql`create index operations_listed on operations (workspace, created_at desc, id desc)`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
