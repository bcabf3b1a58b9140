/** Roles: what agents' tools may do, and why a call is allowed or denied. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { idOf } from "../../src/domain/ids.ts"
import { has } from "../../src/domain/jsonSchema.ts"
import { limits } from "../../src/domain/limits.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { Role, RoleInput, RolePatch } from "../../src/roles/role.ts"
import { maxBytes } from "../../src/domain/text.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { RoleId } from "../../src/domain/resourceIds.ts"

export const RoleAnswer = Schema.Struct({ role: described(Role, "The role.") }).annotate({ identifier: "RoleAnswer" })

export const RolePage = Schema.Struct({
  roles: described(Schema.Array(Role), "Roles of this page: the built-in ones first, then newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "RolePage" })

/** Which roles are asked: exactly one of `roleIds` and `profileId` says it. */
export const RoleQuestion = Schema.Struct({
  roleIds: described(
    Schema.optionalKey(Schema.Array(RoleId).check(Schema.isMaxLength(limits.rolesPerProfile))),
    "Roles to ask. Either these or `profileId`."
  ),
  profileId: described(
    Schema.optionalKey(idOf("profile")),
    "Profile whose roles to ask, those of its latest version. Either this or `roleIds`."
  ),
  tool: described(
    Schema.String.check(Schema.isMinLength(1), maxBytes(limits.askedToolBytes)),
    "The tool that would be called, as `namespace.tool`."
  ),
  input: described(Schema.optionalKey(Schema.Json), "Input that it would be given. Absent: none."),
  readOnly: described(
    Schema.optionalKey(Schema.Boolean),
    "Whether its server marks it as read-only. False when absent."
  )
})
  .check(
    Schema.makeFilter(
      ({ profileId, roleIds }) =>
        (profileId === undefined) !== (roleIds === undefined) || "either roleIds or profileId",
      {
        toJsonSchema: () => ({ oneOf: [has("roleIds"), has("profileId")] })
      }
    )
  )
  .annotate({ identifier: "RoleQuestion" })

const RoleMatch = Schema.Struct({
  roleId: described(Schema.String, "The role."),
  list: described(Schema.Literals(["allow", "deny"]), "Which of its lists the entry stands in."),
  index: described(Schema.Int, "Place of the entry in its list, from 0."),
  approval: described(Schema.optionalKey(Schema.Literal("required")), "The entry wants an approval.")
}).annotate({ identifier: "RoleMatch" })

export const RoleDecision = Schema.Struct({
  decision: described(Schema.Literals(["allow", "deny"]), "Whether the call would be allowed."),
  approval: described(Schema.optionalKey(Schema.Literal("required")), "A person would have to approve it."),
  by: described(
    Schema.optionalKey(Schema.String),
    "Role that decided. Absent where no role has anything about the call."
  ),
  matched: described(Schema.Array(RoleMatch), "Every grant and denial that is about the call."),
  reason: described(Schema.String, "Why, in words for people.")
}).annotate({ identifier: "RoleDecision" })

export const RolesApi = HttpApiGroup.make("roles")
  .add(
    HttpApiEndpoint.post("create", "/roles", {
      payload: RoleInput,
      success: RoleAnswer.pipe(HttpApiSchema.status(201)),
      error: refuses("too_many_roles")
    })
      .annotateMerge(access("write", { stores: "rows" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a role",
          description:
            `At most ${limits.rolesPerWorkspace} a workspace, the built-in ones not counted. What no role of a ` +
            "profile allows is denied; what one denies no other can allow."
        })
      ),
    HttpApiEndpoint.get("list", "/roles", {
      query: { limit: limitOf("roles"), cursor: CursorParam },
      success: RolePage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List roles",
          description:
            "The built-in roles `all_tools`, `read_only` and `no_tools`, then those of the workspace, newest first."
        })
      ),
    HttpApiEndpoint.post("evaluate", "/roles/evaluate", {
      payload: RoleQuestion,
      success: RoleDecision,
      error: refuses("role_not_found", "profile_not_found", "profile_archived")
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Explain a decision",
          description:
            "How roles, or the roles of a profile's latest version, judge a call: the decision, the role that " +
            "decided (`by`), and every grant and denial that is about it. `tool` is `namespace.tool`; `readOnly` " +
            "says whether its server marks it as read-only. Nothing is called, nothing is recorded."
        })
      ),
    HttpApiEndpoint.get("get", "/roles/:roleId", {
      params: { roleId: RoleId },
      success: RoleAnswer
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a role",
          description: "Built-in ones too. The ETag is what `If-Match` of a patch or delete is held against."
        })
      ),
    HttpApiEndpoint.patch("update", "/roles/:roleId", {
      params: { roleId: RoleId },
      headers: IfMatch,
      payload: RolePatch,
      success: RoleAnswer,
      error: refuses("precondition_failed")
    })
      .annotateMerge(access("write"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Change a role",
          description:
            "JSON Merge Patch (RFC 7396); a list replaces the list. Turns that run go by the changed role too. " +
            "Built-in roles cannot be changed."
        })
      ),
    HttpApiEndpoint.delete("delete", "/roles/:roleId", {
      params: { roleId: RoleId },
      headers: IfMatch,
      success: HttpApiSchema.NoContent,
      error: refuses("role_in_use", "precondition_failed")
    })
      .annotateMerge(access("write"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Delete a role",
          description:
            "Refused while the latest version of a profile lists it, or a version that an agent is pinned to. " +
            "Where an older version still lists it, it denies everything. Built-in roles cannot be deleted."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Named permissions of agents' tools." }))
