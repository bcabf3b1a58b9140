/** Columns of the tables of memory (migration 14), as queries see them. */
import type { ColumnType, GeneratedAlways } from "kysely"

type Json = ColumnType<unknown, string, string>

interface Written {
  workspace: string
  store: string
  key: string
  seq: number
  version: string
  /** Of an entry: null where it is deleted. Of a version: null where it is a delete, or was redacted. */
  value: string | null
  size: number
  created_at: Date
  thread: string | null
  turn: string | null
}

export interface MemoryTables {
  memory_stores: { workspace: string; store: string; entries: number }
  memory_entries: Written & { updated_at: Date; updated_by: Json; words: GeneratedAlways<string | null> }
  memory_versions: Written & {
    previous: string | null
    operation: string
    redacted_at: Date | null
    created_by: Json
  }
}
