/** API keys (design, section 14): what is readable of one, and the scopes that one may hold. The secret is shown once and never stored. */
import { Schema } from "effect"
import { Name } from "./agent.ts"
import { Identity } from "./identity.ts"
import { Principal } from "./principal.ts"
import { AnyTime, Timestamp } from "./time.ts"

export const scopes = ["read", "run", "write", "approve", "admin"] as const
export const Scope = Schema.Literals(scopes)
export type Scope = typeof Scope.Type

const Scopes = Schema.Array(Scope).check(Schema.isMinLength(1), Schema.isUnique())

/** What a request with the key is recorded as: the type of its principal. */
export const KeyKind = Schema.Literals(["api_key", "user", "trigger"])
export type KeyKind = typeof KeyKind.Type

/** Body of a create. Any RFC 3339 time is accepted for `expiresAt`; it must lie in the future, and no later than the end of the key that makes it. */
export const ApiKeyInput = Schema.Struct({
  name: Name,
  /** api_key when absent. */
  kind: Schema.optionalKey(Schema.Literals(["api_key", "user"])),
  scopes: Scopes,
  identity: Schema.optionalKey(Identity),
  expiresAt: Schema.optionalKey(AnyTime)
}).annotate({ identifier: "ApiKeyInput" })
export type ApiKeyInput = typeof ApiKeyInput.Type

export const ApiKey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  kind: KeyKind,
  scopes: Schema.Array(Scope),
  identity: Schema.optionalKey(Schema.String),
  createdAt: Timestamp,
  createdBy: Schema.optionalKey(Principal),
  expiresAt: Schema.optionalKey(Timestamp),
  lastUsedAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type
