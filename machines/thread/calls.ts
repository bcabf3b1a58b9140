/**
 * One call's way: a role's approval, the hooks before, the run, the hooks after, the result.
 *
 * C1. A call takes a place among the running calls from its first job to its result, and gives it back
 *     while it waits for somebody's answer. `maxParallelTools` is the number of places.
 */
import { besideAs } from "../../src/domain/beside.ts"
import { derive } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import type { Failure } from "../../src/domain/failure.ts"
import type { AnswerWait, Due, HookDecided, RepliedCall } from "./commands.ts"
import { revealed } from "./carry.ts"
import { approvedOf, hasPlace, runs, wantsApproval } from "./callState.ts"
import { type Call, isApproved, type OpenWait, type Returned, returnedOf, roundOf, type Turn } from "./context.ts"
import type { Draft } from "./draft.ts"
import type { ResponseDetail } from "./facts.ts"
import { callSubject, resultSubject } from "./subject.ts"
import { askOf, deniedBy, park, resolve, sayDecision } from "./judging.ts"

const placesLeft = ({ calls, plan }: Turn) => plan.maxParallelTools - calls.filter(hasPlace).length

/** The job of a call that has a place. */
export const jobOf = ({ step, turnId }: Turn, call: Call): Draft["jobs"][number] => {
  const {
    hooks: [index],
    input,
    name,
    rerunnable,
    toolCallId
  } = call
  if (index === undefined || runs(call)) {
    const approved = approvedOf(call)
    return {
      type: "runTool",
      params: { turnId, toolCallId, name, input, rerunnable, ...(approved === undefined ? {} : { approved }) }
    }
  }
  const returned = returnedOf(call)
  return {
    type: "askHook",
    params: {
      turnId,
      step,
      index,
      ...roundOf(call),
      data: returned === undefined ? callSubject(call) : resultSubject(call, returned)
    }
  }
}

/** Hands free places to the calls that want one, in order. */
const fill = (d: Draft, at: number) => {
  const { turnId } = d.turn
  const wanting = d.turn.calls.filter(({ state }) => state.type === "waiting")
  for (const call of wanting.slice(0, Math.max(0, placesLeft(d.turn)))) {
    d.emit({ type: "call_started", turnId, n: d.turn.events, at, event: {}, detail: { toolCallId: call.toolCallId } })
    d.enqueue(jobOf(d.turn, call))
  }
}

/** What a thread may have revealed is bounded: a result that would exceed it is a failure, and reveals nothing. */
const withinReveals = ({ carry: { reveals } }: Draft["context"], returned: Returned): Returned => {
  const { output: _, reveal, ...rest } = returned
  if (reveal === undefined || revealed(reveals, reveal).tools.length <= limits.revealedPerThread) return returned
  return {
    ...rest,
    failure: {
      code: "tool_error",
      text:
        `The thread has ${reveals?.tools.length ?? 0} revealed tools of at most ${limits.revealedPerThread}: these ` +
        "would be too many. Look for fewer, or go on with those that are there."
    }
  }
}

export const sayResult = (d: Draft, toolCallId: string, at: number, returned: Returned) => {
  const { beside, durationMs, failure, output, reveal, usage } = withinReveals(d.context, returned)
  d.emit({
    type: "tool_result",
    turnId: d.turn.turnId,
    n: d.turn.events,
    at,
    event: {
      toolCallId,
      toolOutput: output ?? null,
      ...besideAs(beside),
      ...(reveal === undefined ? {} : { reveal }),
      ...(usage === undefined ? {} : { usage }),
      ...(durationMs === undefined ? {} : { timing: { durationMs } }),
      ...(failure === undefined ? {} : { failureCode: failure.code, failureText: failure.text })
    }
  })
}

/** Gives a call its result, and its place to the next. */
const settle = (d: Draft, toolCallId: string, at: number, result: Returned) => {
  sayResult(d, toolCallId, at, result)
  fill(d, at)
}

const parkOn = (
  d: Draft,
  call: Call,
  at: number,
  wait: Pick<OpenWait, "type" | "target" | "grant"> & { readonly timeoutMs: number }
) => {
  const { timeoutMs, ...rest } = wait
  park(
    d,
    {
      ...rest,
      waitId: derive("wait", d.turn.turnId, d.turn.events),
      expiresAt: at + timeoutMs,
      onTimeout: "deny",
      ...(call.toolsetId === undefined ? {} : { toolsetId: call.toolsetId })
    },
    at,
    call
  )
}

/**
 * Takes a call on, as far as it goes without anybody's answer. The fact before this one has given it its place, or not.
 */
const proceed = (d: Draft, toolCallId: string, at: number, refused?: Due["refused"]) => {
  const call = d.call(toolCallId)
  const { client, grant, hooks, state } = call
  if (state.type === "judgingResult" && hooks.length === 0) return settle(d, toolCallId, at, state.returned)
  if (hasPlace(call)) return d.enqueue(jobOf(d.turn, call))
  if (state.type !== "wanted") return
  if (wantsApproval(call)) {
    parkOn(d, call, at, {
      type: "role_approval",
      target: "person",
      timeoutMs: limits.roleApprovalMs,
      ...(grant === undefined ? {} : { grant: grant.key })
    })
  } else {
    const failure = refused?.[toolCallId]
    if (failure !== undefined) return settle(d, toolCallId, at, { failure })
    parkOn(d, call, at, { type: "client_tool", target: "client", timeoutMs: client?.timeoutMs ?? 0 })
  }
  fill(d, at)
}

/**
 * Writes the intents of a response down, in order; then settles what was refused, parks what waits, starts what may
 * start.
 */
export const intend = (
  d: Draft,
  replied: ReadonlyArray<RepliedCall>,
  modelId: string,
  at: number,
  response: ResponseDetail | undefined
) => {
  const { turnId } = d.turn
  const open: Array<string> = []
  const refusals: Array<readonly [toolCallId: string, failure: Failure]> = []
  for (const { input, name, providerToolCallId, verdict } of replied) {
    const n = d.turn.events
    const toolCallId = derive("call", turnId, n)
    const refused = "refused" in verdict
    const { approval, hooks = [], ...rest } = refused ? { rerunnable: true } : verdict
    const wanted = approval === undefined || isApproved(d.context.carry, approval, name) ? {} : { approval }
    const waits = "approval" in wanted || (hooks.length === 0 && "client" in rest)
    d.emit({
      type: "tool_intent",
      turnId,
      n,
      at,
      event: { toolName: name, toolInput: input, toolCallId, providerToolCallId, modelId },
      detail: {
        ...rest,
        ...wanted,
        ...(hooks.length === 0 ? {} : { hooks }),
        started: !refused && !waits && placesLeft(d.turn) > 0,
        ...(response === undefined ? {} : { response })
      }
    })
    response = undefined
    if (refused) refusals.push([toolCallId, verdict.refused])
    else open.push(toolCallId)
  }
  for (const [toolCallId, failure] of refusals) sayResult(d, toolCallId, at, { failure })
  for (const toolCallId of open) proceed(d, toolCallId, at)
}

/** What a call returned goes to the hooks that match, else into its result. */
const receive = (
  d: Draft,
  toolCallId: string,
  at: number,
  returned: Returned,
  hooks: ReadonlyArray<number> | undefined
) => {
  if (hooks === undefined || hooks.length === 0) return settle(d, toolCallId, at, returned)
  const started = hasPlace(d.call(toolCallId)) || placesLeft(d.turn) > 0
  d.emit({
    type: "result_received",
    turnId: d.turn.turnId,
    n: d.turn.events,
    at,
    event: {},
    detail: { toolCallId, returned, hooks, started }
  })
  proceed(d, toolCallId, at)
}

export const returnCall = (
  d: Draft,
  returned: Returned & { readonly toolCallId: string; readonly at: number; readonly hooks?: ReadonlyArray<number> }
) => {
  const { beside, durationMs, failure, output, reveal, usage } = returned
  receive(
    d,
    returned.toolCallId,
    returned.at,
    {
      ...(output === undefined ? {} : { output }),
      ...(beside === undefined ? {} : { beside }),
      ...(failure === undefined ? {} : { failure }),
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(reveal === undefined ? {} : { reveal }),
      ...(usage === undefined ? {} : { usage })
    },
    returned.hooks
  )
}

/** A hook has judged a call, or what it returned. */
export const decideCall = (d: Draft, decided: HookDecided, toolCallId: string) => {
  const { at } = decided
  const call = d.call(toolCallId)
  const ask = askOf(d, decided, call.name)
  sayDecision(d, decided, ask)
  if (decided.decision === "deny") settle(d, toolCallId, at, { failure: deniedBy(decided), ...spentOn(call) })
  else if (ask !== undefined) {
    park(d, { ...ask, ...(call.toolsetId === undefined ? {} : { toolsetId: call.toolsetId }) }, at, call)
    fill(d, at)
  } else proceed(d, toolCallId, at, decided.refused)
}

/** What the call has cost, whatever becomes of what it returned. */
export const spentOn = (call: Call) => {
  const { durationMs, usage } = returnedOf(call) ?? {}
  return {
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(usage === undefined ? {} : { usage })
  }
}

/** Takes a call on that waited, as if it had been allowed: by somebody, or by its wait's end. */
const release = (
  d: Draft,
  call: Call,
  wait: OpenWait,
  at: number,
  why: Parameters<typeof resolve>[3],
  refused: Due["refused"]
) => {
  // Whether it needs a place now is seen once it has been released: for a hook, or for its run.
  const left = why.hooks ?? (wait.type === "hook_ask" ? call.hooks.slice(1) : call.hooks)
  const isToRun = returnedOf(call) === undefined && call.client === undefined
  const started = (left.length > 0 || isToRun) && placesLeft(d.turn) > 0
  resolve(d, wait, at, { ...why, goesOn: true, started }, call)
  proceed(d, call.toolCallId, at, refused)
}

/** What a client says went wrong. */
export const clientFailure = ({ code, message }: { readonly code: string; readonly message: string }): Failure => ({
  code: "tool_error",
  text: `${code}: ${message}`
})

/** Somebody has answered what a call waits for. */
export const answerCall = (
  d: Draft,
  { answer, at, hooks, principal, refused }: AnswerWait,
  wait: OpenWait,
  { toolCallId }: Call
) => {
  const call = d.call(toolCallId)
  if (answer.type === "tool_result") {
    if ("output" in answer) {
      // What hooks have still to judge is told to nobody.
      const judged = hooks !== undefined && hooks.length > 0
      resolve(d, wait, at, { outcome: "result", by: principal, ...(judged ? {} : { output: answer.output }) }, call)
      return receive(d, toolCallId, at, { output: answer.output }, hooks)
    }
    resolve(d, wait, at, { outcome: "error", by: principal }, call)
    return receive(d, toolCallId, at, { failure: clientFailure(answer.error) }, hooks)
  }
  const { decision, reason, rewrite, scope } = answer
  const said = { outcome: decision, by: principal, ...(reason === undefined ? {} : { reason }) }
  if (decision === "allow") {
    return release(
      d,
      call,
      wait,
      at,
      {
        ...said,
        ...(rewrite === undefined ? {} : { rewrite }),
        ...(hooks === undefined ? {} : { hooks }),
        ...(scope === "thread" ? { forAll: true } : {})
      },
      refused
    )
  }
  resolve(d, wait, at, said, call)
  const code = wait.type === "role_approval" ? "tool_denied" : "hook_denied"
  settle(d, toolCallId, at, { failure: { code, text: reason ?? "The call was not approved." }, ...spentOn(call) })
}

/** Nobody has answered in time. */
export const expireCall = (d: Draft, wait: OpenWait, { toolCallId }: Call, at: number, refused: Due["refused"]) => {
  const call = d.call(toolCallId)
  if (wait.type !== "client_tool" && wait.onTimeout === "allow")
    return release(d, call, wait, at, { outcome: "expired" }, refused)
  resolve(d, wait, at, { outcome: "expired" }, call)
  settle(d, toolCallId, at, {
    failure:
      wait.type === "client_tool"
        ? { code: "tool_timeout", text: "The client did not answer in time." }
        : { code: "wait_expired", text: "Nobody approved the call in time." },
    ...spentOn(call)
  })
}
