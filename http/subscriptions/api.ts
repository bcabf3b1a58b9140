/** Subscriptions: create, list, get, patch, delete, what became of messages, a sample (contract C40). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { limits } from "../../src/domain/limits.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { AgentId, FeedId, SubscriptionId } from "../../src/domain/resourceIds.ts"
import {
  Evaluated,
  Evaluation,
  SampleMessage,
  Subscription,
  SubscriptionInput,
  SubscriptionPatch
} from "../../src/subscriptions/subscription.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"

export const SubscriptionPage = Schema.Struct({
  subscriptions: described(Schema.Array(Subscription), "Subscriptions of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "SubscriptionPage" })

export const EvaluationPage = Schema.Struct({
  evaluations: described(Schema.Array(Evaluation), "Evaluations of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "EvaluationPage" })

export const EvaluateSample = Schema.Struct({
  sample: described(SampleMessage, "A message that might come.")
}).annotate({ identifier: "EvaluateSample" })

const says = (summary: string, text: string) => OpenApi.annotations({ summary, description: text })

export const SubscriptionsApi = HttpApiGroup.make("subscriptions")
  .add(
    HttpApiEndpoint.post("create", "/agents/:agentId/subscriptions", {
      params: { agentId: AgentId },
      payload: SubscriptionInput,
      success: Subscription.pipe(HttpApiSchema.status(201)),
      error: refuses(
        "feed_not_found",
        "feed_archived",
        "agent_archived",
        "thread_not_found",
        "thread_archived",
        "model_unavailable",
        "too_many_subscriptions",
        "queue_full"
      )
    })
      .annotateMerge(access("write", { stores: "rows", lease: true, parks: true }))
      .annotateMerge(
        says(
          "Create a subscription",
          `Messages of the feed that match become messages of the agent. At most ${limits.subscriptionsPerAgent} an ` +
            `agent, ${limits.subscriptionsPerFeed} a feed.`
        )
      ),
    HttpApiEndpoint.get("list", "/subscriptions", {
      query: {
        agentId: described(Schema.optional(AgentId), "Only those of this agent."),
        feedId: described(Schema.optional(FeedId), "Only those to this feed."),
        limit: limitOf("subscriptions"),
        cursor: CursorParam
      },
      success: SubscriptionPage
    })
      .annotateMerge(access("read", { lease: true }))
      .annotateMerge(says("List subscriptions", "Newest first. A lease lists those of its agent.")),
    HttpApiEndpoint.get("get", "/subscriptions/:subscriptionId", {
      params: { subscriptionId: SubscriptionId },
      success: Subscription,
      error: refuses("queue_full")
    })
      .annotateMerge(access("read", { lease: true, parks: true }))
      .annotateMerge(says("Get a subscription", "The ETag is what `If-Match` of a patch or delete is held against.")),
    HttpApiEndpoint.patch("update", "/subscriptions/:subscriptionId", {
      params: { subscriptionId: SubscriptionId },
      headers: IfMatch,
      payload: SubscriptionPatch,
      success: Subscription,
      error: refuses(
        "feed_archived",
        "agent_archived",
        "thread_not_found",
        "thread_archived",
        "model_unavailable",
        "precondition_failed",
        "queue_full"
      )
    })
      .annotateMerge(access("write", { lease: true, parks: true }))
      .annotateMerge(
        says(
          "Change a subscription",
          "JSON Merge Patch (RFC 7396): absent keeps, null clears; `cadence` and `target` are replaced as a whole. " +
            "`enabled` stops it and lets it go on from where it was; `cursor` skips or repeats."
        )
      ),
    HttpApiEndpoint.delete("delete", "/subscriptions/:subscriptionId", {
      params: { subscriptionId: SubscriptionId },
      headers: IfMatch,
      success: HttpApiSchema.NoContent,
      error: refuses("precondition_failed", "queue_full")
    })
      .annotateMerge(access("write", { lease: true, parks: true }))
      .annotateMerge(says("Delete a subscription", "Its threads stay. What is in hand is not handed over.")),
    HttpApiEndpoint.get("evaluations", "/subscriptions/:subscriptionId/evaluations", {
      params: { subscriptionId: SubscriptionId },
      query: { limit: limitOf("evaluations"), cursor: CursorParam },
      success: EvaluationPage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        says(
          "List evaluations",
          `Outcomes of messages that matched when they came, of the last ${limits.evaluationDays} days, newest ` +
            `first.`
        )
      ),
    HttpApiEndpoint.post("evaluate", "/subscriptions/:subscriptionId/evaluate", {
      params: { subscriptionId: SubscriptionId },
      payload: EvaluateSample,
      success: Evaluated
    })
      .annotateMerge(access("write"))
      .annotateMerge(
        says(
          "Try a subscription on a sample",
          "Says whether such a message would match, and what would be handed over. No model is asked, nothing changes."
        )
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Agent subscriptions over feeds." }))
