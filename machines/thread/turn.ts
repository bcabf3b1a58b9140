/**
 * The steps of a turn as plain functions: admit, apply steers, sample, respond, settle calls, end.
 * Each takes a draft and carries it on. When each may happen is the chart's business.
 */
import { derive, sibling } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import type { Failure } from "../../src/domain/failure.ts"
import type { Principal } from "../../src/domain/principal.ts"
import { addUsage, noUsage } from "../../src/domain/usage.ts"
import { utf8Bytes } from "../../src/domain/text.ts"
import type { Input } from "../../src/domain/input.ts"
import type { ModelFailed, ModelReplied, Plan, ToolReturned } from "./commands.ts"
import { type Call, ended, interrupted } from "./context.ts"
import { type Draft } from "./draft.ts"
import { messageNumber, type ResponseDetail, type WaitResolved } from "./facts.ts"

export const opens = (input: Input) => sibling("turn", input.inputId)

/** An interrupt goes first, then a steer that came too late for its turn, then the queue. */
export const nextInput = (pending: ReadonlyArray<Input>): Input | undefined =>
  pending.find((input) => input.mode === "interrupt") ?? pending.find((input) => input.forTurnId !== undefined) ?? pending[0]

const message = (input: Input) => ({
  content: input.content,
  principal: input.principal,
  submitMode: input.mode,
  inputId: input.inputId
})

const without = (pending: ReadonlyArray<Input>, input: Input) => pending.filter((other) => other !== input)

/** Opens a turn with an input. */
export const admit = (d: Draft, input: Input, plan: Plan, at: number) => {
  const turnId = opens(input)
  const { carry, pending, pos, seq } = d.context
  const model = plan.models[0]
  d.set({
    pending: without(pending, input),
    carry: model === undefined ? carry : { ...carry, model },
    turn: {
      turnId, plan, principal: input.principal, openedPos: pos + 1, deadlineAt: at + plan.maxTurnMs,
      events: 0, step: 1, target: 0, attempt: 1, usage: noUsage, repliesTo: seq + 1, calls: []
    }
  })
  d.say({
    type: "user_message", turnId, n: 0, at, event: message(input),
    detail: {
      plan,
      ...(input.model === undefined ? {} : { model: input.model }),
      ...(input.retryOf === undefined ? {} : { retryOf: input.retryOf })
    }
  })
}

/** An input that may not run any more: its turn begins and fails in one. */
export const turnAway = (d: Draft, input: Input, why: Failure, at: number) => {
  const turnId = opens(input)
  d.set({ pending: without(d.context.pending, input) })
  d.say({ type: "user_message", turnId, n: 0, at, event: message(input) })
  d.say({
    type: "turn_failed", turnId, n: 1, at,
    event: { failureCode: why.code, failureText: why.text, ...(why.details === undefined ? {} : { failureDetails: why.details }), usage: noUsage }
  })
  d.set({ carry: ended(d.context.carry, turnId, "failed", noUsage) })
}

/** Whatever steers this turn joins it now, in order. */
export const applySteers = (d: Draft, at: number) => {
  const { turnId } = d.turn
  for (const input of d.context.pending) {
    if (input.forTurnId !== turnId) continue
    d.say({ type: "user_message", turnId, n: d.turn.events, at, event: message(input) })
    d.setTurn({ repliesTo: d.context.seq })
    d.set({ pending: without(d.context.pending, input) })
  }
}

export const sample = (d: Draft) => {
  const { attempt, plan, step, target, turnId } = d.turn
  d.ask({ type: "sample", params: { turnId, step, attempt, modelId: plan.models[target] ?? "" } })
}

/** The next response begins: on the target that served last. */
export const nextStep = (d: Draft) => d.setTurn({ step: d.turn.step + 1 })

/** Cuts at a code point to what an assistant message may hold. */
export const cut = (text: string, bytes: number) => {
  if (utf8Bytes(text) <= bytes) return text
  let size = 0
  let end = 0
  for (const character of text) {
    size += utf8Bytes(character)
    if (size > bytes) break
    end += character.length
  }
  return text.slice(0, end)
}

/** Writes a response down: its text, then its intents in order, then the waits of calls that park; starts what may start. */
export const respond = (d: Draft, reply: ModelReplied) => {
  const { turnId } = d.turn
  const { at, modelId } = reply
  d.setTurn({ usage: addUsage(d.turn.usage, reply.usage), attempt: 1 })
  let response: ResponseDetail | undefined = {
    step: reply.step, usage: reply.usage, ...(reply.parts === undefined ? {} : { parts: reply.parts })
  }
  if (/\S/u.test(reply.text)) {
    const text = cut(reply.text, limits.assistantTextBytes)
    d.say({
      type: "assistant_message", turnId, n: messageNumber(reply.step), at,
      event: {
        content: [{ type: "text", text }], modelId, inReplyToSeq: d.turn.repliesTo,
        ...(text.length < reply.text.length ? { truncated: true as const } : {})
      },
      detail: response
    })
    response = undefined
  }
  let running = 0
  const calls: Array<Call> = []
  for (const { input, name, providerToolCallId, verdict } of reply.calls) {
    const n = d.turn.events
    const toolCallId = derive("call", turnId, n)
    const parks = verdict.park !== undefined
    const started = !parks && running < d.turn.plan.maxParallelTools
    if (started) running++
    d.say({
      type: "tool_intent", turnId, n, at,
      event: { toolName: name, toolInput: input, toolCallId, providerToolCallId, modelId },
      detail: { rerunnable: verdict.rerunnable, started, ...(response === undefined ? {} : { response }) }
    })
    response = undefined
    calls.push({ toolCallId, providerToolCallId, name, input, rerunnable: verdict.rerunnable, phase: started ? "running" : "ready" })
  }
  for (const [i, { verdict }] of reply.calls.entries()) {
    const call = calls[i]!
    if (verdict.park === undefined) {
      if (call.phase === "running") d.ask({ type: "runTool", params: { turnId, toolCallId: call.toolCallId, name: call.name, input: call.input } })
      continue
    }
    const { target, timeoutMs, toolsetId } = verdict.park
    const wait = { waitId: derive("wait", turnId, d.turn.events), toolsetId, expiresAt: at + timeoutMs }
    d.say({
      type: "wait_created", turnId, n: d.turn.events, at,
      event: { waitId: wait.waitId, toolCallId: call.toolCallId, toolName: call.name, toolsetId, usage: d.turn.usage },
      detail: { type: "client_tool", target, expiresAt: wait.expiresAt }
    })
    calls[i] = { ...call, phase: "parked", wait }
  }
  d.setTurn({ calls })
}

/** Gives a call its result, and its place to the next that was ready. */
export const settle = (d: Draft, toolCallId: string, at: number, result: Pick<ToolReturned, "output" | "failure"> & { readonly durationMs?: number }) => {
  const { turnId } = d.turn
  d.say({
    type: "tool_result", turnId, n: d.turn.events, at,
    event: {
      toolCallId,
      toolOutput: result.output ?? null,
      ...(result.durationMs === undefined ? {} : { timing: { durationMs: result.durationMs } }),
      ...(result.failure === undefined ? {} : { failureCode: result.failure.code, failureText: result.failure.text })
    }
  })
  d.setTurn({ calls: d.turn.calls.filter((call) => call.toolCallId !== toolCallId) })
  const room = d.turn.plan.maxParallelTools - d.turn.calls.filter((call) => call.phase === "running").length
  for (const call of d.turn.calls.filter((call) => call.phase === "ready").slice(0, room)) {
    d.say({ type: "call_started", turnId, n: d.turn.events, at, event: {}, detail: { toolCallId: call.toolCallId } })
    d.setTurn({ calls: d.turn.calls.map((other) => other === call ? { ...call, phase: "running" } : other) })
    d.ask({ type: "runTool", params: { turnId, toolCallId: call.toolCallId, name: call.name, input: call.input } })
  }
}

export const resolveWait = (d: Draft, call: Call, at: number, waitResult: WaitResolved["event"]["waitResult"]) => {
  if (call.wait === undefined) return
  const { turnId } = d.turn
  d.say({
    type: "wait_resolved", turnId, n: d.turn.events, at,
    event: { waitId: call.wait.waitId, toolCallId: call.toolCallId, toolsetId: call.wait.toolsetId, waitResult }
  })
}

export const expired = (d: Draft, at: number) =>
  d.turn.calls.filter((call) => call.wait !== undefined && call.wait.expiresAt <= at)

/** Waits whose time is over: the model gets to know, and decides. */
export const expire = (d: Draft, at: number) => {
  for (const call of expired(d, at)) {
    resolveWait(d, call, at, { outcome: "expired" })
    settle(d, call.toolCallId, at, { failure: { code: "tool_timeout", text: "The client did not answer in time." } })
  }
}

export type Ending =
  | { readonly type: "turn_completed" }
  | { readonly type: "turn_cancelled"; readonly principal: Principal }
  | { readonly type: "turn_failed"; readonly failure: Failure }

const outcomes = { turn_completed: "completed", turn_cancelled: "cancelled", turn_failed: "failed" } as const

/** Ends the turn: every wait is resolved, every intent gets its result, then the one terminal fact. */
export const end = (d: Draft, ending: Ending, at: number) => {
  const { calls, turnId } = d.turn
  for (const call of calls) resolveWait(d, call, at, { outcome: "cancelled" })
  for (const { toolCallId } of calls) {
    d.say({
      type: "tool_result", turnId, n: d.turn.events, at,
      event: { toolCallId, toolOutput: null, failureCode: interrupted.code, failureText: interrupted.text }
    })
  }
  const { events: n, principal, usage } = d.turn
  switch (ending.type) {
    case "turn_completed":
      d.say({ type: "turn_completed", turnId, n, at, event: { usage, principal } })
      break
    case "turn_cancelled":
      d.say({ type: "turn_cancelled", turnId, n, at, event: { usage, principal: ending.principal } })
      break
    case "turn_failed":
      d.say({
        type: "turn_failed", turnId, n, at,
        event: {
          failureCode: ending.failure.code, failureText: ending.failure.text,
          ...(ending.failure.details === undefined ? {} : { failureDetails: ending.failure.details }),
          usage
        }
      })
  }
  d.set({ turn: null, carry: ended(d.context.carry, turnId, outcomes[ending.type], usage) })
  if (ending.type !== "turn_completed") d.ask({ type: "abandon", params: { turnId } })
}

/** Attempts on one target, and the pauses between them, in milliseconds. */
const attempts = 3
const firstPauseMs = 500
const longestPauseMs = 10_000

/** What follows a failed model call: another attempt after a pause, the next model, or nothing. */
export const afterFailure = (d: Draft, failed: ModelFailed): { readonly target: number; readonly attempt: number; readonly retryAt?: number } | undefined => {
  const { attempt, plan, target } = d.turn
  if (failed.shown) return undefined
  if (failed.empty === true) return attempt === 1 ? { target, attempt: 2 } : undefined
  if (failed.transient && attempt < attempts) {
    const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1))
    const jittered = Math.round(pause * (0.5 + failed.jitter / 2))
    return { target, attempt: attempt + 1, retryAt: failed.at + Math.max(jittered, Math.min(failed.retryAfterMs ?? 0, 60_000)) }
  }
  return (failed.transient || failed.unavailable) && target + 1 < plan.models.length ? { target: target + 1, attempt: 1 } : undefined
}

export const noteFailure = (d: Draft, failed: ModelFailed, next: { readonly target: number; readonly attempt: number; readonly retryAt?: number }) => {
  const { step, turnId } = d.turn
  d.say({
    type: "attempt_failed", turnId, n: d.turn.events, at: failed.at, event: {},
    detail: { step, code: failed.code, text: failed.text, ...next }
  })
  const { retryAt: _, ...turn } = d.turn
  d.set({ turn: { ...turn, ...next } })
}

export const startAttempt = (d: Draft, at: number) => {
  const { attempt, step, turnId } = d.turn
  d.say({ type: "attempt_started", turnId, n: d.turn.events, at, event: {}, detail: { step, attempt } })
  const { retryAt: _, ...turn } = d.turn
  d.set({ turn })
}
