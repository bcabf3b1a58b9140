/** The way back: a schedule from what its head keeps, which is what its facts leave. */
import { chart, type Snapshot } from "./chart.ts"
import type { Job } from "./changes.ts"
import { blank, type Context, evolve, isArmed } from "./context.ts"
import type { Fact } from "./facts.ts"

export const contextOf = (facts: ReadonlyArray<Fact>): Context => facts.reduce(evolve, blank)

/** The state that a context stands for. */
export const stateOf = (context: Context) => {
  if (context.deleted && context.firing === null) return "deleted"
  if (context.firing !== null) return "starting"
  if (context.held !== null) return "holding"
  return isArmed(context) ? "armed" : "resting"
}

export const restore = (context: Context): Snapshot => chart.resolveState({ value: stateOf(context), context })

/** The jobs that a state implies. */
export const resume = ({ context: { firing, held } }: Snapshot): ReadonlyArray<Job> => [
  ...(firing === null ? [] : [{ type: "start" as const, params: firing }]),
  ...(held === null ? [] : [{ type: "watch" as const, params: held }])
]
