/**
 * What the thread's chart does: each action is a plain function over a draft, from turn.ts, calls.ts or judging.ts.
 * The draft's facts are emitted, its jobs enqueued.
 */
import { assertEvent, setup } from "xstate"
import { chartTypes, drafting } from "../step.ts"
import type { Failure } from "../../src/domain/failure.ts"
import type { Input } from "../../src/domain/input.ts"
import { answerCall, decideCall, expireCall, returnCall } from "./calls.ts"
import type { Command } from "./commands.ts"
import * as compaction from "./compaction.ts"
import { type Context, openWaits, type Turn } from "./context.ts"
import { Draft, type Job } from "./draft.ts"
import type { Fact } from "./facts.ts"
import { admissionFor, guards } from "./guards.ts"
import * as judging from "./judging.ts"
import * as turn from "./turn.ts"

const base = setup({
  types: chartTypes<{ context: Context; events: Command; emitted: Fact }>(),
  actions: {
    // Jobs: named here, performed elsewhere.
    sample: (_, _params: Extract<Job, { type: "sample" }>["params"]) => {},
    runTool: (_, _params: Extract<Job, { type: "runTool" }>["params"]) => {},
    askHook: (_, _params: Extract<Job, { type: "askHook" }>["params"]) => {},
    summarise: (_, _params: Extract<Job, { type: "summarise" }>["params"]) => {},
    abandon: (_, _params: Extract<Job, { type: "abandon" }>["params"]) => {}
  },
  guards
})

/** An action of the chart from a plain function over a draft. */
const doing = (change: (draft: Draft, event: Command) => void) =>
  drafting(
    base.enqueueActions(() => {}),
    (context: Context) => new Draft(context),
    change
  )

/** Ends the turn with a failure. */
const failing = (why: (turn: Turn) => Failure) =>
  doing((d, event) => turn.end(d, { type: "turn_failed", failure: why(d.turn) }, event.at))

/** Says what was decided, and ends the turn with it. */
const failWith = (d: Draft, denial: judging.HookDenial | undefined, at: number) => {
  if (denial === undefined) return
  denial.emit(d)
  turn.end(d, { type: "turn_failed", failure: denial.failure }, at)
}

const waitingIn = (context: Context, inputId: string): Input => {
  const input = context.pending.find((other) => other.inputId === inputId)
  if (input === undefined) throw new Error(`${inputId} does not wait`)
  return input
}

const nextOrd = ({ pending }: Context) => pending.reduce((highest, input) => Math.max(highest, input.ord), 0) + 1

export const machine = base.extend({
  actions: {
    accept: doing((d, event) => {
      assertEvent(event, "submit")
      const { at, input } = event
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
      assertEvent(event, "edit")
      const { content, inputId, principal } = event
      const input = waitingIn(d.context, inputId)
      const edited = principal === undefined ? { ...input, content } : turn.reworded(input, content, principal)
      d.set({ pending: d.context.pending.map((other) => (other === input ? edited : other)) })
    }),
    remove: doing((d, event) => {
      assertEvent(event, "remove")
      const input = waitingIn(d.context, event.inputId)
      d.set({ pending: d.context.pending.filter((other) => other !== input) })
    }),
    promote: doing((d, event) => {
      assertEvent(event, "promote")
      const { inputId, mode } = event
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
      assertEvent(event, "cancel")
      if (event.clearQueue) d.set({ pending: [] })
    }),
    rejectNext: doing((d, event) => {
      const next = turn.nextInput(d.context.pending)
      if (next === undefined) return
      const admission = admissionFor(event, next)
      if ("refused" in admission) turn.reject(d, next, admission.refused, event.at)
    }),
    admitNext: doing((d, event) => {
      const next = turn.nextInput(d.context.pending)
      if (next === undefined) return
      const admission = admissionFor(event, next)
      if ("plan" in admission) turn.admit(d, next, admission.plan, admission.opening, event.at)
    }),
    joinSteers: doing((d, event) => turn.joinSteers(d, "admissions" in event ? event.admissions : {}, event.at)),
    askMessageHook: doing(turn.judge),
    askModel: doing((d) => d.enqueue(turn.sampleJob(d.turn))),
    nextStep: doing(turn.nextStep),
    review: doing((d, event) => {
      assertEvent(event, "model.replied")
      turn.review(d, event)
    }),
    respond: doing((d, event) => {
      assertEvent(event, "model.replied")
      turn.respond(d, event, event.at)
    }),
    respondReviewed: doing((d, event) => {
      const { reviewing } = d.turn
      const calls = "calls" in event ? event.calls : undefined
      if (reviewing !== undefined)
        turn.respond(d, { ...reviewing.reply, ...(calls === undefined ? {} : { calls }) }, event.at)
    }),
    noteFailure: doing((d, event) => {
      assertEvent(event, "model.failed")
      const next = turn.afterFailure(d.turn, event)
      if (next !== undefined) turn.noteFailure(d, event, next)
    }),
    wantCompaction: doing((d, { at }) => d.emit({ type: "compaction_wanted", turnId: null, n: 0, at, event: {} })),
    archive: doing((d, { at }) => d.emit({ type: "archived", turnId: null, n: 0, at, event: {} })),
    beginRound: doing((d, event) => {
      assertEvent(event, "prompt.long")
      compaction.beginRound(d, event)
    }),
    endRound: doing((d, event) => {
      assertEvent(event, "summary.made")
      compaction.endRound(d, event)
    }),
    failRound: doing((d, event) => {
      assertEvent(event, "summary.failed")
      compaction.failRound(d, event)
    }),
    failOverflow: failing(() => ({
      code: "context_overflow",
      text: "The conversation is too long for the model, and could not be summarised."
    })),
    startAttempt: doing((d, event) => turn.startAttempt(d, event.at)),
    returnCall: doing((d, event) => {
      assertEvent(event, "tool.returned")
      returnCall(d, event)
    }),
    decide: doing((d, event) => {
      assertEvent(event, "hook.decided")
      if (event.toolCallId === undefined) judging.decideTurn(d, event)
      else decideCall(d, event, event.toolCallId)
    }),
    answer: doing((d, event) => {
      assertEvent(event, "answer")
      const found = openWaits(d.turn).find(({ wait }) => wait.waitId === event.waitId)
      if (found?.call !== undefined) answerCall(d, event, found.wait, found.call)
      else if (found !== undefined) judging.answerTurn(d, event, found.wait)
    }),
    expireWaits: doing((d, event) => {
      assertEvent(event, "due")
      const { at, refused } = event
      for (const { call, wait } of judging.expired(d.turn, at)) {
        if (call === undefined) judging.expireTurn(d, wait, at)
        else expireCall(d, wait, call, at, refused)
      }
    }),
    complete: doing((d, event) => turn.end(d, { type: "turn_completed" }, event.at)),
    stop: doing((d, event) => {
      assertEvent(event, ["submit", "promote", "cancel"])
      const principal = event.type === "submit" ? event.input.principal : event.principal
      turn.end(d, { type: "turn_cancelled", principal }, event.at)
    }),
    respondEmpty: doing((d, event) => {
      assertEvent(event, "model.failed")
      turn.respondEmpty(d, event)
    }),
    failModel: doing((d, event) => {
      assertEvent(event, "model.failed")
      turn.fail(d, event)
    }),
    failDeniedByHook: doing((d, event) => {
      assertEvent(event, "hook.decided")
      failWith(d, judging.hookDenial(d.turn, event), event.at)
    }),
    failDeniedByPerson: doing((d, event) => {
      assertEvent(event, "answer")
      failWith(d, judging.personDenial(d.turn, event), event.at)
    }),
    failUnanswered: doing((d, event) => failWith(d, judging.waitFailure(d.turn, event.at), event.at)),
    failLate: failing(() => ({ code: "turn_timeout", text: "The turn ran longer than its profile allows." })),
    failSteps: failing(({ plan }) => ({
      code: "step_limit",
      text: `The turn reached its limit of ${plan.maxSteps} responses.`
    })),
    failFull: failing(() => turn.fullTurn),
    failPoisoned: failing(() => ({
      code: "turn_poisoned",
      text: "The turn was taken over again and again without progress."
    }))
  }
})
