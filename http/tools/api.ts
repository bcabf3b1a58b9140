/** Tool calls executed by the client: workers fetch what they owe, and answer by the call's id (design, section 5). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { idOf } from "../../src/domain/ids.ts"
import { Timestamp } from "../../src/domain/time.ts"
import { ToolsetId } from "../../src/domain/toolset.ts"
import { ToolCallResult } from "../../src/domain/waitAnswer.ts"
import { access } from "../Authenticate.ts"
import { refuses } from "../errors.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { ResolvedWait } from "../waits/api.ts"

export const PendingToolCall = Schema.Struct({
  waitId: Schema.String,
  threadId: Schema.String,
  agentId: Schema.String,
  turnId: Schema.String,
  toolCallId: Schema.String,
  toolName: Schema.String,
  toolInput: Schema.Unknown,
  toolsetId: Schema.optionalKey(Schema.String),
  createdAt: Timestamp,
  expiresAt: Timestamp
}).annotate({ identifier: "PendingToolCall" })
export type PendingToolCall = typeof PendingToolCall.Type

export const ToolCallPage = Schema.Struct({
  calls: Schema.Array(PendingToolCall),
  nextCursor: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ToolCallPage" })

export const ToolsApi = HttpApiGroup.make("tools").add(
  HttpApiEndpoint.get("calls", "/tools/calls", {
    query: {
      state: Schema.optional(Schema.Literal("pending")),
      toolsetId: Schema.optional(ToolsetId),
      limit: limitOf("toolCalls"),
      cursor: CursorParam
    },
    success: ToolCallPage
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "List calls that clients have to execute",
    description: "Those that wait for a result now, oldest first, over all threads of the workspace. Listing one does not reserve it: workers that share a toolset agree among themselves, and the first result counts."
  })),
  HttpApiEndpoint.post("result", "/tools/calls/:toolCallId/result", {
    params: { toolCallId: idOf("call") },
    payload: ToolCallResult,
    success: ResolvedWait,
    error: refuses("wait_type_mismatch", "wait_already_resolved", "wait_expired")
  }).annotateMerge(access("run")).annotateMerge(OpenApi.annotations({
    summary: "Give the result of a call",
    description: "Exactly one of `output` and `error`. The same as answering the call's wait: the first result wins, the same one again is answered as before."
  }))
).annotateMerge(OpenApi.annotations({ description: "Tool calls executed by the client." }))
