/** Identities: list, disable, enable (contract C7.2, C7.3). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { identityOf } from "../../src/domain/identity.ts"
import { IdentityRecord } from "../../src/identities/record.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { OperationHandle } from "../../src/operations/operation.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { CursorParam, limitOf } from "../pagination.ts"

export const IdentityChoice = Schema.Struct({
  identity: identityOf("The identity. One that nobody has named before is taken too.")
}).annotate({ identifier: "IdentityChoice" })

export const IdentityPage = Schema.Struct({
  identities: described(Schema.Array(IdentityRecord), "Identities of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "IdentityPage" })

export const IdentitiesApi = HttpApiGroup.make("identities")
  .add(
    HttpApiEndpoint.get("list", "/identities", {
      query: { limit: limitOf("identities"), cursor: CursorParam },
      success: IdentityPage
    })
      .annotateMerge(access("admin"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List identities",
          description:
            "Every identity that this workspace has seen, the newest first, with the number of its active agents."
        })
      ),
    HttpApiEndpoint.post("disable", "/identities/disable", {
      payload: IdentityChoice,
      success: OperationHandle,
      error: refuses("own_identity", "queue_full")
    })
      .annotateMerge(access("admin", { lease: true, parks: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Disable an identity",
          description: "Refuses its new work and new credentials. Turns that run finish. Repeating the call is allowed."
        })
      ),
    HttpApiEndpoint.post("enable", "/identities/enable", {
      payload: IdentityChoice,
      success: OperationHandle,
      error: refuses("queue_full")
    })
      .annotateMerge(access("admin", { lease: true, parks: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Enable an identity",
          description: "Restores new work and new credentials. Repeating the call is allowed."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Materialized workspace principals and counts of active agents." }))
