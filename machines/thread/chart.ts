/**
 * The life of one thread. Top states are the thread's statuses; inputs and calls are context, because
 * they are lists; where the thread stands is a state, because it is exclusive. Guards are in guards.ts, actions in
 * actions.ts; descriptions are what diagrams, tables and inspectors show.
 *
 * T1. Every intent gets a result, every wait a resolution, every turn exactly one terminal fact,
 *     whatever ends it: `end` does it, and nothing else ends a turn.
 * T2. A steer joins only the turn that it was sent to, before that turn's next model call. When the
 *     turn ends first, the steer goes before the queue. Nothing that was accepted is dropped.
 * T3. An outcome names its turn, a model's its step, model and attempt, a hook's what it was asked about; a
 *     stale one changes nothing.
 * T4. Whatever changes the context is a fact, or a row of a waiting input: a fold finds the same state.
 * T5. An input is taken once: whoever sends it again is answered, and nothing changes.
 * T6. `sampling` means that a model is asked: every way to it leads through `next`.
 */
import type { SnapshotFrom } from "xstate"
import { machine } from "./actions.ts"
import { blank } from "./context.ts"

const takenBefore = {
  guard: "takenBefore",
  description: "The input was taken before: its sender is answered, and nothing changes."
} as const

// idle, failed and cancelled behave alike: they take the next input with the next command that says how it would run.
// Nothing waits at rest but after `poison`, which does not say so.
const resting = (description: string) =>
  machine.createStateConfig({
    description,
    always: [
      {
        guard: "nextRefused",
        target: "#thread.failed",
        reenter: true,
        actions: "rejectNext",
        description: "The next input may not run any more: its turn begins and fails in one append."
      },
      {
        guard: "inputWaits",
        target: "#thread.running",
        actions: "admitNext",
        description: "The next input is admitted, and its turn begins."
      }
    ],
    on: {
      submit: [takenBefore, { actions: "accept", description: "An input is accepted." }],
      promote: { actions: "promote", description: "A waiting input changes its mode." },
      cancel: { guard: "clearsQueue", actions: "clearQueue", description: "Waiting inputs are removed." },
      archive: { guard: "unarchived", actions: "archive", description: "The thread takes no input any more." }
    }
  })

// What a running turn and an awaiting one answer alike.
const busy = {
  submit: [
    takenBefore,
    {
      guard: "interrupts",
      target: "#thread.cancelled",
      actions: ["stop", "accept"],
      description: "An input interrupts the turn, and is the next to run."
    },
    { actions: "accept", description: "An input waits in the queue, or steers the turn." }
  ],
  promote: [
    {
      guard: "interrupts",
      target: "#thread.cancelled",
      actions: ["stop", "promote"],
      description: "A waiting input is made an interrupt."
    },
    { actions: "promote", description: "A waiting input steers the turn from now on." }
  ],
  cancel: {
    target: "#thread.cancelled",
    actions: ["stop", "clearQueue"],
    description: "The turn is cancelled, on request with the queue."
  },
  poison: {
    target: "#thread.failed",
    actions: "failPoisoned",
    description: "The turn was taken over again and again without progress."
  }
} as const

/** N2 of turnNumbers.ts. */
const fullTurn = {
  guard: "full",
  target: "#thread.failed",
  actions: "failFull",
  description: "The turn holds as many events as a turn can."
} as const

const overdue = {
  guard: "overdue",
  target: "#thread.failed",
  actions: "failLate",
  description: "The turn has run for as long as its profile allows."
} as const

/** Somebody's answer, or nobody's in time. */
const answers = [
  {
    guard: "personDenies",
    target: "#thread.failed",
    actions: "failDeniedByPerson",
    description: "A person denies the message or the response."
  },
  { guard: "waitOpen", actions: "answer", description: "An open wait is answered: what it held goes on." }
] as const
const expiries = [
  {
    guard: "waitFails",
    target: "#thread.failed",
    actions: "failUnanswered",
    description: "Nobody has answered in time, and that fails the turn."
  },
  {
    guard: "waitExpires",
    actions: "expireWaits",
    description: "Nobody has answered in time: what the wait held is denied, or goes on."
  }
] as const
const decisions = [
  { guard: "unasked", description: "A decision that nobody waits for changes nothing." },
  {
    guard: "hookDenies",
    target: "#thread.failed",
    actions: "failDeniedByHook",
    description: "A hook denies the message or the response."
  },
  { actions: "decide", description: "A hook lets it pass, rewrites it, or asks a person." }
] as const
const callDecisions = [
  decisions[0],
  { actions: "decide", description: "A hook lets a call or a result pass, rewrites it, asks a person, or denies it." }
] as const

const running = machine.createStateConfig({
  description: "A turn runs.",
  initial: "next",
  always: fullTurn,
  on: { ...busy, due: overdue },
  states: {
    next: {
      description: "The one door to the model: steers join, and it is seen whether a message has to be judged first.",
      always: [
        { guard: "steersJoin", actions: "joinSteers", description: "Steers of this turn join it, in order." },
        {
          guard: "messageToJudge",
          target: "opening",
          actions: "askMessageHook",
          description: "Hooks of before_turn_start match the turn's message, or steers that join."
        },
        { target: "sampling", description: "Nothing has to be judged." }
      ]
    },
    opening: {
      description: "Hooks of before_turn_start judge the turn's message, or steers that join it.",
      always: [
        {
          guard: "parked",
          target: "#thread.awaiting.opening",
          description: "A hook has asked a person about the message."
        },
        { guard: "messagesPassed", target: "next", description: "All messages have passed their hooks." }
      ],
      on: { "hook.decided": decisions }
    },
    sampling: {
      description: "A model is asked.",
      entry: "askModel",
      on: {
        "prompt.long": [
          { guard: "stale", description: "News of a prompt that nobody waits for changes nothing." },
          {
            target: "compacting",
            actions: "beginRound",
            description: "The prompt is too long: a summary has to take the place of its beginning."
          }
        ],
        "model.replied": [
          { guard: "stale", description: "A response that nobody waits for changes nothing." },
          {
            guard: "replyToJudge",
            target: "reviewing",
            actions: "review",
            description: "Hooks of after_model_response match the response: nobody sees it yet."
          },
          { guard: "callsTools", target: "acting", actions: "respond", description: "The response has calls." },
          {
            guard: "steered",
            target: "next",
            actions: ["respond", "nextStep"],
            description: "The response has no calls, and a steer joins."
          },
          {
            target: "#thread.idle",
            actions: ["respond", "complete"],
            description: "The response has no calls: the turn is complete."
          }
        ],
        "model.failed": [
          { guard: "stale", description: "A failure that nobody waits for changes nothing." },
          {
            guard: "finishesSteered",
            target: "next",
            actions: ["respondEmpty", "nextStep"],
            description: "The model said nothing after results of tools, and a steer joins."
          },
          {
            guard: "finishes",
            target: "#thread.idle",
            actions: ["respondEmpty", "complete"],
            description: "The model said nothing after results of tools: the turn is complete."
          },
          {
            guard: "retriesLater",
            target: "pausing",
            actions: "noteFailure",
            description: "The call failed and is tried again after a pause."
          },
          {
            guard: "retriesNow",
            target: "next",
            actions: "noteFailure",
            description: "The response was empty, and the same model is asked again."
          },
          {
            guard: "triesNextModel",
            target: "next",
            actions: "noteFailure",
            description: "The model is given up, and the next one is asked."
          },
          {
            target: "#thread.failed",
            actions: "failModel",
            description: "No attempt and no model is left."
          }
        ]
      }
    },
    compacting: {
      description: "A model summarises the beginning of the conversation, which has become too long.",
      on: {
        "summary.made": [
          { guard: "staleRound", description: "A summary that nobody waits for changes nothing." },
          { target: "next", actions: "endRound", description: "The summary stands in the beginning's place." }
        ],
        "summary.failed": [
          { guard: "staleRound", description: "The failure of a round that nobody waits for changes nothing." },
          {
            guard: "failsOverflow",
            target: "#thread.failed",
            actions: ["failRound", "failOverflow"],
            description: "The model has found the prompt too long, and it could not be made shorter."
          },
          { target: "next", actions: "failRound", description: "The model is asked with the prompt as it is." }
        ]
      }
    },
    pausing: {
      description: "Between two attempts of one response.",
      on: {
        due: [
          overdue,
          { guard: "pauseOver", target: "next", actions: "startAttempt", description: "The pause is over." }
        ]
      }
    },
    reviewing: {
      description: "Hooks of after_model_response judge a response that nobody has seen.",
      always: [
        {
          guard: "parked",
          target: "#thread.awaiting.reviewing",
          description: "A hook has asked a person about the response."
        },
        {
          guard: "reviewedCalls",
          target: "acting",
          actions: "respondReviewed",
          description: "The response has passed its hooks, and has calls."
        },
        {
          guard: "reviewedSteered",
          target: "next",
          actions: ["respondReviewed", "nextStep"],
          description: "The response has passed its hooks and has no calls, and a steer joins."
        },
        {
          guard: "reviewed",
          target: "#thread.idle",
          actions: ["respondReviewed", "complete"],
          description: "The response has passed its hooks and has no calls: the turn is complete."
        }
      ],
      on: { "hook.decided": decisions }
    },
    acting: {
      description: "The calls of a response run, in parallel, each by its own chart.",
      always: [
        {
          guard: "settledInSteps",
          target: "next",
          actions: "nextStep",
          description: "Every call has its result: the model reads them."
        },
        {
          guard: "settled",
          target: "#thread.failed",
          actions: "failSteps",
          description: "Every call has its result, and the turn may have no further response."
        },
        {
          guard: "parked",
          target: "#thread.awaiting.acting",
          description: "All that the turn waits for are answers about its calls."
        }
      ],
      on: {
        "tool.returned": {
          guard: "callReturns",
          actions: "returnCall",
          description: "A call that runs has come to its end."
        },
        "hook.decided": callDecisions,
        answer: answers[1],
        due: [overdue, ...expiries]
      }
    }
  }
})

/** Where the turn goes on once one of its answers came. */
const awaited = (state: "opening" | "reviewing" | "acting", description: string) =>
  machine.createStateConfig({
    description,
    always: [
      fullTurn,
      {
        guard: "unparked",
        target: `#thread.running.${state}`,
        description: "Something that waited goes on."
      }
    ]
  })

const awaiting = machine.createStateConfig({
  description: "All that the turn waits for are answers of people or clients; its time stands still.",
  initial: "acting",
  on: { ...busy, answer: answers, due: expiries },
  states: {
    opening: awaited("opening", "A person is asked whether a message may begin or join the turn."),
    reviewing: awaited("reviewing", "A person is asked whether a response may be seen."),
    acting: awaited("acting", "People are asked about calls, or clients owe their results.")
  }
})

export const chart = machine.createMachine({
  id: "thread",
  description: "The life of one thread.",
  context: blank,
  initial: "idle",
  on: {
    edit: { actions: "edit", description: "A waiting input gets other words." },
    remove: { actions: "remove", description: "A waiting input is removed." },
    compact: {
      guard: "compactionUnwanted",
      actions: "wantCompaction",
      description: "The next model call comes after a summary."
    }
  },
  states: {
    idle: resting("At rest. The last turn completed, or there was none."),
    failed: resting("At rest. The last turn failed."),
    cancelled: resting("At rest. The last turn was cancelled."),
    running,
    awaiting
  }
})

export type Snapshot = SnapshotFrom<typeof chart>
