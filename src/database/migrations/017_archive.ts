/**
 * Threads that take no input any more, and what is left of those that were deleted.
 *
 * The version before does not know the tables and works beside it: its lists show archived threads too. A rollback to
 * it removes this migration's name and leaves what it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  sql`create table if not exists archived_threads (
    workspace uuid not null,
    thread    uuid not null primary key,
    at        timestamptz(3) not null
  )`,
  // Their rows go in portions (src/threads/deleting.ts); nobody finds them any more.
  sql`create table if not exists deleted_threads (
    workspace uuid not null,
    thread    uuid not null primary key,
    at        timestamptz(3) not null default now()
  )`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
