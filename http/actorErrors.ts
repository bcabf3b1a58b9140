/** What an actor's refusal is over HTTP: the same word, held to those that the endpoint declares. */
import { Effect } from "effect"
import type { ActorError } from "../actors/Actor.ts"
import { type ErrorWord, Refused } from "./errors.ts"

/** What any command may come to. */
type Always =
  | "invalid_request"
  | "permission_denied"
  | "not_found"
  | "identity_disabled"
  | "rate_limited"
  | "idempotency_key_reused"
  | "runtime_unavailable"
  | "node_draining"

const draining = () =>
  new Refused({ error: "node_draining", message: "this node is shutting down; try again", retryAfterSeconds: 1 })
const unreachable = (retryAfterSeconds: number) =>
  new Refused({
    error: "runtime_unavailable",
    message: "the resource's owner does not answer; try again",
    retryAfterSeconds
  })
const reused = () =>
  new Refused({ error: "idempotency_key_reused", message: "this Idempotency-Key came with another body before" })

/**
 * Made once an endpoint: `Effect.catch(threads.submit(…), refuseWith("turn_conflict"))`. A word that it did not declare
 * is a bug.
 */
export const refuseWith = <const Words extends ReadonlyArray<ErrorWord>>(...words: Words) => {
  const declared: ReadonlyArray<Words[number]> = words
  const always: ReadonlyArray<Always> = [
    "invalid_request",
    "permission_denied",
    "not_found",
    "identity_disabled",
    "rate_limited"
  ]
  return (error: ActorError): Effect.Effect<never, Refused<Words[number]> | Refused<Always>> => {
    switch (error._tag) {
      case "Refused": {
        const { code, message, reason, retryAfterSeconds } = error
        const rest = {
          message,
          ...(code === undefined ? {} : { code }),
          ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
        }
        const word = declared.find((word) => word === reason)
        if (word !== undefined) return Effect.fail(new Refused({ error: word, ...rest }))
        const common = always.find((word) => word === reason)
        return common === undefined ? Effect.die(error) : Effect.fail(new Refused({ error: common, ...rest }))
      }
      case "KeyReused":
        return Effect.fail(reused())
      case "Unreachable":
        return Effect.fail(unreachable(error.retryAfterSeconds))
      case "Draining":
        return Effect.fail(draining())
    }
  }
}
