/**
 * The life of one thread. Top states are the thread's statuses; inputs and calls are context, because
 * they are lists; where the thread stands is a state, because it is exclusive.
 *
 * T1. Every intent gets a result, every wait a resolution, every turn exactly one terminal fact,
 *     whatever ends it: `end` does it, and nothing else ends a turn.
 * T2. A steer joins only the turn that it was sent to, before that turn's next model call. When the
 *     turn ends first, the steer goes before the queue. Nothing that was accepted is dropped.
 * T3. An outcome names its turn, and a model's outcome its step, model and attempt; a stale one changes nothing.
 * T4. Whatever changes the context is a fact, or a row of a waiting input: a fold finds the same state.
 */
import { and, not, or, setup, type SnapshotFrom } from "xstate"
import type { Input } from "../../src/domain/input.ts"
import type { Admission, Command } from "./commands.ts"
import { blank, type Context } from "./context.ts"
import { Draft, type Job } from "./draft.ts"
import type { Fact } from "./facts.ts"
import * as turn from "./turn.ts"

/** Events of a turn are numbered below `messageNumber`; another response must find room. */
const mostEvents = 15_000

const admissionOf = (event: Command, input: Input): Admission => {
  const admission = "admissions" in event ? event.admissions[input.inputId] : undefined
  if (admission === undefined) throw new Error(`${event.type} does not say how ${input.inputId} would run`)
  return admission
}

/** The command, of the type that this place handles. */
const as = <T extends Command["type"]>(event: Command, ...types: ReadonlyArray<T>): Extract<Command, { readonly type: T }> => {
  const isOne = (command: Command): command is Extract<Command, { readonly type: T }> => types.some((type) => type === command.type)
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
    abandon: (_, _params: Extract<Job, { type: "abandon" }>["params"]) => {}
  },
  guards: {
    waiting: ({ context }) => context.pending.length > 0,
    nextRefused: ({ context, event }) => {
      const next = turn.nextInput(context.pending)
      return next !== undefined && "refused" in admissionOf(event, next)
    },
    interrupts: ({ event }) =>
      event.type === "submit" ? event.input.mode === "interrupt" : event.type === "promote" && event.mode === "interrupt",
    answersNow: ({ context: { turn }, event }) =>
      turn !== null && (event.type === "model.replied" || event.type === "model.failed") &&
      event.turnId === turn.turnId && event.step === turn.step && event.attempt === turn.attempt &&
      event.modelId === turn.plan.models[turn.target],
    callsTools: ({ event }) => event.type === "model.replied" && event.calls.length > 0,
    steered: ({ context: { pending, turn } }) => turn !== null && pending.some((input) => input.forTurnId === turn.turnId),
    stepsLeft: ({ context: { turn } }) => turn !== null && turn.step < turn.plan.maxSteps && turn.events < mostEvents,
    triesAgain: ({ context, event }) => event.type === "model.failed" && turn.afterFailure(new Draft(context), event) !== undefined,
    pausesFirst: ({ context, event }) => event.type === "model.failed" && turn.afterFailure(new Draft(context), event)?.retryAt !== undefined,
    runningCall: ({ context: { turn }, event }) =>
      event.type === "tool.returned" && turn !== null && event.turnId === turn.turnId &&
      turn.calls.some((call) => call.toolCallId === event.toolCallId && call.phase === "running"),
    openWait: ({ context: { turn }, event }) =>
      event.type === "answer" && turn !== null && turn.calls.some((call) => call.wait?.waitId === event.waitId),
    settled: ({ context: { turn } }) => turn !== null && turn.calls.length === 0,
    parked: ({ context: { turn } }) => turn !== null && turn.calls.length > 0 && turn.calls.every((call) => call.phase === "parked"),
    overdue: ({ context: { turn }, event }) => event.type === "due" && turn !== null && event.at >= turn.deadlineAt,
    pauseOver: ({ context: { turn }, event }) => event.type === "due" && turn?.retryAt !== undefined && event.at >= turn.retryAt,
    expiry: ({ context, event }) => event.type === "due" && context.turn !== null && turn.expired(new Draft(context), event.at).length > 0
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
        pending: [...d.context.pending, {
          ...input, ord: nextOrd(d.context), queuedAt: at,
          ...(input.mode === "steer" && turn !== null ? { forTurnId: turn.turnId } : {})
        }]
      })
    }),
    edit: doing((d, event) => {
      const { content, inputId } = as(event, "edit")
      const input = waitingIn(d.context, inputId)
      d.set({ pending: d.context.pending.map((other) => other === input ? { ...input, content } : other) })
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
        pending: [...d.context.pending.filter((other) => other.inputId !== inputId), {
          ...input, mode, ord: nextOrd(d.context), ...(mode === "steer" && turn !== null ? { forTurnId: turn.turnId } : {})
        }]
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
      if ("plan" in admission) turn.admit(d, next, admission.plan, event.at)
    }),
    beginSample: doing((d, event) => {
      turn.applySteers(d, event.at)
      turn.sample(d)
    }),
    nextStep: doing(turn.nextStep),
    respond: doing((d, event) => turn.respond(d, as(event, "model.replied"))),
    noteFailure: doing((d, event) => {
      const failed = as(event, "model.failed")
      const next = turn.afterFailure(d, failed)
      if (next !== undefined) turn.noteFailure(d, failed, next)
    }),
    startAttempt: doing((d, event) => turn.startAttempt(d, event.at)),
    settleCall: doing((d, event) => {
      const returned = as(event, "tool.returned")
      turn.settle(d, returned.toolCallId, returned.at, returned)
    }),
    settleWait: doing((d, event) => {
      const { at, principal, result, waitId } = as(event, "answer")
      const call = d.turn.calls.find(({ wait }) => wait?.waitId === waitId)
      if (call === undefined) return
      if ("output" in result) {
        turn.resolveWait(d, call, at, { outcome: "result", by: principal, output: result.output })
        turn.settle(d, call.toolCallId, at, { output: result.output })
      } else {
        turn.resolveWait(d, call, at, { outcome: "error", by: principal })
        turn.settle(d, call.toolCallId, at, { failure: { code: "tool_error", text: `${result.error.code}: ${result.error.message}` } })
      }
    }),
    expireWaits: doing((d, event) => turn.expire(d, event.at)),
    restartClock: doing((d, event) => d.setTurn({ deadlineAt: event.at + d.turn.plan.maxTurnMs })),
    complete: doing((d, event) => turn.end(d, { type: "turn_completed" }, event.at)),
    stop: doing((d, event) => {
      const command = as(event, "submit", "promote", "cancel")
      turn.end(d, { type: "turn_cancelled", principal: command.type === "submit" ? command.input.principal : command.principal }, event.at)
    }),
    failModel: doing((d, event) => {
      const { at, code, details, text } = as(event, "model.failed")
      turn.end(d, { type: "turn_failed", failure: { code, text, ...(details === undefined ? {} : { details }) } }, at)
    }),
    failLate: doing((d, event) =>
      turn.end(d, { type: "turn_failed", failure: { code: "turn_timeout", text: "The turn ran longer than its profile allows." } }, event.at)),
    failSteps: doing((d, event) =>
      turn.end(d, {
        type: "turn_failed",
        failure: { code: "step_limit", text: `The turn reached its limit of ${d.turn.plan.maxSteps} responses.` }
      }, event.at)),
    failPoisoned: doing((d, event) =>
      turn.end(d, {
        type: "turn_failed",
        failure: { code: "turn_poisoned", text: "The turn was taken over again and again without progress." }
      }, event.at))
  }
})

// idle, failed and cancelled behave alike: they take the next input at once.
const resting = kit.createStateConfig({
  always: [
    { guard: "nextRefused", target: "#thread.failed", reenter: true, actions: "turnAwayNext" },
    { guard: "waiting", target: "#thread.running", actions: "admitNext" }
  ],
  on: { submit: { actions: "accept" } }
})

// What a running turn and an awaiting one answer alike.
const busy = {
  submit: [
    { guard: "interrupts", target: "#thread.cancelled", actions: ["stop", "accept"] },
    { actions: "accept" }
  ],
  promote: [
    { guard: "interrupts", target: "#thread.cancelled", actions: ["stop", "promote"] },
    { actions: "promote" }
  ],
  cancel: { target: "#thread.cancelled", actions: ["stop", "clearQueue"] },
  poison: { target: "#thread.failed", actions: "failPoisoned" }
} as const

const running = kit.createStateConfig({
  initial: "sampling",
  on: { ...busy, due: { guard: "overdue", target: "#thread.failed", actions: "failLate" } },
  states: {
    sampling: {
      entry: "beginSample",
      on: {
        "model.replied": [
          { guard: not("answersNow") },
          { guard: "callsTools", target: "acting", actions: "respond" },
          { guard: and(["steered", "stepsLeft"]), target: "sampling", reenter: true, actions: ["respond", "nextStep"] },
          { target: "#thread.idle", actions: ["respond", "complete"] }
        ],
        "model.failed": [
          { guard: not("answersNow") },
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
    acting: {
      always: [
        { guard: and(["settled", "stepsLeft"]), target: "sampling", actions: "nextStep" },
        { guard: "settled", target: "#thread.failed", actions: "failSteps" },
        { guard: "parked", target: "#thread.awaiting" }
      ],
      on: {
        "tool.returned": { guard: "runningCall", actions: "settleCall" },
        answer: { guard: "openWait", actions: "settleWait" },
        due: [
          { guard: "overdue", target: "#thread.failed", actions: "failLate" },
          { guard: "expiry", actions: "expireWaits" }
        ]
      }
    }
  }
})

const awaiting = kit.createStateConfig({
  on: {
    ...busy,
    answer: { guard: "openWait", actions: "settleWait" },
    due: { guard: "expiry", actions: "expireWaits" }
  },
  always: [
    { guard: and(["settled", "stepsLeft"]), target: "#thread.running", actions: ["restartClock", "nextStep"] },
    { guard: "settled", target: "#thread.failed", actions: "failSteps" },
    { guard: not(or(["settled", "parked"])), target: "#thread.running.acting", actions: "restartClock" }
  ]
})

export const chart = kit.createMachine({
  id: "thread",
  context: blank,
  initial: "idle",
  on: { edit: { actions: "edit" }, remove: { actions: "remove" } },
  states: { idle: resting, failed: resting, cancelled: resting, running, awaiting }
})

export type Snapshot = SnapshotFrom<typeof chart>
