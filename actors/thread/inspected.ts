/** A thread's log as people look at it: facts as the journal holds them, and what the machine says of them. */
import { defineInspected } from "../../machines/inspected.ts"
import { chart } from "../../machines/thread/chart.ts"
import type { Fact } from "../../machines/thread/facts.ts"
import * as thread from "../../machines/thread/inspected.ts"
import { factOf, inputOf, parseCarry } from "./replies/rows.ts"

export const threadInspected = defineInspected<Fact, thread.FoldedThread>({
  chart,
  causes: thread.causes,
  beginsAtTurns: true,
  begin: thread.begin,
  factOf,
  evolve: thread.evolveFolded,
  stateOf: thread.stateIn,
  entered: thread.entered,
  enteredByFact: ["idle", "failed", "cancelled"],
  doing: thread.doing,
  context: thread.contextIn,
  now: (folded, { carry, inputs }) => thread.nowIn(folded, parseCarry(carry), inputs.map(inputOf))
})
