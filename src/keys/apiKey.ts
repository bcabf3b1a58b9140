/** API keys: what is readable of one, and the scopes that one may hold. The secret is shown once and never stored. */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { identityOf } from "../domain/identity.ts"
import { Principal } from "../domain/principal.ts"
import { AnyTime, Timestamp } from "../domain/time.ts"
import { Name } from "../domain/names.ts"

export const scopes = ["read", "run", "write", "approve", "admin"] as const
export const Scope = Schema.Literals(scopes)
export type Scope = typeof Scope.Type

const Scopes = Schema.Array(Scope).check(Schema.isMinLength(1), Schema.isUnique())

/** What a request with the key is recorded as: the type of its principal. */
export const KeyKind = Schema.Literals(["api_key", "user", "trigger"])
export type KeyKind = typeof KeyKind.Type

/** Said once, of what is sent and of what is answered. */
const says = {
  name: "What people call the key.",
  scopes: "What the key may do. Each operation names the scope that it needs; no scope includes another.",
  identity: "Identity that the key acts as. While that is disabled the key is refused."
}

/**
 * Body of a create. Any RFC 3339 time is accepted for `expiresAt`; it must lie in the future, and no later than the end
 * of the key that makes it.
 */
export const ApiKeyInput = Schema.Struct({
  name: described(Name, says.name),
  kind: described(
    Schema.optionalKey(Schema.Literals(["api_key", "user"])),
    "What requests with the key are recorded as: the type of their principal. `api_key` when absent."
  ),
  scopes: described(Scopes, says.scopes),
  identity: Schema.optionalKey(identityOf(says.identity)),
  expiresAt: described(
    Schema.optionalKey(AnyTime),
    "When the key stops working: in the future, and no later than the end of the key that makes it, which is the " +
      "default."
  )
}).annotate({ identifier: "ApiKeyInput" })
export type ApiKeyInput = typeof ApiKeyInput.Type

export const ApiKey = Schema.Struct({
  id: described(Schema.String, "Id of the key. It is no secret."),
  name: described(Schema.String, says.name),
  kind: described(KeyKind, "What requests with the key are recorded as: the type of their principal."),
  scopes: described(Schema.Array(Scope), says.scopes),
  identity: described(Schema.optionalKey(Schema.String), says.identity),
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
