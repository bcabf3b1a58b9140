/** Operation handles: poll, list, decide. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { limits } from "../../src/domain/limits.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { Operation, OperationHandle, OperationState } from "../../src/operations/operation.ts"
import { maxBytes } from "../../src/domain/text.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { wholeNumber } from "../parameters.ts"
import { AgentId, OperationId } from "../../src/domain/resourceIds.ts"

export const OperationPage = Schema.Struct({
  operations: described(Schema.Array(Operation), "Operations of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "OperationPage" })

const Decision = Schema.Struct({
  reason: described(
    Schema.optionalKey(Schema.String.check(maxBytes(limits.operationReasonBytes))),
    "Why, in words for people."
  )
}).annotate({ identifier: "OperationDecision" })

const params = { operationId: OperationId }

export const OperationsApi = HttpApiGroup.make("operations")
  .add(
    HttpApiEndpoint.get("get", "/operations/:operationId", {
      params,
      query: {
        waitSeconds: described(
          Schema.optional(wholeNumber(0, limits.operationWaitSeconds)),
          "Seconds that the answer may wait for a state that nothing leaves. 0 when absent."
        )
      },
      success: OperationHandle
    })
      .annotateMerge(access("read", { lease: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an operation",
          description: "With `waitSeconds` the answer waits that long for a terminal state."
        })
      ),
    HttpApiEndpoint.get("list", "/operations", {
      query: {
        state: described(Schema.optional(OperationState), "Only operations in this state."),
        action: described(
          Schema.optional(
            Schema.String.check(
              Schema.isPattern(/^[a-z_]{1,32}\.[a-z_]{1,32}$/, {
                expected: "an action such as identity.disable",
                toJsonSchema: () => ({ pattern: "^[a-z_]{1,32}\\.[a-z_]{1,32}$" })
              })
            )
          ),
          "Only operations of this action, such as `identity.disable`."
        ),
        agentId: described(Schema.optional(AgentId), "Only operations about this agent, or asked for by it."),
        limit: limitOf("operations"),
        cursor: CursorParam
      },
      success: OperationPage
    })
      .annotateMerge(access("read"))
      .annotateMerge(OpenApi.annotations({ summary: "List operations", description: "Newest first." })),
    HttpApiEndpoint.post("approve", "/operations/:operationId/approve", {
      params,
      payload: Decision,
      success: OperationHandle,
      error: refuses("operation_resolved", "operation_expired")
    })
      .annotateMerge(access("approve"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Approve an operation",
          description:
            "It is carried out at once, with the rights that the requester has now: `result` is what the call itself " +
            "would have answered, also where that is a refusal. The requester does not decide, nor does another key " +
            "of the same identity. Deciding twice the same way is allowed; the other way is refused."
        })
      ),
    HttpApiEndpoint.post("deny", "/operations/:operationId/deny", {
      params,
      payload: Decision,
      success: OperationHandle,
      error: refuses("operation_resolved", "operation_expired")
    })
      .annotateMerge(access("approve"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Deny an operation",
          description: "Deciding twice the same way is allowed; the other way is refused."
        })
      ),
    HttpApiEndpoint.post("cancel", "/operations/:operationId/cancel", {
      params,
      success: OperationHandle,
      error: refuses("operation_resolved", "operation_expired")
    })
      .annotateMerge(access("run", { lease: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Cancel an operation",
          description: "Withdraws a request that waits for approval."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      description:
        "Handles of requests that are parked for approval, or were carried out with one. What parks is said by the " +
        "approval policy; to approve a call of a tool, see waits."
    })
  )
