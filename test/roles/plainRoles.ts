/** Roles as plain data, and the verdict of several. */
import type { Denial, Grant } from "../../src/roles/role.ts"
import { compileRole, evaluateRoles, type ToolAsked } from "../../src/roles/evaluate.ts"

export interface Plain {
  readonly id: string
  readonly allow: ReadonlyArray<Grant>
  readonly deny: ReadonlyArray<Denial>
}
export const role = (id: string, { allow = [], deny = [] }: Partial<Plain>): Plain => ({ id, allow, deny })
export const evaluate = (roles: ReadonlyArray<Plain>, asked: ToolAsked) => evaluateRoles(roles.map(compileRole), asked)

/** What the role wants approved of the call. */
export const keysOf = (plain: Plain, asked: ToolAsked): ReadonlyArray<string> => {
  const verdict = evaluate([plain], asked)
  return verdict.decision === "allow" ? (verdict.approvals ?? []) : []
}
