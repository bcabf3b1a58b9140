/** Why roles allow or deny a call: the verdict, with every grant and denial that is about it. */
import { allows, type CompiledRole, consider, denies, evaluateRoles, type ToolAsked } from "./evaluate.ts"

/** `index` is the place in that list of the role. */
export interface ExplainedMatch {
  readonly roleId: string
  readonly list: "allow" | "deny"
  readonly index: number
  readonly approval?: "required"
}

export interface Explanation {
  readonly decision: "allow" | "deny"
  readonly approval?: "required"
  /** The role that decided; none where no role allows. */
  readonly by?: string
  /** Denials first, each in the order of the roles. */
  readonly matched: ReadonlyArray<ExplainedMatch>
  readonly reason: string
}

const place = ({ index, list, roleId }: ExplainedMatch) => `the role ${roleId}, ${list}[${index}]`

export const explain = (roles: ReadonlyArray<CompiledRole>, call: ToolAsked): Explanation => {
  const all = consider(roles, call)
  const denying = all.flatMap((considered) =>
    considered.role.deny.flatMap(
      (denial, index): ReadonlyArray<ExplainedMatch> =>
        denies(considered, denial) ? [{ roleId: considered.role.id, list: "deny", index }] : []
    )
  )
  const allowing = all.flatMap((considered) =>
    considered.role.allow.flatMap(
      (grant, index): ReadonlyArray<ExplainedMatch> =>
        allows(considered, grant)
          ? [
              {
                roleId: considered.role.id,
                list: "allow",
                index,
                ...(grant.approval !== undefined && { approval: "required" })
              }
            ]
          : []
    )
  )
  const matched = [...denying, ...allowing]
  const verdict = evaluateRoles(roles, call)
  if (verdict.decision === "deny") return { ...verdict, matched }
  const approving = allowing.find((match) => match.approval !== undefined)
  const deciding = approving ?? allowing[0]
  return {
    decision: "allow",
    ...(approving && { approval: "required" }),
    ...(deciding && { by: deciding.roleId }),
    matched,
    reason:
      deciding === undefined ? "allowed" : `allowed by ${place(deciding)}${approving ? ", once it is approved" : ""}`
  }
}
