/**
 * Schedules, as clients have said them. What becomes of one, its actor keeps.
 *
 * The version before does not know the table and works beside it; schedules rest where only such nodes live. A rollback
 * to it removes this migration's name and leaves what it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // `body` is what a client may say, with its defaults. `anchor` is from when intervals count.
  sql`create table if not exists schedules (
    workspace  uuid not null,
    id         uuid not null,
    agent      uuid not null,
    body       json not null,
    rev        int not null default 1,
    anchor     timestamptz(3) not null,
    created_at timestamptz(3) not null,
    created_by json not null,
    updated_at timestamptz(3) not null,
    deleted_at timestamptz(3),
    primary key (workspace, id)
  )`,
  sql`create index if not exists schedules_of_agents on schedules (workspace, agent, created_at, id)
    where deleted_at is null`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
