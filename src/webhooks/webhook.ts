/**
 * Webhook: an endpoint of a workspace that is told of what happens in it, and each telling (contract C44.1 to C44.3).
 */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { AgentId, WebhookDeliveryId, WebhookId } from "../domain/resourceIds.ts"
import { idOf } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { Principal } from "../domain/principal.ts"
import { maxBytes, storable } from "../domain/text.ts"
import { Timestamp } from "../domain/time.ts"
import { outboundUrl } from "../domain/url.ts"

/** Everything that an endpoint may be told of. */
export const eventTypes = [
  "thread.status",
  "turn.completed",
  "turn.failed",
  "wait.created",
  "operation.created",
  "budget.reached",
  "schedule.failed",
  "schedule.disabled",
  "subscription.disabled",
  "connection.refresh_failed",
  "webhook.test"
] as const
export const WebhookEventType = Schema.Literals(eventTypes).annotate({ identifier: "WebhookEventType" })
export type WebhookEventType = typeof WebhookEventType.Type

/** Said once, of what is sent and of what is answered. */
const says = {
  url: "Address that events are sent to, by POST.",
  events: "Types of events that it is told of, each once. `webhook.test` is sent whether it stands here or not.",
  agentId: "Agent whose events it is told of. Absent: those of all agents, and those of none.",
  description: "The webhook's purpose, in words for people.",
  enabled: "Whether anything is sent. True when absent."
}

const Url = outboundUrl({ query: true })
const Events = Schema.Array(WebhookEventType).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(eventTypes.length),
  Schema.isUnique()
)
const Description = Schema.String.check(maxBytes(limits.webhookDescriptionBytes), storable)

/** What a client may say of a webhook: the body of a create, and what a patch is merged into. */
export const WebhookInput = Schema.Struct({
  url: described(Url, says.url),
  events: described(Events, says.events),
  agentId: described(Schema.optionalKey(AgentId), says.agentId),
  description: described(Schema.optionalKey(Description), says.description),
  enabled: described(Schema.optionalKey(Schema.Boolean), says.enabled)
}).annotate({ identifier: "WebhookInput" })
export type WebhookInput = typeof WebhookInput.Type

/** JSON Merge Patch of a webhook: absent keeps, null clears. The merged whole is checked again as `WebhookInput`. */
export const WebhookPatch = Schema.Struct({
  url: described(Schema.optionalKey(Url), says.url),
  events: described(Schema.optionalKey(Events), says.events),
  agentId: described(Schema.optionalKey(Schema.NullOr(AgentId)), says.agentId),
  description: described(Schema.optionalKey(Schema.NullOr(Description)), says.description),
  enabled: described(Schema.optionalKey(Schema.Boolean), "False: nothing is sent, and what is pending ends as failed.")
}).annotate({ identifier: "WebhookPatch" })
export type WebhookPatch = typeof WebhookPatch.Type

/** Why the server has disabled it: too many failures, or an endpoint that has answered 410. */
export const WebhookDisabledReason = Schema.Literals(["failures", "gone"])
export type WebhookDisabledReason = typeof WebhookDisabledReason.Type

export const Webhook = Schema.Struct({
  id: WebhookId,
  url: described(Schema.String, says.url),
  events: described(Schema.Array(WebhookEventType), says.events),
  agentId: described(Schema.optionalKey(AgentId), says.agentId),
  description: described(Schema.optionalKey(Schema.String), says.description),
  enabled: described(Schema.Boolean, "Whether anything is sent."),
  status: described(Schema.Literals(["active", "disabled"]), "`disabled`: nothing is sent."),
  disabledReason: described(
    Schema.optionalKey(WebhookDisabledReason),
    "Why the server has disabled it: `failures` in a row for a day, or `gone`, an answer 410."
  ),
  lastSuccessAt: described(Schema.optionalKey(Timestamp), "When an event was last taken."),
  lastFailureAt: described(Schema.optionalKey(Timestamp), "When an attempt has last failed."),
  createdAt: described(Timestamp, "When it was made."),
  createdBy: described(Principal, "Who has made it."),
  updatedAt: described(Timestamp, "When it was last changed.")
}).annotate({ identifier: "Webhook" })
export type Webhook = typeof Webhook.Type

export const DeliveryState = Schema.Literals(["pending", "delivered", "failed"]).annotate({
  identifier: "WebhookDeliveryState"
})

export const WebhookDelivery = Schema.Struct({
  id: WebhookDeliveryId,
  eventId: described(idOf("webhookEvent"), "Id of the event, which every attempt bears as `webhook-id`."),
  type: described(WebhookEventType, "Type of the event."),
  state: described(DeliveryState, "`pending` until it was taken, or has failed for good."),
  attempts: described(Schema.Int, "How often it was sent."),
  nextAttemptAt: described(Schema.optionalKey(Timestamp), "When a pending delivery is sent next."),
  lastStatus: described(Schema.optionalKey(Schema.Int), "Status of the last answer."),
  lastError: described(Schema.optionalKey(Schema.String), "Why the last attempt has failed."),
  createdAt: described(Timestamp, "When it happened.")
}).annotate({ identifier: "WebhookDelivery" })
export type WebhookDelivery = typeof WebhookDelivery.Type
