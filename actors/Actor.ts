/** What every kind of actor has in common: how it answers, and how it may fail to. */
import { Data } from "effect"
import { ExpectedError } from "../src/domain/expected.ts"

/** What a command came to. */
export interface Reply {
  /** Something was made, something is told, or there is nothing to tell. */
  readonly kind: "created" | "found" | "done"
  /** JSON text; empty where there is nothing to tell. */
  readonly body: string
  /** The kept answer of an earlier request with the same idempotency key. */
  readonly replayed?: boolean
  /** Of the attributes that the body shows: its ETag. */
  readonly version?: number
}

/** Why an actor may not accept: the contract's error words. */
export const reasons = [
  "turn_conflict",
  "queue_full",
  "input_not_pending",
  "model_not_allowed_with_steer",
  "nothing_to_retry",
  "nothing_to_compact",
  "thread_archived",
  "wait_not_open",
  "wait_type_mismatch",
  "permission_denied",
  "invalid_request",
  "identity_disabled",
  "agent_archived",
  "agent_not_found",
  "profile_not_found",
  "model_unavailable",
  "model_not_priced",
  "budget_exceeded",
  "thread_cost_exceeded",
  "image_not_found",
  "origin_not_allowed",
  "own_identity",
  "not_found",
  "quota_exceeded",
  "rate_limited",
  "precondition_failed"
] as const

/** The actor understood and does not accept. Nothing has changed. */
export class Declined extends ExpectedError("Refused")<{
  readonly reason: (typeof reasons)[number]
  readonly message: string
  readonly code?: string
  readonly retryAfterSeconds?: number
}> {}

/** The idempotency key was used with another body. */
export class KeyReused extends ExpectedError("KeyReused") {}

/** No owner could be reached, or the journal did not answer: nothing is known to have happened. */
export class Unreachable extends Data.TaggedError("Unreachable")<{
  readonly retryAfterSeconds: number
  /** There is such an actor. Another node owns it, or did: until its lease lapses, or until it gave it back. */
  readonly elsewhere?: true
}> {}

/** This node is on its way out. */
export class Draining extends Data.TaggedError("Draining") {}

export type ActorError = Declined | KeyReused | Unreachable | Draining
