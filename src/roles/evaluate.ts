/**
 * What roles say of a tool call (design, section 7), in the order of AWS IAM. Pure, and asked for every
 * call of every turn: roles are compiled once, when they are read.
 *
 * V1. A denial that matches in any role denies, whatever allows.
 * V2. Else a grant that matches in any role allows; with approval, if any such grant asks for it.
 * V3. Else the call is denied: no roles at all allow nothing.
 * V4. A condition that cannot be asked of the input makes a grant fail and a denial match.
 */
import { compileCondition, type Holds } from "../domain/condition.ts"
import type { Denial, Grant } from "../domain/role.ts"
import { compileSelector, type Matches } from "../domain/selector.ts"

export interface ToolAsked {
  /** `namespace.tool`. */
  readonly name: string
  readonly input: unknown
  /** The server marks the tool with readOnlyHint. */
  readonly readOnly: boolean
}

interface CompiledEntry {
  readonly selects: Matches
  readonly conditions: ReadonlyArray<Holds>
}

interface CompiledGrant extends CompiledEntry {
  readonly approval: boolean
  readonly readOnly: boolean
}

export interface CompiledRole {
  readonly id: string
  readonly allow: ReadonlyArray<CompiledGrant>
  readonly deny: ReadonlyArray<CompiledEntry>
}

export type RoleVerdict =
  /** `by` is the role that denies; none where no role allows. */
  | { readonly decision: "deny"; readonly by?: string; readonly reason: string }
  /** `approval` is `roleId/index` of the first matching grant that requires it. */
  | { readonly decision: "allow"; readonly approval?: string }

const compileEntry = ({ conditions = [], tools }: Denial): CompiledEntry => ({
  selects: compileSelector(tools),
  conditions: conditions.map(compileCondition)
})

export const compileRole = ({ allow, deny, id }: {
  readonly id: string
  readonly allow: ReadonlyArray<Grant>
  readonly deny: ReadonlyArray<Denial>
}): CompiledRole => ({
  id,
  allow: allow.map((grant) => ({ ...compileEntry(grant), approval: grant.approval === "required", readOnly: grant.readOnly === true })),
  deny: deny.map(compileEntry)
})

/** Stands for a role that is not there (any more): fails closed. */
export const deniesAll = (id: string): CompiledRole => compileRole({ id, allow: [], deny: [{ tools: "*" }] })

/** Whether all hold; `unasked` is what one counts for that cannot be asked (V4). */
const hold = (conditions: ReadonlyArray<Holds>, input: unknown, unasked: boolean) => {
  for (const holds of conditions) if (!(holds(input) ?? unasked)) return false
  return true
}

/** Whether the grant is about the call. */
export const allows = (grant: CompiledGrant, { input, name, readOnly }: ToolAsked) =>
  (readOnly || !grant.readOnly) && grant.selects(name) && hold(grant.conditions, input, false)

/** Whether the denial is about the call. */
export const denies = (denial: CompiledEntry, { input, name }: ToolAsked) => denial.selects(name) && hold(denial.conditions, input, true)

const nothingAllows: RoleVerdict = { decision: "deny", reason: "no role allows this tool with this input" }
const plainlyAllowed: RoleVerdict = { decision: "allow" }

export const evaluateRoles = (roles: ReadonlyArray<CompiledRole>, asked: ToolAsked): RoleVerdict => {
  for (const role of roles) {
    const index = role.deny.findIndex((denial) => denies(denial, asked))
    if (index !== -1) return { decision: "deny", by: role.id, reason: `denied by the role ${role.id}, deny[${index}]` }
  }
  let allowed = false
  for (const role of roles) {
    for (const [index, grant] of role.allow.entries()) {
      // Once allowed, only a grant that asks for approval adds anything.
      if ((allowed && !grant.approval) || !allows(grant, asked)) continue
      if (grant.approval) return { decision: "allow", approval: `${role.id}/${index}` }
      allowed = true
    }
  }
  return allowed ? plainlyAllowed : nothingAllows
}

/** Whether any input could be allowed. What never is need not be shown to the model. */
export const mayEver = (roles: ReadonlyArray<CompiledRole>, { name, readOnly }: Pick<ToolAsked, "name" | "readOnly">): boolean =>
  roles.some((role) => role.allow.some((grant) => (readOnly || !grant.readOnly) && grant.selects(name))) &&
  !roles.some((role) => role.deny.some((denial) => denial.conditions.length === 0 && denial.selects(name)))
