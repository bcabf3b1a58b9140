/** ModelUsage (contract C16.7): tokens, and money in USD where the price is known. */
import { Schema } from "effect"
import { described } from "./described.ts"

export const ModelUsage = Schema.Struct({
  inputTokens: described(Schema.Int, "Tokens that went into models."),
  outputTokens: described(Schema.Int, "Tokens that came out of models."),
  totalTokens: described(Schema.Int, "All tokens, in and out."),
  cacheReadTokens: described(Schema.optionalKey(Schema.Int), "Input tokens that a provider read from its cache."),
  cacheWriteTokens: described(Schema.optionalKey(Schema.Int), "Input tokens that a provider wrote to its cache."),
  reasoningTokens: described(Schema.optionalKey(Schema.Int), "Output tokens that a model spent on reasoning."),
  estimatedCost: described(
    Schema.optionalKey(Schema.Finite),
    "Cost of all of them, in USD. Absent where the price of a part is not known."
  )
}).annotate({ identifier: "ModelUsage" })
export type ModelUsage = typeof ModelUsage.Type

export const noUsage: ModelUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }

const optional = ["cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const

/** USD to a billionth: sums of prices per token stay printable. */
export const dollars = (amount: number) => Math.round(amount * 1e9) / 1e9

/** Tokens whose price nobody knows. */
export const isUnpriced = ({ estimatedCost, inputTokens, outputTokens, totalTokens }: ModelUsage) =>
  estimatedCost === undefined && (inputTokens > 0 || outputTokens > 0 || totalTokens > 0)

/** A sum with tokens of an unknown price has no cost: what is known of it would be taken for the whole. */
export const addUsage = (a: ModelUsage, b: ModelUsage): ModelUsage => {
  const sum: { -readonly [K in keyof ModelUsage]: ModelUsage[K] } = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens
  }
  for (const field of optional) {
    const total = (a[field] ?? 0) + (b[field] ?? 0)
    if (a[field] !== undefined || b[field] !== undefined) sum[field] = total
  }
  const isPriced = a.estimatedCost !== undefined || b.estimatedCost !== undefined
  if (isPriced && !isUnpriced(a) && !isUnpriced(b))
    sum.estimatedCost = dollars((a.estimatedCost ?? 0) + (b.estimatedCost ?? 0))
  return sum
}
