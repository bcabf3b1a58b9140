/** What a call of a model may cost, before it runs. */
import type { ModelEntry, Prompt } from "./Model.ts"
import { estimatedTokens, promptTokens } from "./promptTokens.ts"

/** All that a model could write would cost more than most budgets are: this much is set aside for it. */
const usualOutputTokens = 8192

export type Price = "free" | "priced" | "unknown"

const priceOf = ({ pricing }: ModelEntry): Price => {
  if (pricing?.input === undefined || pricing.output === undefined) return "unknown"
  return pricing.input === 0 && pricing.output === 0 ? "free" : "priced"
}

export const pricesOf = (models: ReadonlyArray<ModelEntry>) => {
  const entries = new Map(models.map((entry) => [entry.id, entry]))
  const prices = new Map(models.map((entry) => [entry.id, priceOf(entry)]))
  return {
    /** Of a model that is not in the catalogue nothing is known. */
    of: (modelId: string): Price => prices.get(modelId) ?? "unknown",
    /**
     * USD of the prompt, and of the whole call as far as it can be foreseen. Images count as compaction counts them,
     * and what a provider has counted before as it did, unless its bytes say more.
     */
    foreseen: (modelId: string, prompt: Prompt, maxOutputTokens?: number) => {
      const { maxOutputTokens: most = Infinity, pricing } = entries.get(modelId) ?? {}
      const promptCost = (Math.max(promptTokens(prompt), estimatedTokens(prompt)) * (pricing?.input ?? 0)) / 1e6
      const written = Math.min(most, maxOutputTokens ?? usualOutputTokens)
      return { prompt: promptCost, amount: promptCost + (written * (pricing?.output ?? 0)) / 1e6 }
    }
  }
}
export type Prices = ReturnType<typeof pricesOf>
