/** What a workspace may have, and what it has. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { resources } from "../../src/quotas/quota.ts"
import { access } from "../access.ts"

export const Limit = Schema.Struct({
  resource: described(Schema.Literals(resources), "Resource that is counted."),
  limit: described(Schema.Int, "How many the workspace may have; of `stored_bytes`, bytes within 24 hours."),
  used: described(Schema.Int, "How many it has; of `stored_bytes`, bytes within the last 24 hours.")
}).annotate({ identifier: "Limit" })

export const LimitList = Schema.Struct({
  limits: described(Schema.Array(Limit), "Every limit of the workspace, by name.")
}).annotate({ identifier: "LimitList" })

export const LimitsApi = HttpApiGroup.make("limits")
  .add(
    HttpApiEndpoint.get("list", "/limits", { success: LimitList })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the workspace's limits",
          description:
            "Each resource with its limit and how much of it is used, by name. `threads` are those that are not " +
            "archived, `stored_bytes` what was stored within the last 24 hours: of these two, what other nodes " +
            "have counted within the last second may be missing."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "The workspace's quotas, and how much of each is used." }))
