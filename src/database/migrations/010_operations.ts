/**
 * Operations that park: what was asked for, by whom, and until when; and the rules that say what parks.
 *
 * The version before reads and writes operations beside this one: it knows none that wait, decides none, and lists what
 * it finds. A rollback to it removes this migration's name and leaves what it made; each statement may find its work
 * done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  sql`alter table operations
    add column if not exists request json,
    add column if not exists requester json,
    add column if not exists fingerprint text,
    add column if not exists credential uuid`,
  // While one is pending, the same request is the same operation.
  sql`create unique index if not exists operations_pending on operations (workspace, fingerprint)
    where state = 'pending'`,
  // What time or a node's death has left to do.
  sql`create index if not exists operations_open on operations (expires_at) where state in ('pending', 'approved')`,
  sql`create index if not exists operations_resolved on operations (resolved_at) where resolved_at is not null`,
  sql`create table if not exists approval_policies (
    workspace  uuid primary key references workspaces (id),
    rules      json not null,
    rev        int not null,
    updated_at timestamptz(3) not null,
    updated_by json not null
  )`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
