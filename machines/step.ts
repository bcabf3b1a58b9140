/**
 * Drives every kind's chart: a command goes in, the next snapshot, the facts to journal and the jobs to perform come
 * out. Pure.
 */
import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
  type ExecutableActionObject
} from "xstate"

export interface JobShape {
  readonly type: string
  readonly params: unknown
}

export interface Step<Snapshot, Fact, Job> {
  readonly next: Snapshot
  readonly facts: ReadonlyArray<Fact>
  readonly jobs: ReadonlyArray<Job>
}

/**
 * The types of a chart, as XState's `setup` wants them: it reads their types from a value that it never looks at, which
 * the cast stands for.
 */
export const chartTypes = <Types extends { readonly events: EventObject }>() => ({}) as Types

/** A machine as far as it is needed here. */
type Chart<Snapshot extends AnyMachineSnapshot, Command extends EventObject> = Pick<AnyStateMachine, "id"> & {
  transition(snapshot: Snapshot, command: Command, scope: AnyActorScope): Snapshot
}

/**
 * Decides one command. What the chart emits is a fact, its actions of the given names are jobs, and it may use no
 * others.
 *
 * What XState's own `transition` makes anew for every step, an actor that never starts and the scope around it, is made
 * once: our charts neither spawn nor send, so nothing of it is ever used. A test holds the two to the same results.
 */
export const makeDecide = <
  Snapshot extends AnyMachineSnapshot,
  Command extends EventObject,
  Fact extends EventObject,
  Job extends JobShape
>(
  chart: Chart<Snapshot, Command> & AnyStateMachine,
  jobTypes: ReadonlySet<Job["type"]>
) => {
  const inert = createActor<AnyStateMachine>(chart)
  let actions: Array<ExecutableActionObject> = []
  const scope: AnyActorScope = {
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
  return (snapshot: Snapshot, command: Command): Step<Snapshot, Fact, Job> => {
    actions = []
    const next = chart.transition(snapshot, command, scope)
    const facts: Array<Fact> = []
    const jobs: Array<Job> = []
    // XState erases the parameters of actions: the two casts restore what `setup` has checked where they were
    // enqueued.
    for (const action of actions) {
      if (action.type === "xstate.emit") facts.push((action.params as { readonly event: Fact }).event)
      else if (jobTypes.has(action.type)) jobs.push({ type: action.type, params: action.params } as Job)
      else throw new Error(`the ${chart.id} chart may not use ${action.type}`)
    }
    return { next, facts, jobs }
  }
}

/** A change in the making: the context as it will be, the facts that say so, the jobs it asks for. */
export abstract class Draft<Context, Fact, Job> {
  context: Context
  readonly facts: Array<Fact> = []
  readonly jobs: Array<Job> = []

  constructor(context: Context) {
    this.context = context
  }

  /** The context after one more fact. */
  protected abstract evolve(context: Context, fact: Fact): Context

  set(change: Partial<Context>) {
    this.context = { ...this.context, ...change }
  }

  /** Records a fact and what it makes of the actor. */
  emit(fact: Fact) {
    this.facts.push(fact)
    this.context = this.evolve(this.context, fact)
  }

  enqueue(job: Job) {
    this.jobs.push(job)
  }
}

/** What an action of a chart is told. */
interface ActionArgs<Context, Command> {
  readonly context: Context
  readonly event: Command
}

/**
 * An action of a chart from a change of a draft: the draft's context becomes the chart's, its facts are emitted, its
 * jobs are named actions. `empty` is the action made by the chart's own `enqueueActions`, with nothing in it.
 *
 * With `enqueue.assign` and `enqueue.emit` inside of it the action would come to the same, and a turn's steps would
 * take half as long again: XState makes ten functions for each action, whatever is enqueued, and copies the snapshot
 * for each assignment. A test holds the two to the same results.
 */
export const drafting = <
  Action extends object,
  Command,
  Context,
  Fact,
  Job extends JobShape,
  Change extends Draft<Context, Fact, Job>
>(
  empty: Action,
  begin: (context: Context) => Change,
  change: (draft: Change, event: Command) => void
): Action =>
  Object.assign(empty, {
    resolve: (
      _: AnyActorScope,
      snapshot: AnyMachineSnapshot,
      { context, event }: ActionArgs<Context, Command>
    ): readonly [AnyMachineSnapshot, undefined, ReadonlyArray<JobShape>] => {
      const draft = begin(context)
      change(draft, event)
      const facts = draft.facts.map((event) => ({ type: "xstate.emit", params: { event } }))
      return [
        draft.context === context ? snapshot : { ...snapshot, context: draft.context },
        undefined,
        [...facts, ...draft.jobs]
      ]
    }
  })
