/**
 * The life of one subscription: what its feed notices is looked at, and handed over in batches, one after the other.
 *
 * S1. `waiting` is the one door: whatever is over leads there, and it says what comes next.
 * S2. A batch is handed over under the ids that it began with, however often that is tried.
 * S3. An outcome names its look or its batch; a stale one changes nothing.
 * S4. The jobs are those that the context implies: what a change adds is begun, what it takes away is stopped.
 */
import { setup, type SnapshotFrom } from "xstate"
import { chartTypes, drafting } from "../step.ts"
import type { Command } from "./commands.ts"
import { blank, type Context } from "./context.ts"
import { Draft, type Job, jobsOf } from "./draft.ts"
import type { Fact } from "./facts.ts"
import { guards } from "./guards.ts"
import * as changes from "./changes.ts"

const base = setup({
  types: chartTypes<{ context: Context; events: Command; emitted: Fact }>(),
  actions: {
    // Jobs: named here, performed elsewhere.
    enlist: (_, _params: Extract<Job, { type: "enlist" }>["params"]) => {},
    evaluate: (_, _params: Extract<Job, { type: "evaluate" }>["params"]) => {},
    submit: (_, _params: Extract<Job, { type: "submit" }>["params"]) => {},
    abandon: (_, _params: Extract<Job, { type: "abandon" }>["params"]) => {}
  },
  guards
})

const same = (a: Job) => (b: Job) => JSON.stringify(a) === JSON.stringify(b)

/** S4. */
const changed = (before: Context, next: Context): ReadonlyArray<Job> => {
  const had = jobsOf(before)
  const has = jobsOf(next)
  return [
    ...had.flatMap(
      (job): ReadonlyArray<Job> =>
        (job.type === "evaluate" || job.type === "submit") && !has.some(same(job))
          ? [{ type: "abandon", params: { what: job.type } }]
          : []
    ),
    ...has.filter((job) => !had.some(same(job)))
  ]
}

const doing = (change: (draft: Draft, event: Command) => void) =>
  drafting(
    base.enqueueActions(() => {}),
    (context: Context) => new Draft(context),
    (draft, event: Command) => {
      const before = draft.context
      change(draft, event)
      for (const job of changed(before, draft.context)) draft.enqueue(job)
    }
  )

const machine = base.extend({
  actions: {
    configure: doing(changes.configure),
    disable: doing(changes.disable),
    disablePoisoned: doing(changes.poison),
    remove: doing(changes.remove),
    list: doing(changes.list),
    listArchived: doing(changes.listArchived),
    note: doing(changes.note),
    openWindow: doing(changes.openWindow),
    look: doing(changes.look),
    lookAgain: doing(changes.lookAgain),
    find: doing(changes.find),
    failLook: doing(changes.failLook),
    failSubmit: doing(changes.failSubmit),
    rethread: doing(changes.rethread),
    escalate: doing(changes.escalate),
    pass: doing(changes.pass),
    retry: doing(changes.retry)
  }
})

const disabling = {
  disable: { target: "disabled", actions: "disable", description: "Somebody disables it, or what it needs is gone." },
  poison: {
    target: "disabled",
    actions: "disablePoisoned",
    description: "It was taken over again and again without progress."
  }
} as const

// What any of them takes that was made and is not deleted.
const alive = {
  configure: { target: "waiting", actions: "configure", description: "It is told anew what it does." },
  delete: { target: "deleted", actions: "remove", description: "It is deleted." },
  notice: [
    { guard: "known", description: "These messages were noticed before." },
    { actions: "note", description: "Messages of the feed match, as far as whoever appended them can tell." }
  ],
  listed: [
    { guard: "staleListing", description: "It was changed again since: the feed is told once more." },
    { guard: "archivedFeed", target: "waiting", actions: "listArchived", description: "The feed is archived." },
    { actions: "list", description: "The feed knows of it, and says how far it has come." }
  ],
  submitted: [
    { guard: "staleBatch", description: "Nobody waits for that batch." },
    { target: "waiting", actions: "escalate", description: "The thread has taken the batch." }
  ]
} as const

const looksNow = {
  guard: "looksNow",
  target: "evaluating",
  actions: "look",
  description: "The matches are handed over at once, are as many as they may be, or have to be counted."
} as const

export const chart = machine.createMachine({
  id: "subscription",
  context: blank,
  initial: "unborn",
  description: "A subscription of an agent to a feed.",
  states: {
    unborn: {
      description: "Nobody has made it yet.",
      on: { configure: { target: "waiting", actions: "configure", description: "It is made." } }
    },
    waiting: {
      description: "The one door: nothing is in hand, or it is seen what comes next.",
      always: [
        { guard: "disabled", target: "disabled", description: "It is disabled." },
        { guard: "pausing", target: "backingOff", description: "The next attempt is later." },
        { guard: "inHand", target: "escalating", description: "A batch is in hand." },
        { guard: "looking", target: "evaluating", description: "It looks already." },
        looksNow,
        { guard: "open", target: "collecting", description: "The window is open." },
        { guard: "gathers", target: "collecting", actions: "openWindow", description: "The first message matches." }
      ],
      on: { ...alive, ...disabling }
    },
    collecting: {
      description: "Messages gather until the window or the instant ends it, or as many match as it takes.",
      always: looksNow,
      on: {
        ...alive,
        ...disabling,
        due: { guard: "windowOver", target: "evaluating", actions: "look", description: "The window ends." }
      }
    },
    evaluating: {
      description: "The messages of the notice are read and held against the condition, and the screen is asked.",
      on: {
        ...alive,
        ...disabling,
        evaluated: [
          { guard: "staleLook", description: "Nobody waits for that look." },
          { guard: "found", target: "escalating", actions: "find", description: "A batch is to be handed over." },
          { target: "waiting", actions: "find", description: "Too little yet, nothing, or not worth a turn." }
        ],
        unevaluated: [
          { guard: "staleLook", description: "Nobody waits for that look." },
          { target: "waiting", actions: "failLook", description: "The screen could not be asked." }
        ]
      }
    },
    escalating: {
      description: "A batch is handed over to a thread.",
      on: {
        ...alive,
        ...disabling,
        refused: [
          { guard: "staleBatch", description: "Nobody waits for that batch." },
          {
            guard: "newThread",
            target: "escalating",
            actions: "rethread",
            description: "The thread is archived: a new one takes its place."
          },
          { target: "waiting", actions: "failSubmit", description: "The thread does not take it, or is out of reach." }
        ],
        passed: [
          { guard: "staleBatch", description: "Nobody waits for that batch." },
          { target: "waiting", actions: "pass", description: "Nobody may act for it: the batch is passed over." }
        ]
      }
    },
    backingOff: {
      description: "An attempt came to nothing: the next one is later.",
      on: {
        ...alive,
        ...disabling,
        due: [
          {
            guard: "pauseOverInHand",
            target: "escalating",
            actions: "retry",
            description: "The same batch is tried again."
          },
          {
            guard: "pauseOverUnread",
            target: "waiting",
            actions: "retry",
            description: "It looks again as soon as its feed has been looked through."
          },
          { guard: "pauseOver", target: "evaluating", actions: "lookAgain", description: "It looks again." }
        ]
      }
    },
    disabled: {
      description: "It does nothing until it is enabled. A batch that was under way is told of all the same.",
      on: alive
    },
    deleted: {
      description: "It is gone, as soon as its feed knows.",
      on: { listed: [alive.listed[0], alive.listed[2]] }
    }
  }
})

export type Snapshot = SnapshotFrom<typeof chart>
