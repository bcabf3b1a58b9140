/** What one response costs in USD, from prices per million tokens; unknown where a price that it needs is unknown. */
import type { ModelUsage } from "../domain/usage.ts"
import type { ModelEntry } from "./Model.ts"

export type Pricing = NonNullable<ModelEntry["pricing"]>

/**
 * `inputTokens` includes the cached ones (read and written); a cached token without its own price costs what an
 * input token costs. `outputTokens` includes reasoning.
 */
export const costOf = (usage: ModelUsage, pricing: Pricing | undefined): number | undefined => {
  if (pricing?.input === undefined || pricing.output === undefined) return undefined
  const read = usage.cacheReadTokens ?? 0
  const written = usage.cacheWriteTokens ?? 0
  const plain = Math.max(0, usage.inputTokens - read - written)
  const millionths =
    plain * pricing.input +
    read * (pricing.cacheRead ?? pricing.input) +
    written * (pricing.cacheWrite ?? pricing.input) +
    usage.outputTokens * pricing.output
  return Math.round(millionths * 1000) / 1e9
}

export const withCost = (usage: ModelUsage, pricing: Pricing | undefined): ModelUsage => {
  const estimatedCost = costOf(usage, pricing)
  return estimatedCost === undefined ? usage : { ...usage, estimatedCost }
}
