/** The way back: a subscription from its facts, or from the context that the last of them left. */
import { chart, type Snapshot } from "./chart.ts"
import { blank, type Context, stateOf } from "./context.ts"
import { evolve } from "./evolve.ts"
import type { Fact } from "./facts.ts"

/** What the facts leave: the head's carry. */
export const contextOf = (facts: ReadonlyArray<Fact>): Context => facts.reduce(evolve, blank)

export const restore = (context: Context): Snapshot => chart.resolveState({ value: stateOf(context), context })
