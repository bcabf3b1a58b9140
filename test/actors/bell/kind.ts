/** The bell as a kind: what is particular to it, and nothing else. */
import { Effect } from "effect"
import { defineKind } from "../../../actors/Kind.ts"
import type { FactRow } from "../../../src/journal/Journal.ts"
import { defineInspected, leafOf } from "../../../machines/inspected.ts"
import {
  blank,
  chart,
  type Command,
  type Context,
  decide,
  evolve,
  type Fact,
  type Job,
  restore,
  type Snapshot,
  start
} from "./chart.ts"

type WithoutTime<C> = C extends unknown ? Omit<C, "at"> : never
export type Request = WithoutTime<Command>

const row = ({ at, type, ...event }: Fact): FactRow => ({
  type,
  turn: null,
  n: 0,
  public: type !== "was_heard",
  event: JSON.stringify(event),
  detail: null,
  once: null,
  at
})

const isUnheard = ({ heard, rounds }: Context) => heard < rounds

/** `listened`: called each time that somebody listens. */
export const bellKind = (listened: (round: number) => void) =>
  defineKind<Snapshot, Request, Command, Job>({
    name: "bell",
    // No noun of its own: its ids look like those of operations.
    nouns: { id: "operation", parent: null },
    blank: start(),
    standing: ({ context, value }) => ({
      status: value,
      // What it still has to have heard is work, as its moment is.
      runnableAt: isUnheard(context) ? 0 : context.until,
      since: null,
      carry: JSON.stringify(context)
    }),
    load: ({ head }) => restore(JSON.parse(head.carry)),
    prepare: (_, request, at) => Effect.succeed({ ...request, at }),
    decide: ({ snapshot }, command) => {
      const { facts, jobs, next } = decide(snapshot, command)
      return {
        next,
        jobs,
        ...(facts.length === 0 ? {} : { written: { facts: facts.map(row) } }),
        answer: { kind: "done", body: JSON.stringify({ state: next.value, rounds: next.context.rounds }) }
      }
    },
    jobs: {
      resume: ({ context }) => (isUnheard(context) ? [{ type: "listen", params: { round: context.rounds } }] : []),
      run: ({ params: { round } }) => ({ start: `listen ${round}`, repeatable: true }),
      lostOutcome: ({ params: { round } }) => ({ type: "heard", round }),
      perform: (_, { params: { round } }) =>
        Effect.delay(
          Effect.sync(() => {
            listened(round)
            return { type: "heard" as const, round }
          }),
          500
        )
    },
    inspected: defineInspected<Fact, Context>({
      chart,
      causes: { ring: 1, due: 2, heard: 3 },
      begin: () => blank,
      factOf: ({ at, event, type }) => ({ ...JSON.parse(event), type, at }),
      evolve: (context, fact) => evolve(context, fact),
      stateOf: (context) => leafOf(restore(context)),
      doing: ({ until }) => (until === null ? [] : [{ type: "ring", until }]),
      context: ({ rounds }) => ({ rounds })
    }),
    causeOf: ({ type }) => type,
    moments: { nextDue: ({ snapshot }) => snapshot.context.until, due: { type: "due" } }
  })
