/** Columns of the table of schedules (migration 18), as queries see them. JSON columns are written as text. */
import type { ColumnType, Generated } from "kysely"

type Json = ColumnType<unknown, string, string>

export interface ScheduleTables {
  schedules: {
    workspace: string
    id: string
    agent: string
    body: Json
    rev: Generated<number>
    anchor: Date
    created_at: Date
    created_by: Json
    updated_at: Date
    deleted_at: Date | null
  }
}
