/** Toolsets: tools of MCP servers and of the workspace's own clients. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { limits } from "../../src/domain/limits.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { OfferedTool, Toolset, ToolsetInput, ToolsetPatch, ToolsetSummary } from "../../src/toolsets/toolset.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { ToolsetId } from "../../src/domain/resourceIds.ts"

export const ToolsetAnswer = Schema.Struct({ toolset: described(Toolset, "The toolset.") }).annotate({
  identifier: "ToolsetAnswer"
})

export const ToolsetPage = Schema.Struct({
  toolsets: described(Schema.Array(ToolsetSummary), "Toolsets of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "ToolsetPage" })

export const ToolList = Schema.Struct({
  tools: described(Schema.Array(OfferedTool), "Tools that it offers."),
  catalogVersion: described(Schema.Int, "Number of the catalogue that these are.")
}).annotate({ identifier: "ToolList" })

export const ToolsetsApi = HttpApiGroup.make("toolsets")
  .add(
    HttpApiEndpoint.post("create", "/toolsets", {
      payload: ToolsetInput,
      success: ToolsetAnswer.pipe(HttpApiSchema.status(201)),
      error: refuses("quota_exceeded", "namespace_taken", "connection_not_found")
    })
      .annotateMerge(access("write", { stores: "rows" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Register a toolset",
          description:
            `Kind \`mcp\`: a server that speaks MCP over streamable HTTP; it is asked for its tools at once, ` +
            `for at most ${limits.mcpProbeMs / 1000} s, and \`status\` says how that went. Kind \`client\`: ` +
            "tools that the workspace's own clients execute. Namespaces of the built-in tool families are taken."
        })
      ),
    HttpApiEndpoint.get("list", "/toolsets", {
      query: { limit: limitOf("toolsets"), cursor: CursorParam },
      success: ToolsetPage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List toolsets",
          description: "Newest first, without their tools."
        })
      ),
    HttpApiEndpoint.get("get", "/toolsets/:toolsetId", {
      params: { toolsetId: ToolsetId },
      success: ToolsetAnswer
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a toolset",
          description:
            "`status`, `statusReason` and `lastCheckedAt` say how its server answered last, be it asked for its " +
            "tools or called. The ETag stands for what a client has written: those do not change it."
        })
      ),
    HttpApiEndpoint.patch("update", "/toolsets/:toolsetId", {
      params: { toolsetId: ToolsetId },
      headers: IfMatch,
      payload: ToolsetPatch,
      success: ToolsetAnswer,
      error: refuses("namespace_taken", "connection_not_found", "precondition_failed")
    })
      .annotateMerge(access("write", { stores: "rows" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Change a toolset",
          description:
            "JSON Merge Patch (RFC 7396); a list replaces the list. Its kind never changes. Another `url` or " +
            "`connectionId` asks the server again. Turns that run go on with the tools that they began with."
        })
      ),
    HttpApiEndpoint.delete("delete", "/toolsets/:toolsetId", {
      params: { toolsetId: ToolsetId },
      headers: IfMatch,
      success: HttpApiSchema.NoContent,
      error: refuses("toolset_in_use", "precondition_failed")
    })
      .annotateMerge(access("write"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Delete a toolset",
          description:
            "Refused while the latest version of a profile lists it, or a version that an agent is pinned to. " +
            "Turns that run lose its tools."
        })
      ),
    HttpApiEndpoint.get("tools", "/toolsets/:toolsetId/tools", {
      params: { toolsetId: ToolsetId },
      success: ToolList
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the tools of a toolset",
          description:
            `Tools that it offers to turns that begin now, after \`include\` and \`exclude\`, in its maker's order: ` +
            `at most ${limits.toolsPerToolset}, on one page.`
        })
      ),
    HttpApiEndpoint.post("refresh", "/toolsets/:toolsetId/refresh", {
      params: { toolsetId: ToolsetId },
      success: ToolsetAnswer
    })
      .annotateMerge(access("write"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Ask a toolset's server again",
          description:
            `For at most ${limits.mcpProbeMs / 1000} s. There is a new catalogue where its tools have changed. The ` +
            "next call of a tool, on the node that answers this, is made in a new session. A client toolset is " +
            "answered as it is."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Tools of MCP servers, and tools that clients execute." }))
