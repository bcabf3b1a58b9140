/** Columns of the tables of feeds (migrations 16 and 19), as queries see them. JSON columns are written as text. */
import type { ColumnType, Generated } from "kysely"

type Json = ColumnType<unknown, string, string>
/** Drivers read what is larger than an int as text. */
type Count = ColumnType<string, number | undefined, number>

export interface FeedTables {
  feeds: {
    workspace: string
    id: string
    name: string
    description: string | null
    tags: Array<string>
    max_messages: number | null
    max_age_seconds: number | null
    first_seq: Count
    last_seq: Count
    subscribers_rev: Count
    rev: Generated<number>
    created_at: Date
    created_by: Json
    updated_at: Date
    archived_at: Date | null
  } /** Of each subscription that was made and is not deleted: what an append has to know of it. */
  subscribers: {
    workspace: string
    feed: string
    id: string
    agent: string
    listed: boolean
    condition: string | null
    include_self: boolean
    created_at: Date
    told_version: number | null
    told_seq: string | null
  }
}
