/** Connections: write-only credentials, and safe metadata of them (contract C8.1 to C8.9). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Connection, ConnectionInput, ConnectionPatch } from "../../src/connections/connection.ts"
import { described } from "../../src/domain/described.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { ConnectionId } from "../../src/domain/resourceIds.ts"

export const ConnectionAnswer = Schema.Struct({
  connection: described(Connection, "The connection, without its secret.")
}).annotate({ identifier: "ConnectionAnswer" })

export const ConnectionPage = Schema.Struct({
  connections: described(Schema.Array(Connection), "Connections of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "ConnectionPage" })

export const ConnectionsApi = HttpApiGroup.make("connections")
  .add(
    HttpApiEndpoint.post("create", "/connections", {
      payload: ConnectionInput,
      success: ConnectionAnswer.pipe(HttpApiSchema.status(201)),
      error: refuses("quota_exceeded")
    })
      .annotateMerge(access("admin", { stores: "rows" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a connection",
          description:
            "The secret is encrypted and never shown again. It is sent only to `allowedHosts`; without them to " +
            "the origin of `baseUrl`, that is its scheme, host and port; without either only for the providers " +
            "`openai`, `anthropic` and `google`, to their own addresses. Every other secret that is sent needs " +
            "one of the two: 400, code `hosts_required`. A signing secret is never sent itself and may do " +
            "without."
        })
      ),
    HttpApiEndpoint.get("list", "/connections", {
      query: { limit: limitOf("connections"), cursor: CursorParam },
      success: ConnectionPage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List connections",
          description: "Newest first, without their secrets."
        })
      ),
    HttpApiEndpoint.get("get", "/connections/:connectionId", {
      params: { connectionId: ConnectionId },
      success: ConnectionAnswer
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a connection",
          description: "Without its secret. `last4` are the last characters of secrets of at least 12."
        })
      ),
    HttpApiEndpoint.patch("update", "/connections/:connectionId", {
      params: { connectionId: ConnectionId },
      headers: IfMatch,
      payload: ConnectionPatch,
      success: ConnectionAnswer,
      error: refuses("precondition_failed")
    })
      .annotateMerge(access("admin"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Change a connection",
          description:
            "JSON Merge Patch (RFC 7396), but for `secret`: it replaces the whole secret, by one of the same " +
            "kind. To rotate a signing secret give the new one with the old one as `previousSigningSecret`: both " +
            "sign until the old one is left out."
        })
      ),
    HttpApiEndpoint.delete("delete", "/connections/:connectionId", {
      params: { connectionId: ConnectionId },
      headers: IfMatch,
      success: HttpApiSchema.NoContent,
      error: refuses("connection_in_use", "precondition_failed")
    })
      .annotateMerge(access("admin"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Delete a connection",
          description:
            "For good, with its secret. Refused while a toolset uses it, or a hook of a profile's latest version " +
            "or of a version that an agent is pinned to."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ description: "Write-only provider credentials, with safe connection metadata readable." })
  )
