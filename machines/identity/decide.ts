/** Decides one command of an identity: the next snapshot and the facts. An identity has no jobs. Pure. */
import { type ExecutableActionObject, initialTransition, transition } from "xstate"
import { chart, type Command, type Fact, type Snapshot } from "./chart.ts"

export const start = (): Snapshot => initialTransition(chart)[0]

export const decide = (
  snapshot: Snapshot,
  command: Command
): { readonly next: Snapshot; readonly facts: ReadonlyArray<Fact> } => {
  const [next, actions] = transition(chart, snapshot, command)
  // XState's union of actions leaves out xstate.emit, hence the wider type.
  const facts = (actions as ReadonlyArray<ExecutableActionObject>).flatMap((action) =>
    action.type === "xstate.emit" ? [(action.params as { readonly event: Fact }).event] : []
  )
  return { next, facts }
}
