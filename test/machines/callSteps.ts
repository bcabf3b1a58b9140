/**
 * The steps that facts make on the charts of a call and of a chain of hooks. Calls themselves do not run these charts:
 * `Walk` holds each step that they make to an edge, callChart.test.ts each edge to a step.
 */
import type { AnyStateMachine, AnyStateNode } from "xstate"
import { type Call, type Context, openWaits, returnedOf, type Turn } from "../../machines/thread/context.ts"
import { wantsApproval } from "../../machines/thread/callState.ts"
import { evolve } from "../../machines/thread/evolve.ts"
import { type Fact, isPublic } from "../../machines/thread/facts.ts"

const step = (from: string, fact: Fact, to: string) => `${from} --${fact.type}--> ${to}`

export const edgesOf = (machine: AnyStateMachine): ReadonlyArray<string> =>
  Object.values(machine.root.states).flatMap((state: AnyStateNode) =>
    [...state.transitions.values()]
      .flat()
      .flatMap(({ eventType, target = [] }) => target.map(({ key }) => `${state.key} --${eventType}--> ${key}`))
  )

/** Each fact with the turn before it and after it. */
const turnsAround = ({ pos, seq, turn }: Context, facts: ReadonlyArray<Fact>) => {
  const around: Array<{ readonly fact: Fact; readonly before: Turn | null; readonly after: Turn | null }> = []
  for (const fact of facts) {
    const before = turn
    pos++
    if (isPublic(fact)) seq++
    turn = evolve(before, fact, pos, seq)
    around.push({ fact, before, after: turn })
  }
  return around
}

const aboutCall = (fact: Fact): string | undefined => {
  if ("toolCallId" in fact.event) return fact.event.toolCallId
  return fact.type === "call_started" || fact.type === "result_received" ? fact.detail.toolCallId : undefined
}

/** The steps of calls. A fact moves the call that it is about, and no other. */
export const callSteps = (from: Context, facts: ReadonlyArray<Fact>): ReadonlyArray<string> =>
  turnsAround(from, facts).flatMap(({ after, before, fact }) => {
    const was = new Map(before?.calls.map((call) => [call.toolCallId, call.state.type]))
    const is = new Map(after?.calls.map((call) => [call.toolCallId, call.state.type]))
    const about = aboutCall(fact)
    return [...new Set([...was.keys(), ...is.keys()])].flatMap((id) => {
      const state = is.get(id) ?? "settled"
      return id === about || was.get(id) !== state ? [step(was.get(id) ?? "wanted", fact, state)] : []
    })
  })

interface Chain {
  readonly state: "judging" | "asking"
  readonly left: number
}

const chainStates: { readonly [State in Call["state"]["type"]]?: Chain["state"] } = {
  waiting: "judging",
  judging: "judging",
  judgingResult: "judging",
  asking: "asking",
  askingResult: "asking"
}

const chainOfCall = (call: Call): ReadonlyArray<readonly [string, Chain]> => {
  const state = chainStates[call.state.type]
  const name = `${call.toolCallId} ${returnedOf(call) === undefined ? "before" : "after"}`
  return state === undefined || call.hooks.length === 0 ? [] : [[name, { state, left: call.hooks.length }]]
}

/** What hooks have still to judge. */
const chainsOf = (turn: Turn | null) => {
  if (turn === null) return new Map<string, Chain>()
  const { calls, opening, reviewing } = turn
  const [message] = opening?.messages ?? []
  const state = openWaits(turn).some(({ call }) => call === undefined) ? "asking" : "judging"
  return new Map<string, Chain>([
    ...(message === undefined ? [] : [[`message ${message.n}`, { state, left: message.hooks.length }] as const]),
    ...(reviewing === undefined ? [] : [["response", { state, left: reviewing.hooks.length }] as const]),
    ...calls.flatMap((call) => chainOfCall(call))
  ])
}

const denies = (fact: Fact) =>
  (fact.type === "hook_decision" && fact.event.hook.decision === "deny") ||
  (fact.type === "wait_resolved" && fact.detail === undefined)

/** The steps of chains of hooks. A grant that is wanted anew interrupts the chain of its call: it begins again. */
export const hookSteps = (from: Context, facts: ReadonlyArray<Fact>): ReadonlyArray<string> =>
  turnsAround(from, facts).flatMap(({ after, before, fact }) => {
    if (fact.type !== "hook_decision" && fact.type !== "wait_created" && fact.type !== "wait_resolved") return []
    const about = aboutCall(fact)
    const is = chainsOf(after)
    // Hooks are left, and none is asked: a person's approval comes first, and the chain begins again.
    const interrupted = after?.calls.some((call) => call.toolCallId === about && wantsApproval(call)) === true
    if (interrupted) return []
    return [...chainsOf(before)].flatMap(([name, { left, state }]) => {
      const isAbout = about === undefined ? !name.startsWith("call_") : name.startsWith(about)
      if (!isAbout || left === 0) return []
      const next = is.get(name)
      const to = denies(fact) ? "denied" : next === undefined || next.left === 0 ? "passed" : next.state
      return [step(state, fact, to)]
    })
  })
