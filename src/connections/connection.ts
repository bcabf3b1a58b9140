/**
 * Connection: a credential for somebody else's server, write-only, and what may be shown of it.
 *
 * The secret comes in by create and patch and is never read back over the interface. OAuth comes later.
 */
import { Redacted, Schema } from "effect"
import { HostPattern, OutboundUrl, type Reach } from "../domain/url.ts"
import { described } from "../domain/described.ts"
import { documented, has, is, part } from "../domain/jsonSchema.ts"
import { limits } from "../domain/limits.ts"
import { Principal } from "../domain/principal.ts"
import { providerUrl, providerUrls } from "../domain/providers.ts"
import { SecretHeader } from "./secretHeader.ts"
import { Timestamp } from "../domain/time.ts"
import { Name } from "../domain/names.ts"

/** Whose server it is: a label such as `github`. */
export const Provider = Schema.String.check(
  Schema.isPattern(new RegExp(`^[a-z0-9][a-z0-9._-]{0,${limits.providerChars - 1}}$`, "u"), {
    expected: `1 to ${limits.providerChars} lower-case letters, digits, dots, - or _`
  })
)

/** Goes into a header as it is. */
const HeaderSecret = Schema.String.check(
  Schema.isMaxLength(limits.connectionSecretChars, { expected: `at most ${limits.connectionSecretChars} characters` }),
  Schema.isPattern(/^[\x21-\x7e]+$/, {
    expected: "visible ASCII characters without spaces",
    toJsonSchema: () => ({ pattern: "^[!-~]+$" })
  })
)

/**
 * Standard Webhooks: 24 to 64 random bytes. Base64 has four characters for three of them; the last ones say nothing
 * beside the bytes.
 */
const whole = "(?:[A-Za-z0-9+/]{4})"
const two = "[A-Za-z0-9+/][AQgw]=="
const three = "[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]="
const signingSecret = `^whsec_(?:${whole}{8,21}(?:${two})?|${whole}{8,20}${three})$`
const SigningSecret = Schema.String.check(
  Schema.isPattern(new RegExp(signingSecret), {
    expected: "whsec_ and 24 to 64 bytes in base64",
    toJsonSchema: () => ({ pattern: signingSecret })
  })
)

const kinds = ["apiKey", "token", "signingSecret"] as const

const SecretFields = {
  apiKey: described(
    Schema.optionalKey(HeaderSecret),
    "A key that is sent as the bearer token of every request. Of a model provider it goes where that provider wants it."
  ),
  token: described(Schema.optionalKey(HeaderSecret), "A token that is sent as the bearer token of every request."),
  signingSecret: described(
    Schema.optionalKey(SigningSecret),
    "Secret that signs requests, as Standard Webhooks has it: `whsec_` and 24 to 64 bytes in base64. It is never sent."
  ),
  previousSigningSecret: described(
    Schema.optionalKey(SigningSecret),
    "Signs beside `signingSecret` while receivers change over. Leave it out to end that."
  ),
  oauth: Schema.optionalKey(
    Schema.Json.check(
      Schema.makeFilter<Schema.Json>(() => "a token instead: this server does not do OAuth yet", {
        toJsonSchema: () => ({ not: {}, description: "Not supported yet: give a token." })
      })
    )
  )
}

/**
 * Exactly one of apiKey, token and signingSecret. `previousSigningSecret` stays valid beside the new one while
 * receivers change over.
 */
export const ConnectionSecretInput = Schema.Struct(SecretFields)
  .check(
    Schema.makeFilter(
      (secret) =>
        kinds.filter((kind) => secret[kind] !== undefined).length === 1 ||
        "an object with one of apiKey, token and signingSecret",
      {
        toJsonSchema: () => ({ oneOf: kinds.map((kind) => ({ required: [kind] })) })
      }
    ),
    Schema.makeFilter(
      (secret) =>
        secret.previousSigningSecret === undefined ||
        secret.signingSecret !== undefined ||
        "previousSigningSecret only beside signingSecret",
      {
        toJsonSchema: () => ({ dependentRequired: { previousSigningSecret: ["signingSecret"] } })
      }
    )
  )
  .annotate({ identifier: "ConnectionSecret", description: "Write-only: no answer ever holds it." })
export type ConnectionSecretInput = typeof ConnectionSecretInput.Type

const AllowedHosts = Schema.Array(HostPattern).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(limits.allowedHosts),
  Schema.isUnique()
)

/** Said once, of what is sent and of what is answered. */
const says = {
  provider: "Whose server it is: a label such as `github`. `openai`, `anthropic` and `google` are the model providers.",
  name: "The connection's name, for people.",
  secret: "The credential: exactly one of `apiKey`, `token` and `signingSecret`.",
  baseUrl: "Address of the server. Without `allowedHosts` the secret is sent to its scheme, host and port only.",
  allowedHosts: "Hosts that the secret may be sent to, at any port: a name, or `*.example.com` for those below it.",
  header:
    "Name of the header that the secret goes into as it is, for servers that want `X-API-Key` or the like. " +
    "`Authorization: Bearer` when absent. A signing secret is never sent: it has no use for one."
}

export const ConnectionInput = Schema.Struct({
  provider: described(Provider, says.provider),
  name: described(Name, says.name),
  secret: described(ConnectionSecretInput, says.secret),
  baseUrl: described(Schema.optionalKey(OutboundUrl), says.baseUrl),
  allowedHosts: described(Schema.optionalKey(AllowedHosts), says.allowedHosts),
  header: described(Schema.optionalKey(SecretHeader), says.header)
})
  .check(
    documented({
      if: { not: { anyOf: [has("baseUrl"), has("allowedHosts")] } },
      then: { anyOf: [is("provider", ...Object.keys(providerUrls)), part({ secret: has("signingSecret") })] }
    })
  )
  .annotate({ identifier: "ConnectionInput" })
export type ConnectionInput = typeof ConnectionInput.Type

/** JSON Merge Patch: absent keeps, null clears. `secret` replaces the whole secret, by one of the same kind. */
export const ConnectionPatch = Schema.Struct({
  provider: described(Schema.optionalKey(Provider), says.provider),
  name: described(Schema.optionalKey(Name), says.name),
  secret: described(Schema.optionalKey(ConnectionSecretInput), "Replaces the whole secret, by one of the same kind."),
  baseUrl: described(Schema.optionalKey(Schema.NullOr(OutboundUrl)), says.baseUrl),
  allowedHosts: described(Schema.optionalKey(Schema.NullOr(AllowedHosts)), says.allowedHosts),
  header: described(Schema.optionalKey(Schema.NullOr(SecretHeader)), says.header)
}).annotate({ identifier: "ConnectionPatch" })
export type ConnectionPatch = typeof ConnectionPatch.Type

export const ConnectionKind = Schema.Literals(["apiKey", "token", "signing"])
export type ConnectionKind = typeof ConnectionKind.Type

/** What is stored readable. */
export const ConnectionContent = Schema.Struct({
  provider: described(Schema.String, says.provider),
  name: described(Schema.String, says.name),
  kind: described(ConnectionKind, "Kind of the secret: an API key, a token, or a signing secret."),
  baseUrl: described(Schema.optionalKey(Schema.String), says.baseUrl),
  allowedHosts: described(Schema.optionalKey(Schema.Array(Schema.String)), says.allowedHosts),
  header: described(Schema.optionalKey(Schema.String), says.header),
  last4: described(
    Schema.optionalKey(Schema.String),
    "Last four characters of the secret, to tell it by. Absent for secrets of fewer than 12."
  ),
  createdBy: described(Principal, "Who made the connection.")
})
export type ConnectionContent = typeof ConnectionContent.Type

/** `last4` only of secrets of at least 12 characters: of a shorter one it would tell too much. */
export const Connection = Schema.Struct({
  id: described(Schema.String, "Id of the connection, which toolsets and hooks name."),
  ...ConnectionContent.fields,
  status: described(Schema.Literal("active"), "Whether the secret can be used."),
  createdAt: described(Timestamp, "When the connection was made."),
  updatedAt: described(Timestamp, "When it last changed."),
  lastUsedAt: described(
    Schema.optionalKey(Timestamp),
    "When its secret was last used, to about a minute. Absent until the first use."
  )
}).annotate({ identifier: "Connection" })
export type Connection = typeof Connection.Type

/**
 * A secret in use. Whoever sends it passes `reach` on to Outbound, and puts it into `header` where that is named; only
 * a signing secret, which is never sent itself, may have no reach.
 */
export type ConnectionSecret =
  | {
      readonly kind: "token"
      readonly token: Redacted.Redacted<string>
      readonly reach: Reach
      readonly header?: string
    }
  | {
      readonly kind: "apiKey"
      readonly apiKey: Redacted.Redacted<string>
      readonly reach: Reach
      readonly header?: string
    }
  /** `whsec_…`, the current one first, at most two. */
  | { readonly kind: "signing"; readonly secrets: ReadonlyArray<Redacted.Redacted<string>>; readonly reach?: Reach }

/** The text that is sealed. */
const Sealed = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ kind: Schema.Literal("token"), token: Schema.String }),
    Schema.Struct({ kind: Schema.Literal("apiKey"), apiKey: Schema.String }),
    Schema.Struct({ kind: Schema.Literal("signing"), secrets: Schema.Array(Schema.String) })
  ])
)
const readSealed = Schema.decodeUnknownSync(Sealed)
const writeSealed = Schema.encodeSync(Sealed)

const plainOf = ({
  apiKey,
  previousSigningSecret,
  signingSecret,
  token
}: ConnectionSecretInput): typeof Sealed.Type => {
  if (token !== undefined) return { kind: "token", token }
  if (apiKey !== undefined) return { kind: "apiKey", apiKey }
  // The schema lets in exactly one of the three.
  return { kind: "signing", secrets: [signingSecret, previousSigningSecret].filter((secret) => secret !== undefined) }
}

const showable = (secret: string | undefined) =>
  secret !== undefined && secret.length >= 12 ? { last4: secret.slice(-4) } : {}

/** What a written secret becomes: the text to seal, and what may be shown. */
export const splitSecret = (
  input: ConnectionSecretInput
): { readonly plain: string; readonly shown: Pick<ConnectionContent, "kind" | "last4"> } => {
  const plain = plainOf(input)
  const current = plain.kind === "token" ? plain.token : plain.kind === "apiKey" ? plain.apiKey : plain.secrets[0]
  return { plain: writeSealed(plain), shown: { kind: plain.kind, ...showable(current) } }
}

/**
 * Its own list; else the origin of its base URL; else, of a secret that is sent, that of its provider; else nothing
 * says where.
 */
const reachOf = ({ allowedHosts, baseUrl, kind, provider }: ConnectionContent): Reach | undefined => {
  if (allowedHosts !== undefined) return { hosts: allowedHosts }
  const url = baseUrl ?? (kind === "signing" ? undefined : providerUrl(provider))
  return url === undefined ? undefined : { origin: new URL(url).origin }
}

/** Whether a connection says all that it has to: a secret that is sent needs to know where to. */
export const knowsWhere = (connection: ConnectionContent) =>
  connection.kind === "signing" || reachOf(connection) !== undefined

/** Of a connection from before it had to say: its secret is sent to nobody. */
const nowhere: Reach = { hosts: [] }

/** A secret in use, from the text that was sealed. */
export const secretOf = (plain: string, content: ConnectionContent): ConnectionSecret => {
  const found = readSealed(plain)
  const reach = reachOf(content)
  const sent = { reach: reach ?? nowhere, ...(content.header !== undefined && { header: content.header }) }
  switch (found.kind) {
    case "token":
      return { ...sent, kind: "token", token: Redacted.make(found.token) }
    case "apiKey":
      return { ...sent, kind: "apiKey", apiKey: Redacted.make(found.apiKey) }
    case "signing":
      return {
        ...(reach !== undefined && { reach }),
        kind: "signing",
        secrets: found.secrets.map((secret) => Redacted.make(secret))
      }
  }
}
