/** The approval policy of the workspace: read and replaced as a whole (contract C22). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { ApprovalPolicy, ApprovalPolicyInput } from "../../src/operations/policy.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"

export const ApprovalPolicyAnswer = Schema.Struct({
  policy: described(ApprovalPolicy, "The rules of this workspace.")
}).annotate({ identifier: "ApprovalPolicyAnswer" })

export const ApprovalsApi = HttpApiGroup.make("approvals")
  .add(
    HttpApiEndpoint.get("getPolicy", "/approval-policy", { success: ApprovalPolicyAnswer })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the approval policy",
          description:
            "Which requests are parked for approval. Where no rule fits, what agents ask for with a lease parks if " +
            "it changes something, and all else runs. The ETag is what `If-Match` of a change is held against."
        })
      ),
    HttpApiEndpoint.put("putPolicy", "/approval-policy", {
      headers: IfMatch,
      payload: ApprovalPolicyInput,
      success: ApprovalPolicyAnswer,
      error: refuses("precondition_failed")
    })
      .annotateMerge(access("admin"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replace the approval policy",
          description:
            "It holds for requests from now on, on all nodes within a second; parked requests stay parked. An agent " +
            "that disables or enables an identity is parked whatever a rule says."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Rules that say which requests are parked for approval." }))
