/**
 * The approval policy of a workspace: rules that say which requests park, and what holds where none fits.
 *
 * P1. The first rule that fits decides.
 * P2. `*` and `noun.*` never mean a read: that parks only where a rule names it.
 * P3. Identities that a lease would disable or enable always park.
 * P4. Without a rule: what an agent asks for parks, save what its memory and roles have let it do; all else runs.
 */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { AgentId } from "../domain/resourceIds.ts"
import { limits } from "../domain/limits.ts"
import { Principal, type PrincipalType } from "../domain/principal.ts"
import { Timestamp } from "../domain/time.ts"
import { isRead, type OperationAction, operationActions } from "./operation.ts"

const nounOf = (action: string) => action.slice(0, action.indexOf("."))

/** What a rule may name: an action, all changes of a noun, all changes. */
export const actionSelectors: ReadonlyArray<string> = [
  "*",
  ...new Set(operationActions.map((action) => `${nounOf(action)}.*`)),
  ...operationActions
]

const uniqueOf = <S extends Schema.Top>(item: S, most: number) =>
  Schema.Array(item).check(Schema.isMinLength(1), Schema.isMaxLength(most), Schema.isUnique())

export const ApprovalRule = Schema.Struct({
  actions: described(
    uniqueOf(Schema.Literals(actionSelectors), limits.ruleActions),
    "Actions of the rule: `noun.verb`, `noun.*` for every change of a noun, `*` for every change. Reads are meant " +
      "only where they are named."
  ),
  principals: described(
    uniqueOf(Schema.Literals(["user", "api_key", "agent", "trigger"]), 4),
    "Whose requests the rule is about."
  ),
  agentIds: described(
    Schema.optionalKey(uniqueOf(AgentId, limits.ruleAgents)),
    "Only requests about these agents, or by them. Absent: whatever they are about."
  ),
  require: described(Schema.Boolean, "Whether such a request is parked for approval.")
}).annotate({ identifier: "ApprovalRule" })
export type ApprovalRule = typeof ApprovalRule.Type

const Rules = described(
  Schema.Array(ApprovalRule).check(Schema.isMaxLength(limits.approvalRules)),
  "The first rule that fits a request decides."
)

export const ApprovalPolicyInput = Schema.Struct({ rules: Rules }).annotate({ identifier: "ApprovalPolicyInput" })

export const ApprovalPolicy = Schema.Struct({
  rules: Rules,
  updatedAt: described(Schema.optionalKey(Timestamp), "When it was last changed. Absent until it first is."),
  updatedBy: described(Schema.optionalKey(Principal), "Who last changed it. Absent until it first is changed.")
}).annotate({ identifier: "ApprovalPolicy" })
export type ApprovalPolicy = typeof ApprovalPolicy.Type

/** A request, as rules see it. */
export interface RuledRequest {
  readonly action: OperationAction
  readonly principal: PrincipalType
  /** Agent that it is about, else the one that asks. */
  readonly agentId: string | undefined
}

const names = (selector: string, action: OperationAction) =>
  selector === action || (!isRead(action) && (selector === "*" || selector === `${nounOf(action)}.*`))

const fits = ({ actions, agentIds, principals }: ApprovalRule, { action, agentId, principal }: RuledRequest) =>
  principals.some((type) => type === principal) &&
  actions.some((selector) => names(selector, action)) &&
  (agentIds === undefined || (agentId !== undefined && agentIds.includes(agentId)))

/** What an agent may change without being asked: its memory and roles have let it. */
const letAlready = (action: string) => /^(?:memory\..*|feed\.append|schedule\.run)$/.test(action)

/** Whether the request parks. */
export const parks = (rules: ReadonlyArray<ApprovalRule>, request: RuledRequest): boolean => {
  const { action, principal } = request
  if (principal === "agent" && nounOf(action) === "identity") return true
  const rule = rules.find((rule) => fits(rule, request))
  if (rule !== undefined) return rule.require
  return principal === "agent" && !isRead(action) && !letAlready(action)
}
