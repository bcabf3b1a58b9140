/** The credential in use, and API keys. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ApiKey, ApiKeyInput, KeyRotation, Scope } from "../../src/keys/apiKey.ts"
import { described } from "../../src/domain/described.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { Principal } from "../../src/domain/principal.ts"
import { Timestamp } from "../../src/domain/time.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { flag } from "../parameters.ts"
import { KeyId } from "../../src/domain/resourceIds.ts"

export const AuthContext = Schema.Struct({
  principal: described(Principal, "Who the bearer is taken for."),
  workspaceId: described(Schema.String, "Workspace that the credential belongs to."),
  scheme: described(Schema.Literals(["APIKeyBearer", "AgentLeaseBearer"]), "Kind of the credential."),
  scopes: described(Schema.Array(Scope), "Its rights. Empty for a lease: the operations that take one say so."),
  agentId: described(Schema.optionalKey(Schema.String), "Agent that a lease was given to. Absent for keys."),
  threadId: described(Schema.optionalKey(Schema.String), "Thread that a lease was given for. Absent for keys."),
  expiresAt: described(Schema.optionalKey(Timestamp), "When it stops working. Absent: never.")
}).annotate({ identifier: "AuthContext" })

/** `token` is the secret itself: shown here, once, and stored nowhere. */
export const KeyCreated = Schema.Struct({
  key: described(ApiKey, "The key without its secret."),
  token: described(Schema.String, "The secret itself: shown here, once, and stored nowhere.")
}).annotate({ identifier: "ApiKeyCreated" })

export const KeyFound = Schema.Struct({ key: described(ApiKey, "The key without its secret.") }).annotate({
  identifier: "ApiKeyFound"
})

export const KeyPage = Schema.Struct({
  keys: described(Schema.Array(ApiKey), "Keys of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "ApiKeyPage" })

export const AuthApi = HttpApiGroup.make("auth")
  .add(
    HttpApiEndpoint.get("context", "/auth", {
      success: AuthContext
    })
      .annotateMerge(access("read", { lease: true, trigger: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the credential in use",
          description: "Who the bearer is taken for, in which workspace, and what it may do."
        })
      ),
    HttpApiEndpoint.post("createKey", "/auth/keys", {
      payload: ApiKeyInput,
      success: KeyCreated.pipe(HttpApiSchema.status(201)),
      error: refuses("permission_denied", "identity_disabled", "quota_exceeded", "agent_not_found", "feed_not_found")
    })
      .annotateMerge(access("admin", { stores: "rows" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create an API key",
          description:
            "The token is shown in this answer only. Its scopes are at most those of the caller; it ends no " +
            "later than the key that makes it, and has the identity that this one is bound to."
        })
      ),
    HttpApiEndpoint.get("listKeys", "/auth/keys", {
      query: { limit: limitOf("keys"), cursor: CursorParam },
      success: KeyPage
    })
      .annotateMerge(access("admin"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List API keys",
          description: "Newest first, without their tokens."
        })
      ),
    HttpApiEndpoint.get("getKey", "/auth/keys/:keyId", {
      params: { keyId: KeyId },
      success: KeyFound
    })
      .annotateMerge(access("admin"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an API key",
          description: "Without its token. A revoked key is not there any more."
        })
      ),
    HttpApiEndpoint.delete("revokeKey", "/auth/keys/:keyId", {
      params: { keyId: KeyId },
      query: {
        descendants: described(
          Schema.optional(flag),
          "Whether the keys that it has made are revoked as well, and theirs in turn. False when absent."
        )
      },
      success: HttpApiSchema.NoContent
    })
      .annotateMerge(access("admin"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Revoke an API key",
          description:
            "Takes effect on every node within a second. Turns that it has started go on, and so do the keys that it " +
            "has made, unless `descendants=true`: then they are revoked with it, and the keys that they have made, " +
            "also where the key itself was revoked before."
        })
      ),
    HttpApiEndpoint.post("rotateKey", "/auth/keys/:keyId/rotate", {
      params: { keyId: KeyId },
      payload: KeyRotation,
      success: KeyCreated.pipe(HttpApiSchema.status(201)),
      error: refuses("permission_denied", "identity_disabled", "quota_exceeded")
    })
      .annotateMerge(access("admin", { stores: "rows" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Rotate an API key",
          description:
            "Makes a key like it, its end included, and ends the old one after `overlapSeconds`, or when it would " +
            "have ended. Whoever rotates holds its scopes, ends no sooner, and is bound to no other identity."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      description: "The context of the bearer credential in use, and the API keys of the workspace."
    })
  )
