/** What models were used for in a workspace (contract C52.1): sums over days, agents and models. */
import { Schema } from "effect"
import { Budget } from "../agents/agent.ts"
import { described } from "../domain/described.ts"
import { NextCursor } from "../domain/nextCursor.ts"
import { AgentId } from "../domain/resourceIds.ts"

export const usageGroups = ["day", "agent", "model"] as const
export type UsageGroup = (typeof usageGroups)[number]

const isGroup = (word: string): word is UsageGroup => usageGroups.some((group) => group === word)

/** The groups of a list such as `agent,day`, in their own order; undefined of a list that has others, or one twice. */
export const usageGroupsOf = (list: string): ReadonlyArray<UsageGroup> | undefined => {
  const words = list.split(",")
  return words.every(isGroup) && new Set(words).size === words.length
    ? usageGroups.filter((group) => words.includes(group))
    : undefined
}

const orders = (left: ReadonlyArray<UsageGroup>): ReadonlyArray<string> =>
  left.flatMap((group) => [group, ...orders(left.filter((one) => one !== group)).map((rest) => `${group},${rest}`)])

/** A list of groups, as a query has it. */
export const UsageGrouping = Schema.String.check(
  Schema.makeFilter<string>(
    (list) => usageGroupsOf(list) !== undefined || "a list of day, agent and model, each once",
    {
      toJsonSchema: () => [{ enum: orders(usageGroups) }, true]
    }
  )
)

const Amount = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const UsageSum = Schema.Struct({
  day: described(
    Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\d$/u)).annotate({ format: "date" })),
    "The day in UTC. Present where the sums are by day."
  ),
  agentId: described(Schema.optionalKey(AgentId), "The agent that pays. Present where the sums are by agent."),
  model: described(Schema.optionalKey(Schema.String), "Id of the model. Present where the sums are by model."),
  calls: described(Amount, "Responses of models, and failed attempts whose usage the provider reported."),
  inputTokens: described(Amount, "Tokens that went into models."),
  outputTokens: described(Amount, "Tokens that came out of models."),
  cacheReadTokens: described(Amount, "Input tokens that providers read from their caches."),
  cacheWriteTokens: described(Amount, "Input tokens that providers wrote to their caches."),
  reasoningTokens: described(Amount, "Output tokens that models spent on reasoning."),
  estimatedCost: described(
    Schema.optionalKey(Schema.Finite),
    "Cost of all of them, in USD. Absent where the price of a part is not known."
  )
}).annotate({ identifier: "UsageSum" })
export type UsageSum = typeof UsageSum.Type

export const BudgetUse = Schema.Struct({
  ...Budget.fields,
  spent: described(Schema.Finite, "USD that the agent has spent within the window, at most five seconds old."),
  reserved: described(Schema.Finite, "USD that are set aside for calls of models that run now.")
}).annotate({ identifier: "BudgetUse" })

export const UsagePage = Schema.Struct({
  usage: described(Schema.Array(UsageSum), "Sums of this page: newest day first, then by agent and model."),
  nextCursor: NextCursor,
  budget: described(
    Schema.optionalKey(BudgetUse),
    "Budget of the agent that `agentId` names, and what of it is used. Absent where it has none."
  )
}).annotate({ identifier: "UsagePage" })
