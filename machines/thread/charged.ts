/**
 * What turns are charged for when they end: their own responses, as far as prices are known. The cost of models inside
 * of tools is booked where they run.
 */
import { dollars } from "../../src/domain/usage.ts"
import { evolve } from "./evolve.ts"
import type { Turn } from "./context.ts"
import type { Fact } from "./facts.ts"

const isEnd = ({ type }: Fact) => type === "turn_completed" || type === "turn_cancelled" || type === "turn_failed"

/** USD of the turns that end in these facts, of which the first may have begun before them. */
export const chargedIn = (before: Turn | null, facts: ReadonlyArray<Fact>) => {
  if (!facts.some(isEnd)) return 0
  let charged = 0
  let turn = before
  for (const fact of facts) {
    if (isEnd(fact) && turn?.turnId === fact.turnId) charged += turn.charged ?? 0
    // Only its money is looked at: where the facts stand in the log is of no account.
    turn = evolve(turn, fact, 0, 0)
  }
  return dollars(charged)
}
