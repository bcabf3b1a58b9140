/** What a subscription is refused with, as the interface and tools say it. */
import type { Schema } from "effect"
import { limits } from "../domain/limits.ts"
import type { InvalidCondition } from "./condition.ts"
import type { NoPlace } from "./enlisting.ts"
import type { SubscriptionFailure } from "./Subscriptions.ts"

/** What anything may be refused with. */
type CommonWord = "invalid_request" | "not_found" | "permission_denied" | "runtime_unavailable"
type RefusalWord =
  | "precondition_failed"
  | "feed_archived"
  | "agent_archived"
  | "feed_not_found"
  | "thread_not_found"
  | "thread_archived"
  | "model_unavailable"
  | "too_many_subscriptions"

interface Words {
  readonly message: string
  readonly code?: string
  readonly retryAfterSeconds?: number
}
export interface SubscriptionRefusal<out W extends RefusalWord = RefusalWord> extends Words {
  readonly _tag: "SubscriptionRefusal"
  readonly error: W
}
export interface CommonRefusal extends Words {
  readonly _tag: "CommonRefusal"
  readonly error: CommonWord
}

/** What a patch has made of it does not fit. */
export interface UnfitSettings {
  readonly _tag: "UnfitSettings"
  readonly cause: Schema.SchemaError
}

const refuse = <const W extends RefusalWord>(error: W, message: string): SubscriptionRefusal<W> => ({
  _tag: "SubscriptionRefusal",
  error,
  message
})
const refuseAsAny = (error: CommonWord, message: string, more: Omit<Words, "message"> = {}): CommonRefusal => ({
  _tag: "CommonRefusal",
  error,
  message,
  ...more
})

export const noSubscription = refuseAsAny("not_found", "no such subscription")
const noAgent = refuseAsAny("not_found", "no such agent")
export const subscriptionChanged = refuse("precondition_failed", "If-Match: the subscription has changed since")
export const feedArchived = refuse("feed_archived", "the feed is archived")
export const agentArchived = refuse("agent_archived", "the agent is archived")
const feedNotFound = refuse("feed_not_found", "feedId: no such feed")
export const threadNotFound = refuse("thread_not_found", "target.threadId: the agent has no such thread")
export const threadArchived = refuse("thread_archived", "target.threadId: the thread is archived")
export const noModel = refuse("model_unavailable", "screen.model: no model is available for it")
export const modelNotInProfile = refuseAsAny(
  "permission_denied",
  "screen.model: the agent's profile does not select it",
  { code: "model_not_in_profile" }
)
const unavailable = refuseAsAny("runtime_unavailable", "the subscription cannot be reached; try again", {
  retryAfterSeconds: 1
})

export const invalidCondition = ({ at, invalid }: InvalidCondition) =>
  refuseAsAny("invalid_request", `condition: ${invalid}, at position ${at}`, { code: "invalid_condition" })

export const invalidCadence = ({ code, message }: { readonly code: string; readonly message: string }) =>
  refuseAsAny("invalid_request", `cadence.${message}`, { code })

export const cursorBehind = (lastSeq: number) =>
  refuseAsAny("invalid_request", `cursor: expected at most ${lastSeq}, the feed's last seq`, { code: "invalid_body" })

export const refusePlace = (none: NoPlace) => {
  switch (none.refused) {
    case "no_agent":
      return noAgent
    case "agent_archived":
      return agentArchived
    case "no_feed":
      return feedNotFound
    case "feed_archived":
      return feedArchived
    case "too_many":
      return refuse(
        "too_many_subscriptions",
        none.of === "agent"
          ? `the agent has ${limits.subscriptionsPerAgent} subscriptions, as many as it may`
          : `the feed has ${limits.subscriptionsPerFeed} subscriptions, as many as it may`
      )
  }
}

/** What the actor has answered. */
export const refusedBy = (failure: SubscriptionFailure) => {
  switch (failure._tag) {
    case "NoSubscription":
      return noSubscription
    case "SubscriptionChanged":
      return subscriptionChanged
    case "SubscriptionUnavailable":
      return unavailable
  }
}

/** The same of one that is being made. */
export const birthRefusedBy = (failure: Exclude<SubscriptionFailure, { readonly _tag: "SubscriptionChanged" }>) =>
  failure._tag === "NoSubscription" ? noSubscription : unavailable
