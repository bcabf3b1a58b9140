/**
 * What roles say of a tool call, in the order of AWS IAM. Pure, and asked for every
 * call of every turn: roles are compiled once, when they are read.
 *
 * V1. A denial that matches in any role denies, whatever allows.
 * V2. Else a grant that matches in any role allows; with approval, if any such grant asks for it.
 * V3. Else the call is denied: no roles at all allow nothing.
 * V4. A condition that cannot be asked of the input makes a grant fail and a denial match.
 * V5. A grant that is approved is known by what it says, not by its place: a role that is edited meanwhile must
 *     not pass the approval on to another of its grants.
 */
import { hash } from "node:crypto"
import { compileCondition, compilePath, type Condition, type Find, type Holds } from "../domain/condition.ts"
import type { Denial, Grant } from "./role.ts"
import { compileSelector, type Matches } from "../domain/selector.ts"

export interface ToolAsked {
  /** `namespace.tool`. */
  readonly name: string
  readonly input: unknown
  /** The server marks the tool with readOnlyHint. */
  readonly readOnly: boolean
}

interface CompiledCondition {
  /** Its place in the paths of the role. */
  readonly path: number
  readonly holds: Holds
}

interface CompiledEntry {
  readonly selects: Matches
  readonly conditions: ReadonlyArray<CompiledCondition>
}

interface CompiledGrant extends CompiledEntry {
  /** `roleId/digest`, where it asks for approval (V5). */
  readonly approval?: string
  readonly readOnly: boolean
}

export interface CompiledRole {
  readonly id: string
  /** Of all its conditions, each once: entries of a role mostly ask about the same few. */
  readonly paths: ReadonlyArray<Find>
  readonly allow: ReadonlyArray<CompiledGrant>
  readonly deny: ReadonlyArray<CompiledEntry>
}

export type RoleVerdict =
  /** `by` is the role that denies; none where no role allows. */
  | { readonly decision: "deny"; readonly by?: string; readonly reason: string }
  /** The keys of all matching grants that require approval (V5); absent where none does. */
  | { readonly decision: "allow"; readonly approvals?: ReadonlyArray<string> }

/** V5. */
const keyOf = (role: string, { conditions = [], tools }: Grant) => {
  const said = JSON.stringify([tools, ...conditions.map(({ op, path, value }) => [path, op, value])])
  return `${role}/${hash("sha256", said, "base64url").slice(0, 22)}`
}

export const compileRole = ({
  allow,
  deny,
  id
}: {
  readonly id: string
  readonly allow: ReadonlyArray<Grant>
  readonly deny: ReadonlyArray<Denial>
}): CompiledRole => {
  const places = new Map<string, number>()
  const condition = (said: Condition): CompiledCondition => {
    const path = places.get(said.path) ?? places.size
    places.set(said.path, path)
    return { path, holds: compileCondition(said) }
  }
  const entry = ({ conditions = [], tools }: Denial): CompiledEntry => ({
    selects: compileSelector(tools),
    conditions: conditions.map(condition)
  })
  return {
    id,
    allow: allow.map((grant) => ({
      ...entry(grant),
      ...(grant.approval === "required" && { approval: keyOf(id, grant) }),
      readOnly: grant.readOnly === true
    })),
    deny: deny.map(entry),
    // Last: by now every path has its place.
    paths: Array.from(places.keys(), compilePath)
  }
}

/** Stands for a role that is not there (any more): fails closed. */
export const deniesAll = (id: string): CompiledRole => compileRole({ id, allow: [], deny: [{ tools: "*" }] })

const notLookedUp = Symbol("not looked up")

/** A role that is asked about one call: each of its paths is followed when it is first needed, and once. */
export interface Considered {
  readonly role: CompiledRole
  readonly call: ToolAsked
  readonly found: Array<unknown>
}

export const consider = (roles: ReadonlyArray<CompiledRole>, call: ToolAsked): ReadonlyArray<Considered> =>
  roles.map((role) => ({ role, call, found: new Array<unknown>(role.paths.length).fill(notLookedUp) }))

/** Whether all hold; `unasked` is what one counts for that cannot be asked (V4). */
const hold = ({ call, found, role }: Considered, conditions: ReadonlyArray<CompiledCondition>, unasked: boolean) => {
  for (const { holds, path } of conditions) {
    let held = found[path]
    if (held === notLookedUp) held = found[path] = role.paths[path]!(call.input)
    if (!(holds(held) ?? unasked)) return false
  }
  return true
}

/** Whether the grant is about the call. */
export const allows = (considered: Considered, grant: CompiledGrant) =>
  (considered.call.readOnly || !grant.readOnly) &&
  grant.selects(considered.call.name) &&
  hold(considered, grant.conditions, false)

/** Whether the denial is about the call. */
export const denies = (considered: Considered, denial: CompiledEntry) =>
  denial.selects(considered.call.name) && hold(considered, denial.conditions, true)

const nothingAllows: RoleVerdict = { decision: "deny", reason: "no role allows this tool with this input" }
const plainlyAllowed: RoleVerdict = { decision: "allow" }

export const evaluateRoles = (roles: ReadonlyArray<CompiledRole>, call: ToolAsked): RoleVerdict => {
  const all = consider(roles, call)
  for (const considered of all) {
    const { deny, id } = considered.role
    const index = deny.findIndex((denial) => denies(considered, denial))
    if (index !== -1) return { decision: "deny", by: id, reason: `denied by the role ${id}, deny[${index}]` }
  }
  let allowed = false
  const approvals: Array<string> = []
  for (const considered of all) {
    for (const grant of considered.role.allow) {
      // Once allowed, only a grant that asks for approval adds anything.
      if ((allowed && grant.approval === undefined) || !allows(considered, grant)) continue
      if (grant.approval !== undefined) approvals.push(grant.approval)
      allowed = true
    }
  }
  if (approvals.length > 0) return { decision: "allow", approvals }
  return allowed ? plainlyAllowed : nothingAllows
}

/** Whether any input could be allowed. What never is need not be shown to the model. */
export const mayEver = (
  roles: ReadonlyArray<CompiledRole>,
  { name, readOnly }: Pick<ToolAsked, "name" | "readOnly">
): boolean =>
  roles.some((role) => role.allow.some((grant) => (readOnly || !grant.readOnly) && grant.selects(name))) &&
  !roles.some((role) => role.deny.some((denial) => denial.conditions.length === 0 && denial.selects(name)))
