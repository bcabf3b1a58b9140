/**
 * The steps of a turn as plain functions: admit, apply steers, sample, respond, retry, end. Each takes a
 * draft and carries it on. When each may happen is the chart's business; what becomes of a call is in
 * calls.ts, what hooks and waits do in judging.ts.
 */
import { sibling } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import type { Failure } from "../../src/domain/failure.ts"
import { type Principal, samePrincipal } from "../../src/domain/principal.ts"
import { noUsage } from "../../src/domain/usage.ts"
import { cutToBytes } from "../../src/domain/text.ts"
import { messageNumber } from "../../src/domain/turnNumbers.ts"
import { type Input, queuedBefore } from "../../src/domain/input.ts"
import { intend, sayResult, spentOn } from "./calls.ts"
import { cutRound } from "./compaction.ts"
import type { Admission, ModelFailed, ModelReplied, Plan, ModelAnswer } from "./commands.ts"
import { interrupted, openWaits, roomForMessage, type Turn } from "./context.ts"
import type { Draft } from "./draft.ts"
import type { ResponseDetail } from "./facts.ts"
import { judgingJob, resolve } from "./judging.ts"

export const opens = (input: Input) => sibling("turn", input.inputId)

/** An interrupt goes first, then a steer that came too late for its turn, then the queue. */
export const nextInput = (pending: ReadonlyArray<Input>): Input | undefined =>
  pending.find((input) => input.mode === "interrupt") ??
  pending.find((input) => input.forTurnId !== undefined) ??
  pending[0]

const message = (input: Input) => ({
  content: input.content,
  principal: input.principal,
  ...(input.submittedBy === undefined ? {} : { submittedBy: input.submittedBy }),
  submitMode: input.mode,
  inputId: input.inputId
})

/** Its words are the editor's from now on: who sent it first stays beside them, where that is somebody else. */
export const reworded = ({ submittedBy, ...input }: Input, content: Input["content"], principal: Principal): Input => {
  const first = submittedBy ?? input.principal
  return { ...input, content, principal, ...(samePrincipal(first, principal) ? {} : { submittedBy: first }) }
}

const without = (pending: ReadonlyArray<Input>, input: Input) => pending.filter((other) => other !== input)

const some = (hooks: ReadonlyArray<number> | undefined) => (hooks === undefined || hooks.length === 0 ? {} : { hooks })

/** What is kept of an input wherever it is admitted. */
const kept = ({ hops, inputId, queuedAt }: Input, at: number) => ({
  ...(queuedAt === queuedBefore(inputId, at) ? {} : { queuedAt }),
  ...(hops === undefined ? {} : { hops })
})

/** Opens a turn with an input. */
export const admit = (d: Draft, input: Input, plan: Plan, hooks: ReadonlyArray<number> | undefined, at: number) => {
  d.set({ pending: without(d.context.pending, input) })
  d.emit({
    type: "user_message",
    turnId: opens(input),
    n: 0,
    at,
    event: message(input),
    detail: {
      plan,
      ...(input.model === undefined ? {} : { model: input.model }),
      ...(input.retryOf === undefined ? {} : { retryOf: input.retryOf }),
      ...kept(input, at),
      ...some(hooks)
    }
  })
}

const detailed = <D extends object>(detail: D) => (Object.keys(detail).length === 0 ? {} : { detail })

/** An input that may not run any more: its turn begins and fails in one. */
export const reject = (d: Draft, input: Input, why: Failure, at: number) => {
  const turnId = opens(input)
  d.set({ pending: without(d.context.pending, input) })
  d.emit({ type: "user_message", turnId, n: 0, at, event: message(input), ...detailed(kept(input, at)) })
  d.emit({
    type: "turn_failed",
    turnId,
    n: 1,
    at,
    event: {
      failureCode: why.code,
      failureText: why.text,
      ...(why.details === undefined ? {} : { failureDetails: why.details }),
      usage: noUsage
    }
  })
}

/**
 * Whether an input joins the running turn. Words of a disabled identity do not: they are turned away once it has ended.
 */
export const joins = (
  { forTurnId, inputId }: Input,
  { turnId }: Turn,
  admissions: Readonly<Record<string, Admission>>
) => {
  const admission = admissions[inputId]
  return (
    forTurnId === turnId &&
    !(admission !== undefined && "refused" in admission && admission.refused.code === "identity_disabled")
  )
}

/**
 * Whatever steers this turn joins it now, in order, as long as there is room: others could come while these are judged.
 */
export const joinSteers = (d: Draft, admissions: Readonly<Record<string, Admission>>, at: number) => {
  const { turnId } = d.turn
  for (const input of d.context.pending) {
    if (!joins(input, d.turn, admissions) || !roomForMessage(d.turn)) continue
    d.set({ pending: without(d.context.pending, input) })
    d.emit({
      type: "user_message",
      turnId,
      n: d.turn.events,
      at,
      event: message(input),
      ...detailed({ ...kept(input, at), ...some(admissions[input.inputId]?.joining) })
    })
  }
}

/** The job of the response that is being sampled. */
export const sampleJob = ({ attempt, plan, step, target, turnId }: Turn): Draft["jobs"][number] => ({
  type: "sample",
  params: { turnId, step, target, attempt, modelId: plan.models[target] ?? "" }
})

/** Asks the hook whose turn it is. */
export const judge = (d: Draft) => {
  const job = judgingJob(d.turn)
  if (job !== undefined) d.enqueue(job)
}

/** Unlike a turn that has had all its responses, one that is full ends wherever it stands. */
export const fullTurn: Failure = { code: "step_limit", text: "The turn holds as many events as a turn can." }

/** The next response begins: on the target that served last. */
export const nextStep = (d: Draft) => d.set({ turn: { ...d.turn, step: d.turn.step + 1 } })

const cutFor = (finishReason: ModelAnswer["finishReason"]) => (finishReason === undefined ? {} : { finishReason })

/** A response that hooks have to judge before anybody sees it. */
export const review = (
  d: Draft,
  { at, calls, finishReason, hooks = [], modelId, parts, step, text, usage }: ModelReplied
) => {
  d.emit({
    type: "response_received",
    turnId: d.turn.turnId,
    n: d.turn.events,
    at,
    event: {},
    detail: {
      reply: { step, modelId, text, calls, usage, ...cutFor(finishReason), ...(parts === undefined ? {} : { parts }) },
      hooks
    }
  })
  judge(d)
}

const sayEmptied = (d: Draft, response: ResponseDetail, at: number) =>
  d.emit({ type: "response_emptied", turnId: d.turn.turnId, n: d.turn.events, at, event: {}, detail: response })

/** After results of tools, to say nothing is an answer: the work is done. */
export const respondEmpty = (d: Draft, { at, finishReason, step, usage = noUsage }: ModelFailed) =>
  sayEmptied(d, { step, usage, ...cutFor(finishReason) }, at)

/** Writes a response down: its text, then its intents in order, then what becomes of them. */
export const respond = (d: Draft, reply: ModelAnswer, at: number) => {
  const { finishReason, modelId, parts, step, usage } = reply
  const response: ResponseDetail = { step, usage, ...cutFor(finishReason), ...(parts === undefined ? {} : { parts }) }
  const spoken = /\S/u.test(reply.text)
  if (spoken) {
    const text = cutToBytes(reply.text, limits.assistantTextBytes)
    d.emit({
      type: "assistant_message",
      turnId: d.turn.turnId,
      n: messageNumber(reply.step),
      at,
      event: {
        content: [{ type: "text", text }],
        modelId,
        inReplyToSeq: d.turn.repliesTo,
        ...(text.length < reply.text.length ? { truncated: true as const } : {}),
        ...cutFor(finishReason)
      },
      detail: response
    })
  }
  if (!spoken && reply.calls.length === 0) sayEmptied(d, response, at)
  intend(d, reply.calls, modelId, at, spoken ? undefined : response)
}

export type Ending =
  | { readonly type: "turn_completed" }
  | { readonly type: "turn_cancelled"; readonly principal: Principal }
  | { readonly type: "turn_failed"; readonly failure: Failure }

/** Ends the turn: its round is over, every wait resolved, every intent has its result, then the one terminal fact. */
export const end = (d: Draft, ending: Ending, at: number) => {
  const { turnId } = d.turn
  cutRound(d, at)
  for (const { call, wait } of openWaits(d.turn)) resolve(d, wait, at, { outcome: "cancelled" }, call)
  for (const call of d.turn.calls) sayResult(d, call.toolCallId, at, { failure: interrupted, ...spentOn(call) })
  const { events: n, principal, usage } = d.turn
  switch (ending.type) {
    case "turn_completed":
      d.emit({ type: "turn_completed", turnId, n, at, event: { usage, principal } })
      break
    case "turn_cancelled":
      d.emit({ type: "turn_cancelled", turnId, n, at, event: { usage, principal: ending.principal } })
      break
    case "turn_failed":
      d.emit({
        type: "turn_failed",
        turnId,
        n,
        at,
        event: {
          failureCode: ending.failure.code,
          failureText: ending.failure.text,
          ...(ending.failure.details === undefined ? {} : { failureDetails: ending.failure.details }),
          usage
        }
      })
  }
  // Also of one that completed: nothing of it is to be under way, whatever this node believes.
  d.enqueue({ type: "abandon", params: { turnId } })
}

/** Attempts on one target, and the pauses between them, in milliseconds. */
const attempts = 3
const firstPauseMs = 500
const longestPauseMs = 10_000

interface Next {
  readonly target: number
  readonly attempt: number
  readonly retryAt?: number
}

/** Whether a failure that may pass is tried again on the same model. */
export const mayPause = ({ attempt }: Pick<Turn, "attempt">) => attempt < attempts

/** What follows a failed model call: another attempt after a pause, the next model, or nothing. */
export const afterFailure = ({ attempt, emptied, plan, target }: Turn, failed: ModelFailed): Next | undefined => {
  if (failed.empty === true) return emptied === undefined ? { target, attempt: attempt + 1 } : undefined
  if (failed.transient && attempt < attempts) {
    const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1))
    const jittered = Math.round(pause * (0.5 + failed.jitter / 2))
    return {
      target,
      attempt: attempt + 1,
      retryAt: failed.at + Math.max(jittered, Math.min(failed.retryAfterMs ?? 0, 60_000))
    }
  }
  return (failed.transient || failed.unavailable) && target + 1 < plan.models.length
    ? { target: target + 1, attempt: 1 }
    : undefined
}

export const noteFailure = (d: Draft, { at, code, empty, text, usage }: ModelFailed, next: Next) => {
  const { events: n, step, turnId } = d.turn
  d.emit({
    type: "attempt_failed",
    turnId,
    n,
    at,
    event: {},
    detail: {
      step,
      code,
      text,
      ...(usage === undefined ? {} : { usage }),
      ...(empty === true ? { empty } : {}),
      ...next
    }
  })
}

/** Nothing follows the attempt. What it has used is part of the turn's usage, so it is noted before the end. */
export const fail = (d: Draft, failed: ModelFailed) => {
  const { at, code, details, text } = failed
  const { attempt, target } = d.turn
  if (failed.usage !== undefined) noteFailure(d, failed, { target, attempt })
  end(d, { type: "turn_failed", failure: { code, text, ...(details === undefined ? {} : { details }) } }, at)
}

export const startAttempt = (d: Draft, at: number) => {
  const { attempt, step, turnId } = d.turn
  d.emit({ type: "attempt_started", turnId, n: d.turn.events, at, event: {}, detail: { step, attempt } })
}
