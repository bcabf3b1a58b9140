/** Webhooks: endpoints that are told what happens in the workspace, and their deliveries (contract C44.1 to C44.4). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { limits } from "../../src/domain/limits.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { WebhookDeliveryId, WebhookId } from "../../src/domain/resourceIds.ts"
import { AnyTime } from "../../src/domain/time.ts"
import { DeliveryState, Webhook, WebhookDelivery, WebhookInput, WebhookPatch } from "../../src/webhooks/webhook.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"

export const WebhookAnswer = Schema.Struct({
  webhook: described(Webhook, "The webhook, without its secret.")
}).annotate({
  identifier: "WebhookAnswer"
})

export const WebhookSecretAnswer = Schema.Struct({
  webhook: described(Webhook, "The webhook."),
  secret: described(Schema.String, "Signs deliveries, as Standard Webhooks has it: `whsec_…`. Shown only here.")
}).annotate({ identifier: "WebhookSecretAnswer" })

export const WebhookPage = Schema.Struct({
  webhooks: described(Schema.Array(Webhook), "Webhooks of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "WebhookPage" })

export const WebhookDeliveryAnswer = Schema.Struct({
  delivery: described(WebhookDelivery, "The delivery.")
}).annotate({ identifier: "WebhookDeliveryAnswer" })

export const WebhookDeliveryPage = Schema.Struct({
  deliveries: described(Schema.Array(WebhookDelivery), "Deliveries of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "WebhookDeliveryPage" })

export const RotateWebhookInput = Schema.Struct({
  overlapSeconds: described(
    Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: limits.webhookOverlapSeconds.most }))),
    `For how long the secret before signs beside the new one. ${limits.webhookOverlapSeconds.usual} when absent.`
  )
}).annotate({ identifier: "RotateWebhookInput" })

export const ResendInput = Schema.Struct({
  from: described(AnyTime, "Deliveries of events that happened at this moment or later."),
  to: described(Schema.optionalKey(AnyTime), "And before this one. Absent: until now.")
}).annotate({ identifier: "ResendInput" })

export const ResentAnswer = Schema.Struct({
  count: described(Schema.Int, "How many deliveries are due again.")
}).annotate({ identifier: "ResentAnswer" })

const says = (summary: string, text: string) => OpenApi.annotations({ summary, description: text })
const one = { params: { webhookId: WebhookId } }

export const WebhooksApi = HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.post("create", "/webhooks", {
      payload: WebhookInput,
      success: WebhookSecretAnswer.pipe(HttpApiSchema.status(201)),
      error: refuses("agent_not_found", "too_many_webhooks")
    })
      .annotateMerge(access("admin", { stores: "rows" }))
      .annotateMerge(
        says(
          "Create a webhook",
          `A workspace has at most ${limits.webhooks}. What happens from now on is sent: thin bodies of ids, at ` +
            "least once, in no promised order, each signed with the secret that this answer shows."
        )
      ),
    HttpApiEndpoint.get("list", "/webhooks", {
      query: { limit: limitOf("webhooks"), cursor: CursorParam },
      success: WebhookPage
    })
      .annotateMerge(access("admin"))
      .annotateMerge(says("List webhooks", "Newest first, without their secrets.")),
    HttpApiEndpoint.get("get", "/webhooks/:webhookId", { ...one, success: WebhookAnswer })
      .annotateMerge(access("admin"))
      .annotateMerge(
        says("Get a webhook", "Without its secret. The ETag is what `If-Match` of a patch is held against.")
      ),
    HttpApiEndpoint.patch("update", "/webhooks/:webhookId", {
      ...one,
      headers: IfMatch,
      payload: WebhookPatch,
      success: WebhookAnswer,
      error: refuses("agent_not_found", "precondition_failed")
    })
      .annotateMerge(access("admin"))
      .annotateMerge(
        says(
          "Change a webhook",
          "JSON Merge Patch (RFC 7396): absent keeps, null clears. Its failures count anew where it is enabled again " +
            "or gets another `url`."
        )
      ),
    HttpApiEndpoint.delete("delete", "/webhooks/:webhookId", {
      ...one,
      headers: IfMatch,
      success: HttpApiSchema.NoContent,
      error: refuses("precondition_failed")
    })
      .annotateMerge(access("admin"))
      .annotateMerge(says("Delete a webhook", "For good, with its secret and its deliveries.")),
    HttpApiEndpoint.post("rotate", "/webhooks/:webhookId/rotate", {
      ...one,
      payload: RotateWebhookInput,
      success: WebhookSecretAnswer
    })
      .annotateMerge(access("admin", { stores: "rows" }))
      .annotateMerge(
        says("Rotate the secret", "Both secrets sign until the overlap is over: receivers may change over meanwhile.")
      ),
    HttpApiEndpoint.post("test", "/webhooks/:webhookId/test", {
      ...one,
      success: WebhookDeliveryAnswer
    })
      .annotateMerge(access("admin", { stores: "rows" }))
      .annotateMerge(says("Send a test", "An event `webhook.test` to this endpoint. What becomes of it is listed.")),
    HttpApiEndpoint.get("deliveries", "/webhooks/:webhookId/deliveries", {
      ...one,
      query: {
        state: described(Schema.optional(DeliveryState), "Only those in this state."),
        limit: limitOf("webhookDeliveries"),
        cursor: CursorParam
      },
      success: WebhookDeliveryPage
    })
      .annotateMerge(access("admin"))
      .annotateMerge(says("List deliveries", `Newest first, for ${limits.webhookDays} days.`)),
    HttpApiEndpoint.post("redeliver", "/webhooks/:webhookId/deliveries/:webhookDeliveryId/redeliver", {
      params: { webhookId: WebhookId, webhookDeliveryId: WebhookDeliveryId },
      success: WebhookDeliveryAnswer
    })
      .annotateMerge(access("admin", { stores: "rows" }))
      .annotateMerge(
        says(
          "Send one again",
          "At once and as if it had never been sent, whatever has become of it, with the same `webhook-id`."
        )
      ),
    HttpApiEndpoint.post("resend", "/webhooks/:webhookId/resend", {
      ...one,
      payload: ResendInput,
      success: ResentAnswer
    })
      .annotateMerge(access("admin", { stores: "rows" }))
      .annotateMerge(says("Send failed deliveries again", "All deliveries of a time that have failed for good."))
  )
  .annotateMerge(OpenApi.annotations({ description: "Endpoints that are told what happens in the workspace." }))
