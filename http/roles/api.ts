/** Roles: what agents' tools may do (design, section 7), and why a call is allowed or denied. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { idOf } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { Role, RoleId, RoleInput, RolePatch } from "../../src/domain/role.ts"
import { maxBytes } from "../../src/domain/text.ts"
import { access } from "../Authenticate.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"

export const RoleAnswer = Schema.Struct({ role: Role }).annotate({ identifier: "RoleAnswer" })

export const RolePage = Schema.Struct({
  roles: Schema.Array(Role),
  nextCursor: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "RolePage" })

/** Which roles are asked: exactly one of `roleIds` and `profileId` says it. */
export const RoleQuestion = Schema.Struct({
  roleIds: Schema.optionalKey(Schema.Array(RoleId).check(Schema.isMaxLength(limits.rolesPerProfile))),
  profileId: Schema.optionalKey(idOf("profile")),
  tool: Schema.String.check(Schema.isMinLength(1), maxBytes(limits.askedToolBytes)),
  input: Schema.optionalKey(Schema.Json),
  readOnly: Schema.optionalKey(Schema.Boolean)
}).check(
  Schema.makeFilter(({ profileId, roleIds }) => (profileId === undefined) !== (roleIds === undefined) || "either roleIds or profileId", {
    toJsonSchema: () => [{}, true]
  })
).annotate({ identifier: "RoleQuestion" })

const RoleMatch = Schema.Struct({
  roleId: Schema.String,
  list: Schema.Literals(["allow", "deny"]),
  index: Schema.Int,
  approval: Schema.optionalKey(Schema.Literal("required"))
}).annotate({ identifier: "RoleMatch" })

export const RoleDecision = Schema.Struct({
  decision: Schema.Literals(["allow", "deny"]),
  approval: Schema.optionalKey(Schema.Literal("required")),
  by: Schema.optionalKey(Schema.String),
  matched: Schema.Array(RoleMatch),
  reason: Schema.String
}).annotate({ identifier: "RoleDecision" })

export const RolesApi = HttpApiGroup.make("roles").add(
  HttpApiEndpoint.post("create", "/roles", {
    payload: RoleInput,
    success: RoleAnswer.pipe(HttpApiSchema.status(201)),
    error: refuses("too_many_roles")
  }).annotateMerge(access("write", { stores: "rows" })).annotateMerge(OpenApi.annotations({
    summary: "Create a role",
    description: `At most ${limits.rolesPerWorkspace} a workspace, the built-in ones not counted. What no role of a profile allows is denied; what one denies no other can allow.`
  })),
  HttpApiEndpoint.get("list", "/roles", {
    query: { limit: limitOf("roles"), cursor: CursorParam },
    success: RolePage
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "List roles",
    description: "The built-in roles `all_tools`, `read_only` and `no_tools`, then those of the workspace, newest first."
  })),
  HttpApiEndpoint.post("evaluate", "/roles/evaluate", {
    payload: RoleQuestion,
    success: RoleDecision,
    error: refuses("role_not_found", "profile_not_found", "profile_archived")
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "Explain a decision",
    description: "What roles, or those of a profile's latest version, say of a call: the decision, the role that decided (`by`), and every grant and denial that is about it. `tool` is `namespace.tool`; `readOnly` says whether its server marks it as read-only. Nothing is called, nothing is recorded."
  })),
  HttpApiEndpoint.get("get", "/roles/:roleId", {
    params: { roleId: RoleId },
    success: RoleAnswer
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({ summary: "Get a role" })),
  HttpApiEndpoint.patch("update", "/roles/:roleId", {
    params: { roleId: RoleId },
    headers: IfMatch,
    payload: RolePatch,
    success: RoleAnswer,
    error: refuses("precondition_failed")
  }).annotateMerge(access("write")).annotateMerge(OpenApi.annotations({
    summary: "Change a role",
    description: "JSON Merge Patch (RFC 7396); a list replaces the list. Turns that run go by the changed role too. Built-in roles cannot be changed."
  })),
  HttpApiEndpoint.delete("delete", "/roles/:roleId", {
    params: { roleId: RoleId },
    headers: IfMatch,
    success: HttpApiSchema.NoContent,
    error: refuses("role_in_use", "precondition_failed")
  }).annotateMerge(access("write")).annotateMerge(OpenApi.annotations({
    summary: "Delete a role",
    description: "Refused while the latest version of a profile lists it, or a version that an agent is pinned to. Where an older version still lists it, it denies everything. Built-in roles cannot be deleted."
  }))
).annotateMerge(OpenApi.annotations({ description: "Named permissions of agents' tools." }))
