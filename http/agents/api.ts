/** Agents: create, list, get, patch, archive (contract C12.1 to C12.5). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Agent, AgentInput, AgentPatch } from "../../src/agents/agent.ts"
import { described } from "../../src/domain/described.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { flag } from "../parameters.ts"
import { AgentId } from "../../src/domain/resourceIds.ts"

export const AgentAnswer = Schema.Struct({ agent: described(Agent, "The agent.") }).annotate({
  identifier: "AgentAnswer"
})

export const AgentPage = Schema.Struct({
  agents: described(Schema.Array(Agent), "Agents of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "AgentPage" })

export const AgentsApi = HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.post("create", "/agents", {
      payload: AgentInput,
      success: AgentAnswer.pipe(HttpApiSchema.status(201)),
      error: refuses("profile_not_found", "profile_archived", "quota_exceeded", "queue_full")
    })
      .annotateMerge(access("write", { stores: "rows", parks: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create an agent",
          description: "An agent follows the latest version of its profile unless `profileVersion` pins one."
        })
      ),
    HttpApiEndpoint.get("list", "/agents", {
      query: {
        includeArchived: described(
          Schema.optional(flag),
          "Whether archived agents are listed as well. False when absent."
        ),
        limit: limitOf("agents"),
        cursor: CursorParam
      },
      success: AgentPage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List agents",
          description: "Newest first. Archived ones only with `includeArchived=true`."
        })
      ),
    HttpApiEndpoint.get("get", "/agents/:agentId", {
      params: { agentId: AgentId },
      success: AgentAnswer,
      error: refuses("queue_full")
    })
      .annotateMerge(access("read", { lease: true, parks: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an agent",
          description: "Archived ones too. The ETag is what `If-Match` of a patch or delete is held against."
        })
      ),
    HttpApiEndpoint.patch("update", "/agents/:agentId", {
      params: { agentId: AgentId },
      headers: IfMatch,
      payload: AgentPatch,
      success: AgentAnswer,
      error: refuses("agent_archived", "profile_archived", "precondition_failed", "profile_not_found", "queue_full")
    })
      .annotateMerge(access("write", { parks: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Change an agent",
          description: "JSON Merge Patch (RFC 7396): absent keeps, null clears."
        })
      ),
    HttpApiEndpoint.delete("archive", "/agents/:agentId", {
      params: { agentId: AgentId },
      headers: IfMatch,
      success: HttpApiSchema.NoContent,
      error: refuses("precondition_failed", "queue_full")
    })
      .annotateMerge(access("write", { parks: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Archive an agent",
          description:
            "It takes no new threads and no new work; its threads and their logs stay readable. Archiving again " +
            "changes nothing."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Workspace-owned agent identities." }))
