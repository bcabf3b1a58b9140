/** The credential in use, and API keys (design, section 14). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ApiKey, ApiKeyInput, Scope } from "../../src/domain/apiKey.ts"
import { idOf } from "../../src/domain/ids.ts"
import { Principal } from "../../src/domain/principal.ts"
import { Timestamp } from "../../src/domain/time.ts"
import { access } from "../Authenticate.ts"
import { refuses } from "../errors.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { flag } from "../Validate.ts"

export const KeyId = idOf("key")

export const AuthContext = Schema.Struct({
  principal: Principal,
  workspaceId: Schema.String,
  scheme: Schema.Literals(["APIKeyBearer", "AgentLeaseBearer"]),
  scopes: Schema.Array(Scope),
  agentId: Schema.optionalKey(Schema.String),
  threadId: Schema.optionalKey(Schema.String),
  expiresAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "AuthContext" })

/** `token` is the secret itself: shown here, once, and stored nowhere. */
export const KeyCreated = Schema.Struct({ key: ApiKey, token: Schema.String }).annotate({ identifier: "ApiKeyCreated" })

export const KeyFound = Schema.Struct({ key: ApiKey }).annotate({ identifier: "ApiKeyFound" })

export const KeyPage = Schema.Struct({
  keys: Schema.Array(ApiKey),
  nextCursor: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ApiKeyPage" })

export const AuthApi = HttpApiGroup.make("auth").add(
  HttpApiEndpoint.get("context", "/auth", {
    success: AuthContext
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "Get the credential in use",
    description: "Who the bearer is taken for, in which workspace, and what it may do."
  })),
  HttpApiEndpoint.post("createKey", "/auth/keys", {
    payload: ApiKeyInput,
    success: KeyCreated.pipe(HttpApiSchema.status(201)),
    error: refuses("permission_denied", "identity_disabled", "quota_exceeded")
  }).annotateMerge(access("admin", { stores: "rows" })).annotateMerge(OpenApi.annotations({
    summary: "Create an API key",
    description: "The token is shown in this answer only. Its scopes are at most those of the caller; it ends no later than the key that makes it, and has the identity that this one is bound to."
  })),
  HttpApiEndpoint.get("listKeys", "/auth/keys", {
    query: { limit: limitOf("keys"), cursor: CursorParam },
    success: KeyPage
  }).annotateMerge(access("admin")).annotateMerge(OpenApi.annotations({
    summary: "List API keys",
    description: "Newest first, without their tokens."
  })),
  HttpApiEndpoint.get("getKey", "/auth/keys/:keyId", {
    params: { keyId: KeyId },
    success: KeyFound
  }).annotateMerge(access("admin")).annotateMerge(OpenApi.annotations({
    summary: "Get an API key",
    description: "Without its token. A revoked key is not there any more."
  })),
  HttpApiEndpoint.delete("revokeKey", "/auth/keys/:keyId", {
    params: { keyId: KeyId },
    query: { descendants: Schema.optional(flag) },
    success: HttpApiSchema.NoContent
  }).annotateMerge(access("admin")).annotateMerge(OpenApi.annotations({
    summary: "Revoke an API key",
    description: "On every node within a second. What it has started goes on, and so do the keys that it has made, unless `descendants=true`: then they are revoked with it, and those that they have made, also where the key itself was revoked before."
  }))
).annotateMerge(OpenApi.annotations({ description: "The context of the bearer credential in use, and the API keys of the workspace." }))
