/**
 * The life of one thread. Top states are the thread's statuses; inputs and calls are context, because
 * they are lists; where the thread stands is a state, because it is exclusive.
 *
 * T1. Every intent gets a result, every wait a resolution, every turn exactly one terminal fact,
 *     whatever ends it: `end` does it, and nothing else ends a turn.
 * T2. A steer joins only the turn that it was sent to, before that turn's next model call. When the
 *     turn ends first, the steer goes before the queue. Nothing that was accepted is dropped.
 * T3. An outcome names its turn, a model's its step, model and attempt, a hook's what it was asked about; a
 *     stale one changes nothing.
 * T4. Whatever changes the context is a fact, or a row of a waiting input: a fold finds the same state.
 * T5. An input is taken once: whoever sends it again is answered, and nothing changes.
 */
import { and, not, setup, type SnapshotFrom } from "xstate"
import type { Input } from "../../src/domain/input.ts"
import { answerCall, decideCall, expireCall, returnCall, runs } from "./calls.ts"
import type { Admission, Command } from "./commands.ts"
import { blank, type Context, deadlineOf, knownInput, openWaits, parked, roomForResponse } from "./context.ts"
import { Draft, type Job } from "./draft.ts"
import type { Fact } from "./facts.ts"
import * as judging from "./judging.ts"
import { isFull } from "../../src/domain/turnNumbers.ts"
import * as turn from "./turn.ts"

const admissionOf = (event: Command, input: Input): Admission => {
  const admission = "admissions" in event ? event.admissions[input.inputId] : undefined
  if (admission === undefined) throw new Error(`${event.type} does not say how ${input.inputId} would run`)
  return admission
}

/** The command, of the type that this place handles. */
const as = <T extends Command["type"]>(
  event: Command,
  ...types: ReadonlyArray<T>
): Extract<Command, { readonly type: T }> => {
  const isOne = (command: Command): command is Extract<Command, { readonly type: T }> =>
    types.some((type) => type === command.type)
  if (!isOne(event)) throw new Error(`${event.type} where ${types.join(" or ")} was expected`)
  return event
}

const base = setup({
  types: {
    context: {} as Context,
    events: {} as Command,
    emitted: {} as Fact
  },
  actions: {
    // Jobs: named here, performed elsewhere.
    sample: (_, _params: Extract<Job, { type: "sample" }>["params"]) => {},
    runTool: (_, _params: Extract<Job, { type: "runTool" }>["params"]) => {},
    askHook: (_, _params: Extract<Job, { type: "askHook" }>["params"]) => {},
    abandon: (_, _params: Extract<Job, { type: "abandon" }>["params"]) => {}
  },
  guards: {
    /** Something waits, and the command says how it would run. */
    waiting: ({ context, event }) => "admissions" in event && context.pending.length > 0,
    nextRefused: ({ context, event }) => {
      const next = turn.nextInput(context.pending)
      return "admissions" in event && next !== undefined && "refused" in admissionOf(event, next)
    },
    clearsQueue: ({ context, event }) => event.type === "cancel" && event.clearQueue && context.pending.length > 0,
    /** The same input has been taken: a second one is answered, and changes nothing. */
    takenBefore: ({ context, event }) =>
      event.type === "submit" && knownInput(context, event.input.inputId) !== undefined,
    interrupts: ({ event }) =>
      event.type === "submit"
        ? event.input.mode === "interrupt"
        : event.type === "promote" && event.mode === "interrupt",
    answersNow: ({ context: { turn }, event }) =>
      turn !== null &&
      (event.type === "model.replied" || event.type === "model.failed") &&
      event.turnId === turn.turnId &&
      event.step === turn.step &&
      event.attempt === turn.attempt &&
      event.modelId === turn.plan.models[turn.target],
    /** A model that says nothing after results of tools has finished. */
    finishes: ({ context: { turn }, event }) =>
      event.type === "model.failed" && event.empty === true && turn?.resulted === true,
    callsTools: ({ event }) => event.type === "model.replied" && event.calls.length > 0,
    judgesReply: ({ event }) => event.type === "model.replied" && event.hooks !== undefined && event.hooks.length > 0,
    steered: ({ context: { pending, turn: running }, event }) =>
      running !== null &&
      pending.some((input) => turn.joins(input, running, "admissions" in event ? event.admissions : {})),
    stepsLeft: ({ context: { turn } }) => turn !== null && turn.step < turn.plan.maxSteps && roomForResponse(turn),
    full: ({ context: { turn } }) => turn !== null && isFull(turn.events),
    triesAgain: ({ context, event }) =>
      event.type === "model.failed" && turn.afterFailure(new Draft(context), event) !== undefined,
    pausesFirst: ({ context, event }) =>
      event.type === "model.failed" && turn.afterFailure(new Draft(context), event)?.retryAt !== undefined,
    runningCall: ({ context: { turn }, event }) =>
      event.type === "tool.returned" &&
      turn !== null &&
      event.turnId === turn.turnId &&
      turn.calls.some((call) => call.toolCallId === event.toolCallId && runs(call)),
    askedHook: ({ context: { turn }, event }) =>
      event.type === "hook.decided" && turn !== null && judging.isAsked(turn, event),
    openWait: ({ context: { turn }, event }) =>
      event.type === "answer" && openWaits(turn).some(({ wait }) => wait.waitId === event.waitId),
    /** What was decided, answered or left unanswered ends the turn. */
    fatal: ({ context: { turn }, event }) => turn !== null && judging.fatal(turn, event) !== undefined,
    opening: ({ context: { turn } }) => turn?.opening !== undefined,
    reviewing: ({ context: { turn } }) => turn?.reviewing !== undefined,
    reviewed: ({ context: { turn } }) => turn?.reviewing?.hooks.length === 0,
    reviewedCalls: ({ context: { turn } }) =>
      turn?.reviewing?.hooks.length === 0 && turn.reviewing.reply.calls.length > 0,
    settled: ({ context: { turn } }) => turn !== null && turn.calls.length === 0,
    parked: ({ context: { turn } }) => turn !== null && parked(turn),
    overdue: ({ context: { turn }, event }) =>
      event.type === "due" && turn !== null && event.at - (event.queuedMs ?? 0) >= deadlineOf(turn),
    pauseOver: ({ context: { turn }, event }) =>
      event.type === "due" && turn?.retryAt !== undefined && event.at >= turn.retryAt,
    expiry: ({ context: { turn }, event }) =>
      event.type === "due" && turn !== null && judging.expired(turn, event.at).length > 0
  }
})

/** An action of the chart from a plain function over a draft. */
const doing = (change: (draft: Draft, event: Command) => void) =>
  base.enqueueActions(({ context, enqueue, event }) => {
    const draft = new Draft(context)
    change(draft, event)
    enqueue.assign(draft.context)
    for (const fact of draft.facts) enqueue.emit(fact)
    for (const job of draft.jobs) enqueue(job)
  })

const waitingIn = (context: Context, inputId: string): Input => {
  const input = context.pending.find((other) => other.inputId === inputId)
  if (input === undefined) throw new Error(`${inputId} does not wait`)
  return input
}

const nextOrd = ({ pending }: Context) => pending.reduce((highest, input) => Math.max(highest, input.ord), 0) + 1

const kit = base.extend({
  actions: {
    accept: doing((d, event) => {
      const { at, input } = as(event, "submit")
      const { turn } = d.context
      d.set({
        pending: [
          ...d.context.pending,
          {
            queuedAt: at,
            ...input,
            ord: nextOrd(d.context),
            ...(input.mode === "steer" && turn !== null ? { forTurnId: turn.turnId } : {})
          }
        ]
      })
    }),
    edit: doing((d, event) => {
      const { content, inputId, principal } = as(event, "edit")
      const input = waitingIn(d.context, inputId)
      const edited = principal === undefined ? { ...input, content } : turn.reworded(input, content, principal)
      d.set({ pending: d.context.pending.map((other) => (other === input ? edited : other)) })
    }),
    remove: doing((d, event) => {
      const input = waitingIn(d.context, as(event, "remove").inputId)
      d.set({ pending: d.context.pending.filter((other) => other !== input) })
    }),
    promote: doing((d, event) => {
      const { inputId, mode } = as(event, "promote")
      const { forTurnId: _, ...input } = waitingIn(d.context, inputId)
      const { turn } = d.context
      d.set({
        pending: [
          ...d.context.pending.filter((other) => other.inputId !== inputId),
          {
            ...input,
            mode,
            ord: nextOrd(d.context),
            ...(mode === "steer" && turn !== null ? { forTurnId: turn.turnId } : {})
          }
        ]
      })
    }),
    clearQueue: doing((d, event) => {
      if (as(event, "cancel").clearQueue) d.set({ pending: [] })
    }),
    turnAwayNext: doing((d, event) => {
      const next = turn.nextInput(d.context.pending)
      if (next === undefined) return
      const admission = admissionOf(event, next)
      if ("refused" in admission) turn.turnAway(d, next, admission.refused, event.at)
    }),
    admitNext: doing((d, event) => {
      const next = turn.nextInput(d.context.pending)
      if (next === undefined) return
      const admission = admissionOf(event, next)
      if ("plan" in admission) turn.admit(d, next, admission.plan, admission.opening, event.at)
    }),
    beginSample: doing((d, event) => turn.sample(d, "admissions" in event ? event.admissions : {}, event.at)),
    nextStep: doing(turn.nextStep),
    review: doing((d, event) => turn.review(d, as(event, "model.replied"))),
    respond: doing((d, event) => turn.respond(d, as(event, "model.replied"), event.at)),
    respondReviewed: doing((d, event) => {
      const { reviewing } = d.turn
      const calls = "calls" in event ? event.calls : undefined
      if (reviewing !== undefined)
        turn.respond(d, { ...reviewing.reply, ...(calls === undefined ? {} : { calls }) }, event.at)
    }),
    noteFailure: doing((d, event) => {
      const failed = as(event, "model.failed")
      const next = turn.afterFailure(d, failed)
      if (next !== undefined) turn.noteFailure(d, failed, next)
    }),
    startAttempt: doing((d, event) => turn.startAttempt(d, event.at)),
    returnCall: doing((d, event) => returnCall(d, as(event, "tool.returned"))),
    decide: doing((d, event) => {
      const decided = as(event, "hook.decided")
      if (decided.toolCallId === undefined) judging.decideTurn(d, decided)
      else decideCall(d, decided, decided.toolCallId)
    }),
    answer: doing((d, event) => {
      const answer = as(event, "answer")
      const found = openWaits(d.turn).find(({ wait }) => wait.waitId === answer.waitId)
      if (found?.call !== undefined) answerCall(d, answer, found.wait, found.call)
      else if (found !== undefined) judging.answerTurn(d, answer, found.wait)
    }),
    expireWaits: doing((d, event) => {
      const { at, refused } = as(event, "due")
      for (const { call, wait } of judging.expired(d.turn, at)) {
        if (call === undefined) judging.expireTurn(d, wait, at)
        else expireCall(d, wait, call, at, refused)
      }
    }),
    complete: doing((d, event) => turn.end(d, { type: "turn_completed" }, event.at)),
    stop: doing((d, event) => {
      const command = as(event, "submit", "promote", "cancel")
      turn.end(
        d,
        { type: "turn_cancelled", principal: command.type === "submit" ? command.input.principal : command.principal },
        event.at
      )
    }),
    respondEmpty: doing((d, event) => turn.respondEmpty(d, as(event, "model.failed"))),
    failModel: doing((d, event) => turn.fail(d, as(event, "model.failed"))),
    failFatal: doing((d, event) => {
      const why = judging.fatal(d.turn, event)
      if (why === undefined) return
      why.say(d)
      turn.end(d, { type: "turn_failed", failure: why.failure }, event.at)
    }),
    failLate: doing((d, event) =>
      turn.end(
        d,
        {
          type: "turn_failed",
          failure: { code: "turn_timeout", text: "The turn ran longer than its profile allows." }
        },
        event.at
      )
    ),
    failSteps: doing((d, event) =>
      turn.end(
        d,
        {
          type: "turn_failed",
          failure: { code: "step_limit", text: `The turn reached its limit of ${d.turn.plan.maxSteps} responses.` }
        },
        event.at
      )
    ),
    failFull: doing((d, event) =>
      turn.end(
        d,
        {
          type: "turn_failed",
          failure: { code: "step_limit", text: "The turn holds as many events as a turn can." }
        },
        event.at
      )
    ),
    failPoisoned: doing((d, event) =>
      turn.end(
        d,
        {
          type: "turn_failed",
          failure: { code: "turn_poisoned", text: "The turn was taken over again and again without progress." }
        },
        event.at
      )
    )
  }
})

// idle, failed and cancelled behave alike: they take the next input with the next command that says how it would run.
// Nothing waits at rest but after `poison`, which does not say so.
const resting = kit.createStateConfig({
  always: [
    { guard: "nextRefused", target: "#thread.failed", reenter: true, actions: "turnAwayNext" },
    { guard: "waiting", target: "#thread.running", actions: "admitNext" }
  ],
  on: {
    submit: [{ guard: "takenBefore" }, { actions: "accept" }],
    promote: { actions: "promote" },
    cancel: { guard: "clearsQueue", actions: "clearQueue" }
  }
})

// What a running turn and an awaiting one answer alike.
const busy = {
  submit: [
    { guard: "takenBefore" },
    { guard: "interrupts", target: "#thread.cancelled", actions: ["stop", "accept"] },
    { actions: "accept" }
  ],
  promote: [{ guard: "interrupts", target: "#thread.cancelled", actions: ["stop", "promote"] }, { actions: "promote" }],
  cancel: { target: "#thread.cancelled", actions: ["stop", "clearQueue"] },
  poison: { target: "#thread.failed", actions: "failPoisoned" }
} as const

/** N2 of turnNumbers.ts. */
const fullTurn = { guard: "full", target: "#thread.failed", actions: "failFull" } as const

/** Somebody's answer, or nobody's in time. */
const answers = [
  { guard: "fatal", target: "#thread.failed", actions: "failFatal" },
  { guard: "openWait", actions: "answer" }
] as const
const expiries = [
  { guard: "fatal", target: "#thread.failed", actions: "failFatal" },
  { guard: "expiry", actions: "expireWaits" }
] as const
const decisions = [
  { guard: not("askedHook") },
  { guard: "fatal", target: "#thread.failed", actions: "failFatal" },
  { actions: "decide" }
] as const

const running = kit.createStateConfig({
  initial: "sampling",
  always: fullTurn,
  on: { ...busy, due: { guard: "overdue", target: "#thread.failed", actions: "failLate" } },
  states: {
    /** Hooks of before_turn_start judge the turn's message, or steers. */
    opening: {
      always: [
        { guard: "parked", target: "#thread.awaiting" },
        { guard: not("opening"), target: "sampling" }
      ],
      on: { "hook.decided": decisions }
    },
    sampling: {
      entry: "beginSample",
      always: { guard: "opening", target: "opening" },
      on: {
        "model.replied": [
          { guard: not("answersNow") },
          { guard: "judgesReply", target: "reviewing", actions: "review" },
          { guard: "callsTools", target: "acting", actions: "respond" },
          { guard: and(["steered", "stepsLeft"]), target: "sampling", reenter: true, actions: ["respond", "nextStep"] },
          { target: "#thread.idle", actions: ["respond", "complete"] }
        ],
        "model.failed": [
          { guard: not("answersNow") },
          {
            guard: and(["finishes", "steered", "stepsLeft"]),
            target: "sampling",
            reenter: true,
            actions: ["respondEmpty", "nextStep"]
          },
          { guard: "finishes", target: "#thread.idle", actions: ["respondEmpty", "complete"] },
          { guard: "pausesFirst", target: "pausing", actions: "noteFailure" },
          { guard: "triesAgain", target: "sampling", reenter: true, actions: "noteFailure" },
          { target: "#thread.failed", actions: "failModel" }
        ]
      }
    },
    /** Between two attempts of one response. */
    pausing: {
      on: {
        due: [
          { guard: "overdue", target: "#thread.failed", actions: "failLate" },
          { guard: "pauseOver", target: "sampling", actions: "startAttempt" }
        ]
      }
    },
    /** Hooks of after_model_response judge a response that nobody has seen. */
    reviewing: {
      always: [
        { guard: "parked", target: "#thread.awaiting" },
        { guard: "reviewedCalls", target: "acting", actions: "respondReviewed" },
        {
          guard: and(["reviewed", "steered", "stepsLeft"]),
          target: "sampling",
          actions: ["respondReviewed", "nextStep"]
        },
        { guard: "reviewed", target: "#thread.idle", actions: ["respondReviewed", "complete"] }
      ],
      on: { "hook.decided": decisions }
    },
    acting: {
      always: [
        { guard: and(["settled", "stepsLeft"]), target: "sampling", actions: "nextStep" },
        { guard: "settled", target: "#thread.failed", actions: "failSteps" },
        { guard: "parked", target: "#thread.awaiting" }
      ],
      on: {
        "tool.returned": { guard: "runningCall", actions: "returnCall" },
        "hook.decided": decisions,
        answer: answers,
        due: [{ guard: "overdue", target: "#thread.failed", actions: "failLate" }, ...expiries]
      }
    }
  }
})

const awaiting = kit.createStateConfig({
  on: {
    ...busy,
    answer: [
      { guard: and(["openWait", not("fatal"), "opening"]), target: "#thread.running.opening", actions: "answer" },
      { guard: and(["openWait", not("fatal"), "reviewing"]), target: "#thread.running.reviewing", actions: "answer" },
      ...answers
    ],
    due: [
      { guard: and(["expiry", not("fatal"), "opening"]), target: "#thread.running.opening", actions: "expireWaits" },
      {
        guard: and(["expiry", not("fatal"), "reviewing"]),
        target: "#thread.running.reviewing",
        actions: "expireWaits"
      },
      ...expiries
    ]
  },
  always: [fullTurn, { guard: not("parked"), target: "#thread.running.acting" }]
})

export const chart = kit.createMachine({
  id: "thread",
  context: blank,
  initial: "idle",
  on: { edit: { actions: "edit" }, remove: { actions: "remove" } },
  states: { idle: resting, failed: resting, cancelled: resting, running, awaiting }
})

export type Snapshot = SnapshotFrom<typeof chart>
