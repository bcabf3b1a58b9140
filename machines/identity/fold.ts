/** The way back: an identity from its facts, or from the context that the last of them left. */
import { chart, type Context, type Fact, type Snapshot } from "./chart.ts"

/** What the facts leave: the head's carry. */
export const contextOf = (facts: ReadonlyArray<Fact>): Context => {
  const last = facts.at(-1)
  return { disabled: last?.type === "identity_disabled" ? { at: last.at, by: last.by } : null }
}

export const restore = (context: Context): Snapshot =>
  chart.resolveState({ value: context.disabled === null ? "enabled" : "disabled", context })
