/** Columns of the tables of webhooks (migration 20), as queries see them. JSON columns are written as text. */
import type { ColumnType, Generated } from "kysely"

type Json = ColumnType<unknown, string, string>

export interface WebhookTables {
  webhooks: {
    workspace: string
    id: string
    url: string
    events: ReadonlyArray<string>
    agent: string | null
    description: string | null
    enabled: boolean
    disabled_reason: string | null
    sealed: string
    previous: string | null
    previous_until: Date | null
    rev: Generated<number>
    failures: Generated<number>
    failing_since: Date | null
    last_success_at: Date | null
    last_failure_at: Date | null
    created_at: Date
    created_by: Json
    updated_at: Date
  }
  webhook_events: {
    workspace: string
    id: string
    type: string
    agent: string | null
    body: string
    created_at: Date
  }
  webhook_deliveries: {
    workspace: string
    id: string
    webhook: string
    event: string
    state: "pending" | "delivered" | "failed"
    attempts: Generated<number>
    next_at: Date
    last_status: number | null
    last_error: string | null
    created_at: Date
  }
}
