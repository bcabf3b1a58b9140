/** ModelUsage (specification): tokens, and money in USD where the price is known. */
import { Schema } from "effect"

export const ModelUsage = Schema.Struct({
  inputTokens: Schema.Int,
  outputTokens: Schema.Int,
  totalTokens: Schema.Int,
  cacheReadTokens: Schema.optionalKey(Schema.Int),
  cacheWriteTokens: Schema.optionalKey(Schema.Int),
  reasoningTokens: Schema.optionalKey(Schema.Int),
  estimatedCost: Schema.optionalKey(Schema.Finite)
}).annotate({ identifier: "ModelUsage" })
export type ModelUsage = typeof ModelUsage.Type

export const noUsage: ModelUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }

const optional = ["cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const

/** USD to a billionth: sums of prices per token stay printable. */
export const dollars = (amount: number) => Math.round(amount * 1e9) / 1e9

/** Tokens whose price nobody knows. */
const isUnpriced = ({ estimatedCost, inputTokens, outputTokens, totalTokens }: ModelUsage) =>
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
  if (isPriced && !isUnpriced(a) && !isUnpriced(b)) sum.estimatedCost = dollars((a.estimatedCost ?? 0) + (b.estimatedCost ?? 0))
  return sum
}
