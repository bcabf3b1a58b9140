/**
 * Role: named permissions of agents' tools. What no role allows is denied, and what
 * one denies no other can allow.
 *
 * The three built-in roles belong to every workspace and to nobody: they have fixed ids, cannot be
 * changed or deleted, and do not count to the limit of a workspace.
 */
import { Schema } from "effect"
import { Conditions } from "../domain/condition.ts"
import { described } from "../domain/described.ts"
import { limits } from "../domain/limits.ts"
import { Principal } from "../domain/principal.ts"
import { ToolSelector } from "../domain/selector.ts"
import { maxChars, nonBlankLine } from "../domain/text.ts"
import { Timestamp, toTimestamp } from "../domain/time.ts"
import { Description } from "../domain/names.ts"

const Name = Schema.String.check(maxChars(limits.roleNameChars), nonBlankLine)

/** Said once, of what is sent and of what is answered. */
const says = {
  name: "The role's name, for people.",
  description: "The role's purpose, in words for people.",
  allow: "Calls that it allows. What no role of a profile allows is denied.",
  deny: "Calls that it denies. No other role can allow them."
}

/** Without conditions it is about every call of the tools, else about those for which all of them hold. */
const about = {
  tools: described(ToolSelector, "The tools that it is about."),
  conditions: described(
    Schema.optionalKey(Conditions),
    "Conditions that the call's input must meet, all of them. Absent: every call of these tools."
  )
}

/** An approval is asked for where any grant that allows the call asks for one. */
export const GrantInput = Schema.Struct({
  ...about,
  approval: described(Schema.optionalKey(Schema.Literal("required")), "A person has to approve each such call.")
}).annotate({ identifier: "GrantInput" })
export type GrantInput = typeof GrantInput.Type

/** Nothing is approved that is denied: a denial has no `approval`. */
export const Denial = Schema.Struct(about).annotate({ identifier: "Denial" })
export type Denial = typeof Denial.Type

/** `readOnly` is the built-in role's own: only tools whose server marks them with readOnlyHint. */
export const Grant = Schema.Struct({
  ...GrantInput.fields,
  readOnly: described(
    Schema.optionalKey(Schema.Literal(true)),
    "Only tools that their server marks with `readOnlyHint`: of the built-in role `read_only`."
  )
}).annotate({ identifier: "Grant" })
export type Grant = typeof Grant.Type

const listOf = <S extends Schema.Constraint>(entry: S) =>
  Schema.Array(entry).check(Schema.isMaxLength(limits.grantsPerRole))
const Allow = listOf(GrantInput)
const Deny = listOf(Denial)

/** What a client may say of a role: the body of a create, and what a patch is merged into. */
export const RoleInput = Schema.Struct({
  name: described(Name, says.name),
  description: described(Schema.optionalKey(Description), says.description),
  allow: described(Schema.optionalKey(Allow), says.allow),
  deny: described(Schema.optionalKey(Deny), says.deny)
}).annotate({ identifier: "RoleInput" })
export type RoleInput = typeof RoleInput.Type

/** JSON Merge Patch of a role: absent keeps, null clears, a list replaces the list. */
export const RolePatch = Schema.Struct({
  name: described(Schema.optionalKey(Name), says.name),
  description: described(Schema.optionalKey(Schema.NullOr(Description)), says.description),
  allow: described(Schema.optionalKey(Schema.NullOr(Allow)), says.allow),
  deny: described(Schema.optionalKey(Schema.NullOr(Deny)), says.deny)
}).annotate({ identifier: "RolePatch" })
export type RolePatch = typeof RolePatch.Type

/** Built-in roles have no `createdBy`, and the year 1970 as their time. */
export const Role = Schema.Struct({
  id: described(Schema.String, "Id of the role, which profiles name."),
  name: described(Schema.String, says.name),
  description: described(Schema.optionalKey(Schema.String), says.description),
  allow: described(Schema.Array(Grant), says.allow),
  deny: described(Schema.Array(Denial), says.deny),
  builtIn: described(
    Schema.optionalKey(Schema.Literal(true)),
    "True for the three roles that every workspace has and nobody can change."
  ),
  createdAt: described(Timestamp, "When the role was made: 1970 for built-in ones."),
  updatedAt: described(Timestamp, "When it last changed."),
  createdBy: described(Schema.optionalKey(Principal), "Who made the role. Absent for built-in ones.")
}).annotate({ identifier: "Role" })
export type Role = typeof Role.Type

const builtIn = (id: string, name: string, description: string, allow: ReadonlyArray<Grant>): Role => ({
  id,
  name,
  description,
  allow,
  deny: [],
  builtIn: true,
  createdAt: toTimestamp(0),
  updatedAt: toTimestamp(0)
})

/** What a profile without roles has. */
export const allTools = builtIn("role_00000000000000000000000001", "all_tools", "Allows every tool.", [{ tools: "*" }])
export const readOnly = builtIn(
  "role_00000000000000000000000002",
  "read_only",
  "Allows the tools whose server marks them as read-only.",
  [{ tools: "*", readOnly: true }]
)
export const noTools = builtIn("role_00000000000000000000000003", "no_tools", "Allows no tool.", [])

/** In the order in which they are listed, ahead of all others. */
export const builtInRoles: ReadonlyArray<Role> = [allTools, readOnly, noTools]

export const builtInRole = (id: string): Role | undefined => builtInRoles.find((role) => role.id === id)
