/** Decides one command: the next snapshot, the facts to journal, the jobs to perform. Pure. */
import { type ExecutableActionObject, initialTransition, transition } from "xstate"
import type { ThreadStatus } from "../../src/domain/thread.ts"
import { chart, type Snapshot } from "./chart.ts"
import type { Command } from "./commands.ts"
import type { Job } from "./draft.ts"
import type { Fact } from "./facts.ts"

export interface Step {
  readonly next: Snapshot
  readonly facts: ReadonlyArray<Fact>
  readonly jobs: ReadonlyArray<Job>
}

export const start = (): Snapshot => initialTransition(chart)[0]

const jobTypes: ReadonlySet<string> = new Set<Job["type"]>(["sample", "runTool", "abandon"])

export const decide = (snapshot: Snapshot, command: Command): Step => {
  const [next, actions] = transition(chart, snapshot, command)
  const facts: Array<Fact> = []
  const jobs: Array<Job> = []
  // XState's union of actions leaves out xstate.emit and erases the jobs' parameters: the two casts
  // restore what `setup` has checked where the actions were enqueued.
  for (const action of actions as ReadonlyArray<ExecutableActionObject>) {
    if (action.type === "xstate.emit") facts.push((action.params as { readonly event: Fact }).event)
    else if (jobTypes.has(action.type)) jobs.push({ type: action.type, params: action.params } as Job)
    else throw new Error(`the thread chart may not use ${action.type}`)
  }
  return { next, facts, jobs }
}

/** The top state: never a second field. */
export const statusOf = ({ value }: Snapshot): ThreadStatus => typeof value === "string" ? value : "running"
