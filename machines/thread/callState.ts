/**
 * Each fact about a call moves it to another state. Pure: the live thread and a fold go through it, and a test holds
 * its steps to the edges of callChart.ts, one by one and both ways.
 */
import type { Rewrite } from "./commands.ts"
import { type Call, type CallState, type OpenWait, type Returned, returnedOf, withWord } from "./context.ts"
import type { HookDecisionFact, ResultReceived, ToolIntent, WaitResolved } from "./facts.ts"

/** It takes a place among those that run (C1). */
export const hasPlace = ({ state: { type } }: Call) =>
  type === "judging" || type === "running" || type === "judgingResult"

/** The tool itself runs, or may have run. */
export const runs = ({ state }: Call) => state.type === "running"

/** A person's word on its grant is still wanted. */
export const wantsApproval = ({ grant }: Pick<Call, "grant">) => grant?.isGiven === false

/** The grant that a person has given it. */
export const approvedOf = ({ grant }: Pick<Call, "grant">) => (grant?.isGiven === true ? grant.key : undefined)

/** The call as a person has allowed it. */
export const approved = <C extends Pick<Call, "grant">>(call: C): C =>
  call.grant === undefined ? call : { ...call, grant: { ...call.grant, isGiven: true } }

/** Where a call goes on before its result: somebody's approval, its hooks, a client or its run. */
const onward = (call: Omit<Call, "state">, isPlaced: boolean): CallState => {
  if (wantsApproval(call)) return { type: "wanted" }
  if (call.hooks.length > 0) return { type: isPlaced ? "judging" : "waiting" }
  if (call.client !== undefined) return { type: "wanted" }
  return { type: isPlaced ? "running" : "waiting" }
}

/** What was returned needs a place only as long as hooks have to judge it. */
const onwardResult = (returned: Returned, hooks: ReadonlyArray<number>, isPlaced: boolean): CallState =>
  isPlaced || hooks.length === 0 ? { type: "judgingResult", returned } : { type: "waiting", returned }

/** With another input: what a person has approved was the one before, so that they are asked again. */
const reworded = (call: Call, input: unknown): Call => ({
  ...call,
  input,
  ...(call.grant === undefined ? {} : { grant: { ...call.grant, isGiven: false } })
})

/** The call as a hook or a person has it rewritten, with the hooks that have still to answer. */
const judgedAs = (call: Call, hooks: ReadonlyArray<number>, rewrite: Rewrite | undefined): Call => {
  const judged: Call = { ...call, hooks }
  const returned = returnedOf(call)
  if (returned === undefined)
    return rewrite !== undefined && "toolInput" in rewrite ? reworded(judged, rewrite.toolInput) : judged
  return rewrite !== undefined && "toolOutput" in rewrite
    ? { ...judged, state: { type: "judgingResult", returned: withWord(returned, rewrite.toolOutput) } }
    : judged
}

/** A hook, or a person in its place, has let it pass: it goes on with what is judged as it is now. */
const passed = (call: Call, isPlaced: boolean): Call => {
  const returned = returnedOf(call)
  return {
    ...call,
    state: returned === undefined ? onward(call, isPlaced) : onwardResult(returned, call.hooks, isPlaced)
  }
}

/** After its tool_intent. */
export const intendedCall = ({ detail, event }: ToolIntent): Call => {
  const { approval, hooks = [], response: _, started, ...rest } = detail
  const { providerToolCallId, toolCallId, toolInput: input, toolName: name } = event
  const call = {
    toolCallId,
    providerToolCallId,
    name,
    input,
    ...rest,
    hooks,
    ...(approval === undefined ? {} : { grant: { key: approval, isGiven: false } })
  }
  return { ...call, state: onward(call, started) }
}

/** After a call_started: a place is its own. */
export const placedCall = (call: Call): Call => passed(call, true)

/** After a hook_decision about it. A deny is followed by its result, an ask by a wait. */
export const judgedCall = (call: Call, { detail, event: { hook } }: HookDecisionFact): Call => {
  if (hook.decision === "deny") return call
  const { decided = {} } = call
  const [asking, ...later] = call.hooks
  // The hook that asks is not through yet.
  const isAsking = hook.decision === "ask" && asking !== undefined
  const left = detail?.hooks ?? later
  // Who defers has no opinion, and rewrites nothing.
  const next = judgedAs(
    { ...call, decided: { ...decided, [hook.index]: (decided[hook.index] ?? 0) + 1 } },
    isAsking ? [asking, ...left] : left,
    hook.decision === "defer" ? undefined : detail?.rewrite
  )
  return isAsking ? next : passed(next, true)
}

/** After a wait_created for it. */
export const parkedCall = (call: Call, wait: OpenWait): Call => {
  const returned = returnedOf(call)
  if (returned !== undefined) return { ...call, state: { type: "askingResult", returned, wait } }
  const types = { role_approval: "approving", hook_ask: "asking", client_tool: "client" } as const
  return { ...call, state: { type: types[wait.type], wait } }
}

/** After a wait_resolved: where the fact has no detail, its result follows. */
export const answeredCall = (call: Call, { detail }: WaitResolved): Call => {
  const { state } = call
  if (!("wait" in state)) return call
  const isPlaced = detail?.started === true
  if (state.type === "client" || detail === undefined) {
    return {
      ...call,
      state: "returned" in state ? { type: "judgingResult", returned: state.returned } : { type: "wanted" }
    }
  }
  const { hooks, rewrite } = detail
  if (state.type !== "approving") return passed(judgedAs(call, hooks ?? call.hooks.slice(1), rewrite), isPlaced)
  // A person's own words are approved with the answer, and judged by the hooks from the first on.
  const allowed = approved(call)
  return passed(
    rewrite !== undefined && "toolInput" in rewrite
      ? { ...allowed, input: rewrite.toolInput, hooks: hooks ?? allowed.hooks }
      : allowed,
    isPlaced
  )
}

/** After a result_received: hooks are to judge what it has returned. */
export const returnedCall = (call: Call, { detail }: ResultReceived): Call => ({
  ...call,
  hooks: detail.hooks,
  state: onwardResult(detail.returned, detail.hooks, detail.started)
})
