/** Decides one command: the next snapshot, the facts to journal, the jobs to perform. Pure. */
import { type ActorScope, createActor, type ExecutableActionObject, initialTransition } from "xstate"
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

const jobTypes: ReadonlySet<string> = new Set<Job["type"]>(["sample", "runTool", "askHook", "abandon"])

/**
 * What XState's own `transition` makes anew for every step, an actor that never starts and the scope
 * around it, made once: our charts neither spawn nor send, so nothing of it is ever used. A test holds
 * the two to the same results.
 */
const inert = createActor(chart)
let actions: Array<ExecutableActionObject> = []
const scope: ActorScope<Snapshot, Command, typeof inert.system, Fact> = {
  self: inert,
  system: inert.system,
  id: inert.id,
  sessionId: inert.sessionId,
  logger: () => {},
  defer: () => {},
  emit: () => {},
  stopChild: () => {},
  actionExecutor: (action) => {
    actions.push(action)
  }
}

export const decide = (snapshot: Snapshot, command: Command): Step => {
  actions = []
  const next = chart.transition(snapshot, command, scope)
  const facts: Array<Fact> = []
  const jobs: Array<Job> = []
  // XState erases the parameters of actions: the two casts restore what `setup` has checked where they
  // were enqueued.
  for (const action of actions) {
    if (action.type === "xstate.emit") facts.push((action.params as { readonly event: Fact }).event)
    else if (jobTypes.has(action.type)) jobs.push({ type: action.type, params: action.params } as Job)
    else throw new Error(`the thread chart may not use ${action.type}`)
  }
  return { next, facts, jobs }
}

/** The top state: never a second field. */
export const statusOf = ({ value }: Snapshot): ThreadStatus => (typeof value === "string" ? value : "running")
