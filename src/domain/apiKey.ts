/** API keys (design, section 14): what is readable of one, and the scopes that one may hold. The secret is shown once and never stored. */
import { Schema } from "effect"
import { Name } from "./agent.ts"
import { Identity } from "./identity.ts"
import { Principal } from "./principal.ts"
import { Timestamp } from "./time.ts"

export const scopes = ["read", "run", "write", "approve", "admin"] as const
export const Scope = Schema.Literals(scopes)
export type Scope = typeof Scope.Type

const Scopes = Schema.Array(Scope).check(Schema.isMinLength(1), Schema.isUnique())

/** Date.parse takes February 31 for March 3. */
const isDay = (text: string) => {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

/** Body of a create. Any RFC 3339 time is accepted for `expiresAt`; it must lie in the future. */
export const ApiKeyInput = Schema.Struct({
  name: Name,
  scopes: Scopes,
  identity: Schema.optionalKey(Identity),
  expiresAt: Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/, { expected: "an RFC 3339 time" }),
      Schema.makeFilter((text) => isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)) || "an RFC 3339 time")
    ).annotate({ format: "date-time" })
  )
}).annotate({ identifier: "ApiKeyInput" })
export type ApiKeyInput = typeof ApiKeyInput.Type

export const ApiKey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Scope),
  identity: Schema.optionalKey(Schema.String),
  createdAt: Timestamp,
  createdBy: Schema.optionalKey(Principal),
  expiresAt: Schema.optionalKey(Timestamp),
  lastUsedAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type
