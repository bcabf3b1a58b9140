/** The approval policy as a table: whose request for what parks, by rule and without one. */
import { assert, describe, it } from "@effect/vitest"
import { type OperationAction, operationActions } from "../../src/operations/operation.ts"
import { type ApprovalRule, parks } from "../../src/operations/policy.ts"

const people = ["api_key", "user", "trigger"] as const
const agentId = "agt_00000000000000000000000001"

/** What the contract says of each kind of action: without a rule by people and agents, and by which rules it parks. */
interface Row {
  readonly actions: ReadonlyArray<OperationAction>
  /** Parks though no rule fits. */
  readonly unasked: { readonly people: boolean; readonly agent: boolean }
  /** `*` and `noun.*` mean it. */
  readonly meantByAll: boolean
  /** By an agent it parks whatever a rule says. */
  readonly always?: true
}
const reads = { unasked: { people: false, agent: false }, meantByAll: false }
const mutations = { unasked: { people: false, agent: true }, meantByAll: true }
const table: ReadonlyArray<Row> = [
  { ...reads, actions: ["agent.read", "thread.read", "subscription.read"] },
  {
    actions: ["memory.put", "memory.delete", "feed.append", "schedule.run"],
    unasked: { people: false, agent: false },
    meantByAll: true
  },
  {
    ...mutations,
    actions: [
      "agent.create",
      "agent.update",
      "agent.archive",
      "feed.create",
      "feed.update",
      "feed.archive",
      "schedule.create",
      "schedule.update",
      "schedule.delete",
      "subscription.create",
      "subscription.update",
      "subscription.delete"
    ]
  },
  { ...mutations, actions: ["identity.disable", "identity.enable"], always: true }
]

const rule = (actions: ReadonlyArray<string>, require: boolean, more: Partial<ApprovalRule> = {}): ApprovalRule => ({
  actions,
  principals: ["user", "api_key", "agent", "trigger"],
  require,
  ...more
})
const nounOf = (action: string) => action.slice(0, action.indexOf("."))

describe("the table of the policy", () => {
  it("has every action once", () =>
    assert.deepStrictEqual(table.flatMap(({ actions }) => actions).toSorted(), operationActions.toSorted()))

  const rows = table.flatMap(({ actions, ...row }) => actions.map((action) => [action, row] as const))
  it.each(rows)("%s parks where it says so, by each rule and for each principal", (action, row) => {
    for (const principal of [...people, "agent"] as const) {
      const asked = { action, principal, agentId }
      const isAgent = principal === "agent"
      const always = isAgent && row.always === true
      const unasked = isAgent ? row.unasked.agent : row.unasked.people
      const says = (rules: ReadonlyArray<ApprovalRule>, expected: boolean, what: string) =>
        assert.strictEqual(parks(rules, asked), expected || always, `${principal}: ${what}`)
      says([], unasked, "no rule")
      for (const require of [true, false]) {
        says([rule([action], require)], require, `named, ${require}`)
        for (const selector of ["*", `${nounOf(action)}.*`])
          says([rule([selector], require)], row.meantByAll ? require : unasked, `${selector}, ${require}`)
        // The first one that fits decides.
        says([rule([action], require), rule([action], !require)], require, `first of two, ${require}`)
        // Rules of others, and about others, do not fit.
        const others = [...people, "agent"] as const
        says(
          [rule([action], require, { principals: others.filter((other) => other !== principal) })],
          unasked,
          `of other principals, ${require}`
        )
        says(
          [
            rule(
              ["agent.read", "memory.put"].filter((other) => other !== action),
              require
            )
          ],
          unasked,
          "other actions"
        )
        says([rule([action], require, { agentIds: [agentId] })], require, `about the agent, ${require}`)
        says(
          [rule([action], require, { agentIds: ["agt_00000000000000000000000002"] })],
          unasked,
          "about another agent"
        )
      }
    }
  })
})
