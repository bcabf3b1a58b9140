/**
 * A schedule: it waits for its moment, has its message submitted, waits for the end of a turn before, or rests.
 *
 * Where it stands follows from what it knows: each command changes that, and the state is read from it.
 */
import { setup, type SnapshotFrom } from "xstate"
import { chartTypes, drafting } from "../step.ts"
import * as changes from "./changes.ts"
import type { Command } from "./commands.ts"
import { blank, type Context, isArmed } from "./context.ts"
import type { Fact } from "./facts.ts"

const base = setup({
  types: chartTypes<{ context: Context; events: Command; emitted: Fact }>(),
  guards: {
    /** The outcome is of the run that is beginning. */
    isOfThisRun: ({ context: { firing }, event }) =>
      (event.type === "started" || event.type === "refused") && event.runId === firing?.runId,
    /** The run that waits is the one that is meant. */
    isOfWaiting: ({ context: { held }, event }) => event.type === "freed" && event.runId === held?.runId,
    isNews: ({ context: { deleted, disabledReason, rev }, event }) =>
      event.type === "configure" &&
      (event.deleted ? !deleted : event.rev > rev || (event.disables !== undefined && disabledReason === null)),
    hasMoment: ({ context: { next }, event }) => event.type === "due" && next !== null && next.moment <= event.at,
    isDeleted: ({ context }) => context.deleted && context.firing === null,
    isStarting: ({ context }) => context.firing !== null,
    isHolding: ({ context }) => context.held !== null,
    isArmed: ({ context }) => isArmed(context)
  },
  actions: {
    start: (_, __: changes.Job["params"]) => {},
    watch: (_, __: changes.Job["params"]) => {},
    unwatch: (_, __: changes.Job["params"]) => {}
  }
})

/** What a change makes of the context, its facts and its jobs. */
const by = (change: (draft: changes.ScheduleDraft, event: Command) => void) =>
  drafting(
    base.enqueueActions(() => {}),
    (context: Context) => new changes.ScheduleDraft(context),
    change
  )

type CommandOf<Type> = Extract<Command, { readonly type: Type }>

const isOf = <Type extends Command["type"]>(event: Command, type: Type): event is CommandOf<Type> => event.type === type

const on = <Type extends Command["type"]>(
  type: Type,
  change: (draft: changes.ScheduleDraft, event: CommandOf<Type>) => void
) =>
  by((draft, event) => {
    if (isOf(event, type)) change(draft, event)
  })

const configured = {
  guard: "isNews",
  target: "settling",
  actions: on("configure", changes.configure),
  description: "Somebody has made, changed or deleted it."
} as const
const run = {
  target: "settling",
  actions: on("run", changes.runByHand),
  description: "Somebody wants it to fire now."
} as const
const poison = {
  target: "settling",
  actions: by((draft, { at }) => changes.poison(draft, at)),
  description: "It was taken over again and again without getting anywhere."
} as const
const due = {
  guard: "hasMoment",
  target: "settling",
  actions: on("due", changes.comeDue),
  description: "Its moment has come: it fires, waits for the turn before, or is skipped."
} as const

export const chart = base.createMachine({
  id: "schedule",
  context: blank,
  initial: "resting",
  description: "A message that an agent gets by itself.",
  states: {
    settling: {
      description: "Where it stands is read from what it knows now.",
      always: [
        { guard: "isDeleted", target: "deleted", description: "It was deleted, and nothing of it is under way." },
        { guard: "isStarting", target: "starting", description: "A run is beginning." },
        { guard: "isHolding", target: "holding", description: "A run waits for the turn before." },
        { guard: "isArmed", target: "armed", description: "It has an instant." },
        { target: "resting", description: "It is switched off, or has no instant left." }
      ]
    },
    armed: {
      description: "It waits for its moment.",
      on: { due, configure: configured, run, poison }
    },
    starting: {
      description: "Its message is being submitted.",
      on: {
        started: {
          guard: "isOfThisRun",
          target: "settling",
          actions: on("started", changes.recordStart),
          description: "The message was accepted."
        },
        refused: {
          guard: "isOfThisRun",
          target: "settling",
          actions: on("refused", changes.recordRefusal),
          description: "The message was refused, or nobody could be reached for too long."
        },
        configure: configured,
        run,
        poison
      }
    },
    holding: {
      description: "The turn that it began last goes on: a run waits for its end.",
      on: {
        freed: {
          guard: "isOfWaiting",
          target: "settling",
          actions: on("freed", changes.free),
          description: "The turn before is over."
        },
        due,
        configure: configured,
        run,
        poison
      }
    },
    resting: {
      description: "It fires only when somebody asks for it.",
      on: { configure: configured, run }
    },
    deleted: {
      description: "Nothing of it happens any more: a run that was asked for before is skipped.",
      on: { run }
    }
  }
})

export type Snapshot = SnapshotFrom<typeof chart>
