/** Columns of the tables of tools (migrations 3 and 7), as queries see them. JSON columns are written as text. */
import type { ColumnType } from "kysely"

type Json = ColumnType<unknown, string, string>

export interface ToolTables {
  connections: {
    workspace: string
    id: string
    body: Json
    sealed: string
    rev: number
    created_at: Date
    updated_at: Date
    last_used_at: Date | null
  }
  toolsets: {
    workspace: string
    id: string
    namespace: string
    connection: string | null
    /** Migration 7. */
    trusted: ColumnType<boolean, boolean | undefined, boolean>
    body: Json
    checked: Json
    catalogue: number
    rev: number
    created_at: Date
    updated_at: Date
  }
  catalogues: { workspace: string; toolset: string; version: number; body: Json; created_at: Date }
  roles: {
    workspace: string
    id: string
    name: string
    body: Json
    rev: number
    created_at: Date
    updated_at: Date
    created_by: Json
  }
}
