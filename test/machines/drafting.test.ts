/** Actions of drafts: what they come to is what XState's own `enqueueActions` would come to. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { type ExecutableActionObject, setup, transition } from "xstate"
import { chartTypes, Draft, drafting } from "../../machines/step.ts"

interface Context {
  readonly sum: number
}
interface Command {
  readonly type: "add"
  /** A fact each; an odd one asks for a job. */
  readonly parts: ReadonlyArray<number>
}
interface Fact {
  readonly type: "added"
  readonly part: number
}
interface Job {
  readonly type: "tell"
  readonly params: { readonly part: number }
}

class Adding extends Draft<Context, Fact, Job> {
  protected evolve({ sum }: Context, { part }: Fact): Context {
    return { sum: sum + part }
  }
}

const add = (draft: Adding, { parts }: Command) => {
  for (const part of parts) {
    draft.emit({ type: "added", part })
    if (part % 2 !== 0) draft.enqueue({ type: "tell", params: { part } })
  }
}

const machine = setup({
  types: chartTypes<{ context: Context; events: Command; emitted: Fact }>(),
  actions: { tell: (_, __: Job["params"]) => {} }
})

const drafted = drafting(
  machine.enqueueActions(() => {}),
  (context: Context) => new Adding(context),
  add
)

const enqueued = machine.enqueueActions(({ context, enqueue, event }) => {
  const draft = new Adding(context)
  add(draft, event)
  if (draft.context !== context) enqueue.assign(draft.context)
  for (const fact of draft.facts) enqueue.emit(fact)
  for (const job of draft.jobs) enqueue(job)
})

/** Two states, so that a step has more than one action. */
const chartOf = (action: typeof enqueued) =>
  machine.createMachine({
    context: { sum: 0 },
    initial: "even",
    states: {
      even: { exit: action, on: { add: { target: "odd", actions: action } } },
      odd: { entry: action, on: { add: { target: "even", actions: action } } }
    }
  })

const shown = (actions: ReadonlyArray<ExecutableActionObject>) => actions.map(({ params, type }) => ({ params, type }))

describe("an action of a draft", () => {
  it("comes to the same snapshots and actions as one that enqueues them", () => {
    const [one, other] = [chartOf(drafted), chartOf(enqueued)]
    const commands = fc.array(
      fc.record({ type: fc.constant("add" as const), parts: fc.array(fc.nat(9), { maxLength: 3 }) }),
      { maxLength: 8 }
    )
    fc.assert(
      fc.property(commands, (commands) => {
        let [mine, theirs] = [
          one.resolveState({ value: "even", context: { sum: 0 } }),
          other.resolveState({ value: "even", context: { sum: 0 } })
        ]
        for (const command of commands) {
          const [next, actions] = transition(one, mine, command)
          const [asked, enqueuedActions] = transition(other, theirs, command)
          assert.deepStrictEqual([next.value, next.context, next.status], [asked.value, asked.context, asked.status])
          assert.deepStrictEqual([...next.tags], [...asked.tags])
          assert.deepStrictEqual(shown(actions), shown(enqueuedActions))
          assert.deepStrictEqual(Object.keys(next).sort(), Object.keys(asked).sort())
          mine = next
          theirs = asked
        }
      })
    )
  })
})
