/** A webhook as clients see it, from its row. */
import { Schema } from "effect"
import { fromUuid } from "../domain/ids.ts"
import { Principal } from "../domain/principal.ts"
import { toTimestamp } from "../domain/time.ts"
import { WebhookDisabledReason, type Webhook, WebhookEventType, type WebhookInput } from "./webhook.ts"

export interface StoredWebhook {
  readonly webhook: Webhook
  readonly rev: number
}

const readPrincipal = Schema.decodeUnknownSync(Principal)
const readEvents = Schema.decodeUnknownSync(Schema.Array(WebhookEventType))
const readReason = Schema.decodeUnknownSync(WebhookDisabledReason)

export const columns = [
  "id",
  "url",
  "events",
  "agent",
  "description",
  "enabled",
  "disabled_reason",
  "rev",
  "last_success_at",
  "last_failure_at",
  "created_at",
  "created_by",
  "updated_at"
] as const

export interface Row {
  readonly id: string
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly agent: string | null
  readonly description: string | null
  readonly enabled: boolean
  readonly disabled_reason: string | null
  readonly rev: number
  readonly last_success_at: Date | null
  readonly last_failure_at: Date | null
  readonly created_at: Date
  readonly created_by: unknown
  readonly updated_at: Date
}

const timeOf = (at: Date) => toTimestamp(at.getTime())

/** What a client has said of it. */
export const webhookInputOf = ({ agent, description, enabled, events, url }: Row): WebhookInput => ({
  url,
  events: readEvents(events),
  ...(agent === null ? {} : { agentId: fromUuid("agent", agent) }),
  ...(description === null ? {} : { description }),
  enabled
})

export const stored = (row: Row): StoredWebhook => ({
  rev: row.rev,
  webhook: {
    id: fromUuid("webhook", row.id),
    ...webhookInputOf(row),
    enabled: row.enabled,
    status: row.enabled ? "active" : "disabled",
    ...(row.disabled_reason === null ? {} : { disabledReason: readReason(row.disabled_reason) }),
    ...(row.last_success_at === null ? {} : { lastSuccessAt: timeOf(row.last_success_at) }),
    ...(row.last_failure_at === null ? {} : { lastFailureAt: timeOf(row.last_failure_at) }),
    createdAt: timeOf(row.created_at),
    createdBy: readPrincipal(row.created_by),
    updatedAt: timeOf(row.updated_at)
  }
})
