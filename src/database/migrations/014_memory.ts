/**
 * Memory of agents and of workspaces: entries, and their versions.
 *
 * The version before does not know these tables and works beside them. A rollback to it removes this migration's name
 * and leaves what it made; each statement may find its work done.
 */
import { type Kysely, sql } from "kysely"

const statements = [
  // How many entries a store has: whoever makes or deletes one holds the row, so that the limit is exact.
  sql`create table if not exists memory_stores (
    workspace uuid not null,
    store     uuid not null,
    entries   int not null,
    primary key (workspace, store)
  ) with (fillfactor = 50)`,
  // `value` is null where the entry is deleted: its row goes on as the one to lock, and as the end of its chain of
  // versions. The store's own word stands among the words, in upper case as no word of a text does, so that a search
  // reads nothing of other stores (src/memory/searching.ts).
  sql`create table if not exists memory_entries (
    workspace  uuid not null,
    store      uuid not null,
    key        text collate "C" not null,
    value      text,
    size       int not null,
    version    uuid not null,
    seq        int not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    updated_by json not null,
    thread     uuid,
    turn       uuid,
    words      tsvector generated always as (case when value is not null then
      array_to_tsvector(array['S' || store::text]) ||
      setweight(to_tsvector('simple'::regconfig, key || ' ' || translate(key, '/._-:', '     ')), 'A') ||
      to_tsvector('simple'::regconfig, value) end) stored,
    primary key (workspace, store, key)
  )`,
  // What is not sorted into it yet is read by each search as a whole: little of it.
  sql`create index if not exists memory_entries_words on memory_entries using gin (words)
    with (gin_pending_list_limit = 256)`,
  // Pages of a store do not pass over what was deleted.
  sql`create index if not exists memory_entries_live on memory_entries (workspace, store, key) where value is not null`,
  sql`create index if not exists memory_entries_deleted on memory_entries (updated_at) where value is null`,
  // `value` is null of a delete, and of what was redacted.
  sql`create table if not exists memory_versions (
    workspace   uuid not null,
    store       uuid not null,
    key         text collate "C" not null,
    seq         int not null,
    version     uuid not null,
    previous    uuid,
    operation   text not null,
    size        int not null,
    value       text,
    redacted_at timestamptz,
    created_at  timestamptz not null,
    created_by  json not null,
    thread      uuid,
    turn        uuid,
    primary key (workspace, store, key, seq)
  )`
]

export const up = async (db: Kysely<unknown>) => {
  for (const statement of statements) await statement.execute(db)
}
