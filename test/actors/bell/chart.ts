/** A bell: silent, or ringing until a moment. The smallest kind that has a moment, a job and public facts. */
import { assertEvent, initialTransition, setup, type SnapshotFrom } from "xstate"
import { Draft, makeDecide } from "../../../machines/step.ts"

/** Milliseconds throughout. */
export type Command =
  | { readonly type: "ring"; readonly at: number; readonly ms: number }
  | { readonly type: "due"; readonly at: number }
  | { readonly type: "heard"; readonly at: number; readonly round: number }

export type Fact =
  | { readonly type: "rang"; readonly at: number; readonly until: number }
  | { readonly type: "fell_silent"; readonly at: number }
  | { readonly type: "was_heard"; readonly at: number; readonly round: number }

export type Job = { readonly type: "listen"; readonly params: { readonly round: number } }

export interface Context {
  /** How often it has rung. */
  readonly rounds: number
  readonly until: number | null
  /** The last round that somebody has heard. */
  readonly heard: number
}

export const blank: Context = { rounds: 0, until: null, heard: 0 }

export const evolve = (context: Context, fact: Fact): Context => {
  switch (fact.type) {
    case "rang":
      return { ...context, rounds: context.rounds + 1, until: fact.until }
    case "fell_silent":
      return { ...context, until: null }
    case "was_heard":
      return { ...context, heard: fact.round }
  }
}

class Ringing extends Draft<Context, Fact, Job> {
  protected evolve(context: Context, fact: Fact): Context {
    return evolve(context, fact)
  }
}

const machine = setup({
  types: { context: {} as Context, events: {} as Command, emitted: {} as Fact },
  guards: {
    isOver: ({ context: { until }, event }) => until !== null && until <= event.at,
    isNews: ({ context: { heard, rounds }, event }) =>
      event.type === "heard" && event.round === rounds && heard < rounds
  },
  actions: { listen: (_, __: Job["params"]) => {} }
})

const ringing = machine.enqueueActions(({ context, enqueue, event }) => {
  assertEvent(event, "ring")
  const draft = new Ringing(context)
  draft.emit({ type: "rang", at: event.at, until: event.at + event.ms })
  enqueue.assign(draft.context)
  for (const fact of draft.facts) enqueue.emit(fact)
  enqueue({ type: "listen", params: { round: draft.context.rounds } })
})

const saying = (type: "fell_silent" | "was_heard") =>
  machine.enqueueActions(({ context, enqueue, event: { at } }) => {
    const draft = new Ringing(context)
    draft.emit(type === "fell_silent" ? { type, at } : { type, at, round: context.rounds })
    enqueue.assign(draft.context)
    for (const fact of draft.facts) enqueue.emit(fact)
  })

export const chart = machine.createMachine({
  id: "bell",
  context: blank,
  initial: "silent",
  on: { heard: { guard: "isNews", actions: saying("was_heard") } },
  states: {
    silent: { on: { ring: { target: "ringing", actions: ringing } } },
    ringing: { on: { due: { guard: "isOver", target: "silent", actions: saying("fell_silent") } } }
  }
})

export type Snapshot = SnapshotFrom<typeof chart>

export const start = (): Snapshot => initialTransition(chart)[0]

export const decide = makeDecide<Snapshot, Command, Fact, Job>(chart, new Set<Job["type"]>(["listen"]))

export const restore = (context: Context): Snapshot =>
  chart.resolveState({ value: context.until === null ? "silent" : "ringing", context })
