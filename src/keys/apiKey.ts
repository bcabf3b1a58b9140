/** API keys: what is readable of one, and the scopes that one may hold. The secret is shown once and never stored. */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { identityOf } from "../domain/identity.ts"
import { idOf } from "../domain/ids.ts"
import { has, is, part } from "../domain/jsonSchema.ts"
import { limits } from "../domain/limits.ts"
import { Origin, Principal } from "../domain/principal.ts"
import { AnyTime, Timestamp } from "../domain/time.ts"
import { Name } from "../domain/names.ts"
import { scopes } from "./scopes.ts"

export const Scope = Schema.Literals(scopes)
export type Scope = typeof Scope.Type

const Scopes = Schema.Array(Scope).check(Schema.isMinLength(1), Schema.isUnique())

/** What a request with the key is recorded as: the type of its principal. */
export const KeyKind = Schema.Literals(["api_key", "user", "trigger"])
export type KeyKind = typeof KeyKind.Type

/** Said once, of what is sent and of what is answered. */
const says = {
  name: "The key's name, for people.",
  scopes: "Rights of the key. Each operation names the scope that it needs; no scope includes another.",
  identity: "Identity that the key acts as. While that is disabled the key is refused.",
  provider: "The chat provider whose events a trigger brings. For kind `trigger` only.",
  agentIds: "Agents whose threads a trigger creates, reads and submits to. For kind `trigger` only.",
  feedIds: "Feeds that a trigger appends to. For kind `trigger` only; none when absent."
}

const Provider = Origin.fields.provider
const AgentIds = Schema.Array(idOf("agent")).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(limits.triggerAgents),
  Schema.isUnique()
)
const FeedIds = Schema.Array(idOf("feed")).check(Schema.isMaxLength(limits.triggerFeeds), Schema.isUnique())

/** What a trigger's key is for, and all that it may do there. */
export const TriggerContent = Schema.Struct({
  provider: Provider,
  agentIds: Schema.Array(Schema.String),
  feedIds: Schema.optionalKey(Schema.Array(Schema.String)),
  scopes: Schema.Array(Scope)
})
export type TriggerContent = typeof TriggerContent.Type

/** A trigger only brings events in: it configures and decides nothing. */
export const triggerScopes: ReadonlyArray<Scope> = ["read", "run"]
const ofTrigger = ["provider", "agentIds", "feedIds"] as const
const needed = ["provider", "agentIds"] as const

/**
 * Body of a create. Any RFC 3339 time is accepted for `expiresAt`; it must lie in the future, and no later than the end
 * of the key that makes it.
 */
export const ApiKeyInput = Schema.Struct({
  name: described(Name, says.name),
  kind: described(
    Schema.optionalKey(KeyKind),
    "Type of the principal that requests with the key are recorded under. `api_key` when absent."
  ),
  scopes: described(Scopes, says.scopes),
  identity: Schema.optionalKey(identityOf(says.identity)),
  provider: described(Schema.optionalKey(Provider), says.provider),
  agentIds: described(Schema.optionalKey(AgentIds), says.agentIds),
  feedIds: described(Schema.optionalKey(FeedIds), says.feedIds),
  expiresAt: described(
    Schema.optionalKey(AnyTime),
    "When the key stops working: in the future, and no later than the end of the key that makes it, which is the " +
      "default."
  )
})
  .check(
    Schema.makeFilter(
      (input) => {
        if (input.kind !== "trigger") {
          const strange = ofTrigger.find((field) => input[field] !== undefined)
          return strange === undefined || { path: [strange], issue: "must be left out: only a trigger has it" }
        }
        const lacking = needed.find((field) => input[field] === undefined)
        if (lacking !== undefined) return { path: [lacking], issue: "must be there: a trigger has it" }
        const at = input.scopes.findIndex((scope) => !triggerScopes.includes(scope))
        return at === -1 || { path: ["scopes", at], issue: "must be read or run: a trigger has no other" }
      },
      {
        toJsonSchema: () => ({
          if: is("kind", "trigger"),
          then: { allOf: [part({ scopes: { items: { enum: [...triggerScopes] } } }), ...needed.map(has)] },
          else: { not: { anyOf: ofTrigger.map(has) } }
        })
      }
    )
  )
  .annotate({ identifier: "ApiKeyInput" })
export type ApiKeyInput = typeof ApiKeyInput.Type

export const ApiKey = Schema.Struct({
  id: described(Schema.String, "Id of the key. It is no secret."),
  name: described(Schema.String, says.name),
  kind: described(KeyKind, "Type of the principal that requests with the key are recorded under."),
  scopes: described(Schema.Array(Scope), says.scopes),
  identity: described(Schema.optionalKey(Schema.String), says.identity),
  provider: described(Schema.optionalKey(Provider), says.provider),
  agentIds: described(Schema.optionalKey(Schema.Array(Schema.String)), says.agentIds),
  feedIds: described(Schema.optionalKey(Schema.Array(Schema.String)), says.feedIds),
  createdAt: described(Timestamp, "When the key was made."),
  createdBy: described(
    Schema.optionalKey(Principal),
    "Who made the key. Absent for keys that were made on the server's command line."
  ),
  expiresAt: described(Schema.optionalKey(Timestamp), "When the key stops working. Absent: never."),
  lastUsedAt: described(
    Schema.optionalKey(Timestamp),
    "When a request last came with the key, to about a minute. Absent until the first."
  )
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type

/** Body of a rotation. */
export const KeyRotation = Schema.Struct({
  overlapSeconds: described(
    Schema.optionalKey(
      Schema.Int.check(
        Schema.isBetween(
          { minimum: 0, maximum: limits.keyOverlapSeconds.most },
          { expected: `0 to ${limits.keyOverlapSeconds.most}` }
        )
      )
    ),
    `Seconds for which the old key goes on beside the new one: ${limits.keyOverlapSeconds.usual} when absent. With ` +
      "0 it ends at once."
  )
}).annotate({ identifier: "KeyRotation" })
export type KeyRotation = typeof KeyRotation.Type
