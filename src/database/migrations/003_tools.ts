/** Tools: connections, toolsets with their catalogues, roles; and what hooks have decided, to be looked up. */
import { type Kysely, sql } from "kysely"

const statements = [
  // `sealed` is the encrypted secret (src/crypto); `body` what may be shown of the connection.
  sql`create table connections (
    workspace  uuid not null references workspaces (id),
    id         uuid not null,
    body       json not null,
    sealed     text not null,
    rev        int not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    last_used_at timestamptz(3),
    primary key (workspace, id)
  )`,
  sql`create index connections_listed on connections (workspace, created_at desc, id desc)`,

  // `checked` is what the last probe found: status, its reason, when, and which catalogue is current.
  sql`create table toolsets (
    workspace  uuid not null references workspaces (id),
    id         uuid not null,
    namespace  text not null,
    connection uuid,
    body       json not null,
    checked    json not null,
    catalogue  int not null,
    rev        int not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    primary key (workspace, id),
    foreign key (workspace, connection) references connections (workspace, id)
  )`,
  sql`create unique index toolsets_by_namespace on toolsets (workspace, namespace)`,
  sql`create index toolsets_listed on toolsets (workspace, created_at desc, id desc)`,

  // What a toolset offered at one time, and the settings that it was offered under. Never changes once written: running
  // turns go on with theirs.
  sql`create table catalogues (
    workspace  uuid not null,
    toolset    uuid not null,
    version    int not null,
    body       json not null,
    created_at timestamptz(3) not null,
    primary key (workspace, toolset, version),
    foreign key (workspace, toolset) references toolsets (workspace, id) on delete cascade
  )`,

  sql`create table roles (
    workspace  uuid not null references workspaces (id),
    id         uuid not null,
    name       text not null,
    body       json not null,
    rev        int not null,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    created_by json not null,
    primary key (workspace, id)
  )`,
  sql`create index roles_listed on roles (workspace, created_at desc, id desc)`,

  // Only turns that ask hooks pay for these.
  sql`create index facts_hook_decisions on facts (workspace, at, actor, pos) where workspace is not null`,
  sql`create index facts_by_hook on facts (workspace, (readable(event) -> 'hook' ->> 'hookId'), at, actor, pos) where workspace is not null`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
