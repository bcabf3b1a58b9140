/** What several faults ask of a run. */
import type { Aftermath, RunData } from "../experiment.ts"
import { quantile } from "../measures.ts"

export const some = <A extends object>(found: A | undefined) => {
  if (found === undefined) throw new Error("no node is up, or nothing else to choose from")
  return found
}

export const inFlight = 100

/** Bars of a takeover: half of the threads within the first, all within the second. */
export const takeover = (gaps: ReadonlyArray<number>, p50: number, max: number): Aftermath["figures"] => [
  { name: "next event p50", value: quantile(gaps, 0.5), bar: p50, unit: "ms" },
  { name: "next event max", value: quantile(gaps, 1), bar: max, unit: "ms" }
]

export const extraCalls = ({ verdict }: RunData, bar: number) =>
  ({ name: "extra model calls a thread", value: verdict.extraCallsOfOne, bar, unit: "" }) as const
