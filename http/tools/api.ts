/** Tool calls executed by the client: workers fetch what they owe, and answer by the call's id. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { idOf } from "../../src/domain/ids.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { Timestamp } from "../../src/domain/time.ts"
import { ToolCallResult } from "../../src/waits/answer.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { ResolvedWait, resolveWords } from "../waits/api.ts"
import { ToolsetId } from "../../src/domain/resourceIds.ts"

export const PendingToolCall = Schema.Struct({
  waitId: described(Schema.String, "The wait that the result ends."),
  threadId: described(Schema.String, "Thread of the call."),
  agentId: described(Schema.String, "Agent that calls."),
  turnId: described(Schema.String, "Turn that is parked on the call."),
  toolCallId: described(Schema.String, "Id of the call, which its result is given by."),
  toolName: described(Schema.String, "The tool to execute, as `namespace.tool`."),
  toolInput: described(Schema.Unknown, "Input of the call, as the model gave it: it fits the tool's input schema."),
  toolsetId: described(Schema.optionalKey(Schema.String), "Toolset of the tool."),
  createdAt: described(Timestamp, "When the call began to wait."),
  expiresAt: described(Timestamp, "Until when a result is taken.")
}).annotate({ identifier: "PendingToolCall" })
export type PendingToolCall = typeof PendingToolCall.Type

export const ToolCallPage = Schema.Struct({
  calls: described(Schema.Array(PendingToolCall), "Calls of this page, oldest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "ToolCallPage" })

export const ToolsApi = HttpApiGroup.make("tools")
  .add(
    HttpApiEndpoint.get("calls", "/tools/calls", {
      query: {
        state: described(
          Schema.optional(Schema.Literal("pending")),
          "Only calls that wait for a result: there are no others, with or without it."
        ),
        toolsetId: described(Schema.optional(ToolsetId), "Only calls of tools of this toolset."),
        limit: limitOf("toolCalls"),
        cursor: CursorParam
      },
      success: ToolCallPage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List calls that clients have to execute",
          description:
            "Calls that wait for a result now, oldest first, over all threads of the workspace. Listing one does " +
            "not reserve it: workers that share a toolset agree among themselves, and the first result counts."
        })
      ),
    HttpApiEndpoint.post("result", "/tools/calls/:toolCallId/result", {
      params: { toolCallId: described(idOf("call"), "Id of the call.") },
      payload: ToolCallResult,
      success: ResolvedWait,
      error: refuses(...resolveWords)
    })
      .annotateMerge(access("run"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Give the result of a call",
          description:
            "Exactly one of `output` and `error`. The same as answering the call's wait: the first result wins, " +
            "the same one again is answered as before."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Tool calls executed by the client." }))
