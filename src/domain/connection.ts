/**
 * Connection (design, section 9): a credential for somebody else's server, write-only, and what may be shown of it.
 *
 * The secret comes in by create and patch and is never read back over the interface. OAuth comes later.
 */
import { Redacted, Schema } from "effect"
import { HostPattern, OutboundUrl, type Reach } from "../outbound/urls.ts"
import { Name } from "./agent.ts"
import { limits } from "./limits.ts"
import { Principal } from "./principal.ts"
import { providerUrl } from "./providers.ts"
import { Timestamp } from "./time.ts"

/** Whose server it is: a label such as `github`. */
export const Provider = Schema.String.check(
  Schema.isPattern(new RegExp(`^[a-z0-9][a-z0-9._-]{0,${limits.providerChars - 1}}$`, "u"), { expected: `1 to ${limits.providerChars} lower-case letters, digits, dots, - or _` })
)

/** Goes into a header as it is. */
const HeaderSecret = Schema.String.check(
  Schema.isMaxLength(limits.connectionSecretChars, { expected: `at most ${limits.connectionSecretChars} characters` }),
  Schema.isPattern(/^[\x21-\x7e]+$/, { expected: "visible ASCII characters without spaces", toJsonSchema: () => ({ pattern: "^[!-~]+$" }) })
)

/** Standard Webhooks: 24 to 64 random bytes. */
const isSigningSecret = (text: string) => {
  const bytes = Buffer.from(text.slice(6), "base64")
  return text.startsWith("whsec_") && bytes.length >= 24 && bytes.length <= 64 && bytes.toString("base64") === text.slice(6)
}
const SigningSecret = Schema.String.check(Schema.makeFilter<string>((text) => isSigningSecret(text) || "whsec_ and 24 to 64 bytes in base64", {
  toJsonSchema: () => ({ pattern: "^whsec_[A-Za-z0-9+/]{32,86}={0,2}$" })
}))

const kinds = ["apiKey", "token", "signingSecret"] as const

const SecretFields = {
  apiKey: Schema.optionalKey(HeaderSecret),
  token: Schema.optionalKey(HeaderSecret),
  signingSecret: Schema.optionalKey(SigningSecret),
  previousSigningSecret: Schema.optionalKey(SigningSecret),
  oauth: Schema.optionalKey(Schema.Json.check(
    Schema.makeFilter<Schema.Json>(() => "a token instead: this server does not do OAuth yet", { toJsonSchema: () => ({ not: {}, description: "Not supported yet: give a token." }) })
  ))
}

/** Exactly one of apiKey, token and signingSecret. `previousSigningSecret` stays valid beside the new one while receivers change over. */
export const ConnectionSecretInput = Schema.Struct(SecretFields).check(
  Schema.makeFilter((secret) => kinds.filter((kind) => secret[kind] !== undefined).length === 1 || "an object with one of apiKey, token and signingSecret", {
    toJsonSchema: () => ({ oneOf: kinds.map((kind) => ({ required: [kind] })) })
  }),
  Schema.makeFilter((secret) => secret.previousSigningSecret === undefined || secret.signingSecret !== undefined || "previousSigningSecret only beside signingSecret", {
    toJsonSchema: () => [{}, true]
  })
).annotate({ identifier: "ConnectionSecret", description: "Write-only: no answer ever holds it." })
export type ConnectionSecretInput = typeof ConnectionSecretInput.Type

const AllowedHosts = Schema.Array(HostPattern).check(
  Schema.isMinLength(1), Schema.isMaxLength(limits.allowedHosts), Schema.isUnique()
)

export const ConnectionInput = Schema.Struct({
  provider: Provider,
  name: Name,
  secret: ConnectionSecretInput,
  baseUrl: Schema.optionalKey(OutboundUrl),
  allowedHosts: Schema.optionalKey(AllowedHosts)
}).annotate({ identifier: "ConnectionInput" })
export type ConnectionInput = typeof ConnectionInput.Type

/** JSON Merge Patch: absent keeps, null clears. `secret` replaces the whole secret, by one of the same kind. */
export const ConnectionPatch = Schema.Struct({
  provider: Schema.optionalKey(Provider),
  name: Schema.optionalKey(Name),
  secret: Schema.optionalKey(ConnectionSecretInput),
  baseUrl: Schema.optionalKey(Schema.NullOr(OutboundUrl)),
  allowedHosts: Schema.optionalKey(Schema.NullOr(AllowedHosts))
}).annotate({ identifier: "ConnectionPatch" })
export type ConnectionPatch = typeof ConnectionPatch.Type

export const ConnectionKind = Schema.Literals(["apiKey", "token", "signing"])
export type ConnectionKind = typeof ConnectionKind.Type

/** What is stored readable. */
export const ConnectionContent = Schema.Struct({
  provider: Schema.String,
  name: Schema.String,
  kind: ConnectionKind,
  baseUrl: Schema.optionalKey(Schema.String),
  allowedHosts: Schema.optionalKey(Schema.Array(Schema.String)),
  last4: Schema.optionalKey(Schema.String),
  createdBy: Principal
})
export type ConnectionContent = typeof ConnectionContent.Type

/** `last4` only of secrets of at least 12 characters: of a shorter one it would tell too much. */
export const Connection = Schema.Struct({
  id: Schema.String,
  ...ConnectionContent.fields,
  status: Schema.Literal("active"),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  lastUsedAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "Connection" })
export type Connection = typeof Connection.Type

/** A secret in use. Whoever sends it passes `reach` on to Outbound; only a signing secret, which is never sent itself, may have none. */
export type ConnectionSecret =
  | { readonly kind: "token"; readonly token: Redacted.Redacted<string>; readonly reach: Reach }
  | { readonly kind: "apiKey"; readonly apiKey: Redacted.Redacted<string>; readonly reach: Reach }
  /** `whsec_…`, the current one first, at most two. */
  | { readonly kind: "signing"; readonly secrets: ReadonlyArray<Redacted.Redacted<string>>; readonly reach?: Reach }

/** The text that is sealed. */
const Sealed = Schema.fromJsonString(Schema.Union([
  Schema.Struct({ kind: Schema.Literal("token"), token: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("apiKey"), apiKey: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("signing"), secrets: Schema.Array(Schema.String) })
]))
const readSealed = Schema.decodeUnknownSync(Sealed)
const writeSealed = Schema.encodeSync(Sealed)

const plainOf = ({ apiKey, previousSigningSecret, signingSecret, token }: ConnectionSecretInput): typeof Sealed.Type => {
  if (token !== undefined) return { kind: "token", token }
  if (apiKey !== undefined) return { kind: "apiKey", apiKey }
  // The schema lets in exactly one of the three.
  return { kind: "signing", secrets: [signingSecret, previousSigningSecret].filter((secret) => secret !== undefined) }
}

const showable = (secret: string | undefined) => secret !== undefined && secret.length >= 12 ? { last4: secret.slice(-4) } : {}

/** What a written secret becomes: the text to seal, and what may be shown. */
export const splitSecret = (input: ConnectionSecretInput): { readonly plain: string; readonly shown: Pick<ConnectionContent, "kind" | "last4"> } => {
  const plain = plainOf(input)
  const current = plain.kind === "token" ? plain.token : plain.kind === "apiKey" ? plain.apiKey : plain.secrets[0]
  return { plain: writeSealed(plain), shown: { kind: plain.kind, ...showable(current) } }
}

/** Its own list; else the origin of its base URL; else, of a secret that is sent, that of its provider; else nothing says where. */
const reachOf = ({ allowedHosts, baseUrl, kind, provider }: ConnectionContent): Reach | undefined => {
  if (allowedHosts !== undefined) return { hosts: allowedHosts }
  const url = baseUrl ?? (kind === "signing" ? undefined : providerUrl(provider))
  return url === undefined ? undefined : { origin: new URL(url).origin }
}

/** Whether a connection says all that it has to: a secret that is sent needs to know where to. */
export const knowsWhere = (connection: ConnectionContent) => connection.kind === "signing" || reachOf(connection) !== undefined

/** Of a connection from before it had to say: its secret is sent to nobody. */
const nowhere: Reach = { hosts: [] }

/** A secret in use, from the text that was sealed. */
export const secretOf = (plain: string, content: ConnectionContent): ConnectionSecret => {
  const found = readSealed(plain)
  const reach = reachOf(content)
  switch (found.kind) {
    case "token":
      return { reach: reach ?? nowhere, kind: "token", token: Redacted.make(found.token) }
    case "apiKey":
      return { reach: reach ?? nowhere, kind: "apiKey", apiKey: Redacted.make(found.apiKey) }
    case "signing":
      return { ...(reach !== undefined && { reach }), kind: "signing", secrets: found.secrets.map((secret) => Redacted.make(secret)) }
  }
}
