/**
 * The way back: what a thread is, from its carry, the facts of its unfinished turn and the inputs
 * that wait.
 *
 * F1. After any sequence of commands, `fold` gives the live snapshot: state, whole context.
 * F2. `carry` is what `carryOf` folds from the whole journal.
 */
import type { StateValueFrom } from "xstate"
import { addUsage, noUsage } from "../../src/domain/usage.ts"
import { chart, type Snapshot } from "./chart.ts"
import type { Input } from "../../src/domain/input.ts"
import { blank, type Call, type Carry, type Context, ended, type Turn } from "./context.ts"
import type { Fact, ResponseDetail } from "./facts.ts"
import { isPublic } from "./facts.ts"

export interface Folded {
  readonly carry: Carry
  /** Position before the first of `facts`, and the seq there. */
  readonly pos: number
  readonly seq: number
  readonly facts: ReadonlyArray<Fact>
  readonly pending: ReadonlyArray<Input>
}

const parked = (calls: ReadonlyArray<Call>) => calls.length > 0 && calls.every((call) => call.phase === "parked")

const respondedTo = (turn: Turn, response: ResponseDetail | undefined): Turn =>
  response === undefined ? turn : { ...turn, step: response.step, attempt: 1, usage: addUsage(turn.usage, response.usage) }

const changeCall = (turn: Turn, toolCallId: string, change: Partial<Call>): Turn =>
  ({ ...turn, calls: turn.calls.map((call) => call.toolCallId === toolCallId ? { ...call, ...change } : call) })

/** A turn after one more of its facts; null when it is over. `seq` is the fact's own. */
const advance = (turn: Turn | null, fact: Fact, pos: number, seq: number): Turn | null => {
  if (fact.type === "user_message" && turn === null) {
    if (fact.detail === undefined) return null
    const { plan } = fact.detail
    return {
      turnId: fact.turnId, plan, principal: fact.event.principal, openedPos: pos, deadlineAt: fact.at + plan.maxTurnMs,
      events: 1, step: 1, target: 0, attempt: 1, usage: noUsage, repliesTo: seq, calls: []
    }
  }
  if (turn === null) return null
  const counted = { ...turn, events: turn.events + 1 }
  switch (fact.type) {
    case "user_message":
      return { ...counted, repliesTo: seq }
    case "assistant_message":
      return respondedTo(counted, fact.detail)
    case "tool_intent": {
      const { providerToolCallId, toolCallId, toolInput: input, toolName: name } = fact.event
      const { rerunnable, response, started } = fact.detail
      const call: Call = { toolCallId, providerToolCallId, name, input, rerunnable, phase: started ? "running" : "ready" }
      return respondedTo({ ...counted, calls: [...counted.calls, call] }, response)
    }
    case "wait_created": {
      const { toolCallId, toolsetId, waitId } = fact.event
      return changeCall(counted, toolCallId, { phase: "parked", wait: { waitId, toolsetId, expiresAt: fact.detail.expiresAt } })
    }
    case "tool_result": {
      const calls = counted.calls.filter((call) => call.toolCallId !== fact.event.toolCallId)
      // The running time starts anew when the turn leaves awaiting.
      const deadlineAt = parked(turn.calls) && !parked(calls) ? fact.at + turn.plan.maxTurnMs : turn.deadlineAt
      return { ...counted, calls, deadlineAt }
    }
    case "call_started":
      return changeCall(counted, fact.detail.toolCallId, { phase: "running" })
    case "attempt_failed": {
      const { attempt, retryAt, step, target } = fact.detail
      const { retryAt: _, ...rest } = counted
      return { ...rest, step, target, attempt, ...(retryAt === undefined ? {} : { retryAt }) }
    }
    case "attempt_started": {
      const { retryAt: _, ...rest } = counted
      return rest
    }
    case "wait_resolved":
      return counted
    default:
      return null
  }
}

const stateOf = (turn: Turn | null, carry: Carry): StateValueFrom<typeof chart> => {
  if (turn === null) {
    return carry.last?.outcome ?? "idle"
  }
  if (turn.calls.length > 0) return parked(turn.calls) ? "awaiting" : { running: "acting" }
  return { running: turn.retryAt === undefined ? "sampling" : "pausing" }
}

export const fold = ({ carry, facts, pending, pos, seq }: Folded): Snapshot => {
  let turn: Turn | null = null
  /** The turn's last response was written and the next one begins. */
  let responded = false
  for (const fact of facts) {
    pos++
    if (isPublic(fact)) seq++
    turn = advance(turn, fact, pos, seq)
    if (fact.type === "assistant_message" || fact.type === "tool_intent") responded = true
    if (fact.type === "attempt_failed" || (fact.type === "user_message" && turn?.openedPos === pos)) responded = false
  }
  if (turn !== null && responded && turn.calls.length === 0) turn = { ...turn, step: turn.step + 1 }
  const context: Context = { pos, seq, pending, turn, carry }
  return chart.resolveState({ value: stateOf(turn, carry), context })
}

/** The carry, from a thread's whole journal. */
export const carryOf = (facts: Iterable<Fact>): Carry => {
  let carry = blank.carry
  for (const fact of facts) {
    switch (fact.type) {
      case "user_message": {
        const model = fact.detail?.plan.models[0]
        if (model !== undefined) carry = { ...carry, model }
        break
      }
      case "turn_completed":
      case "turn_cancelled":
      case "turn_failed": {
        const outcome = fact.type === "turn_completed" ? "completed" : fact.type === "turn_failed" ? "failed" : "cancelled"
        carry = ended(carry, fact.turnId, outcome, fact.event.usage)
      }
    }
  }
  return carry
}

/** A snapshot as data, for comparing. */
export const plain = ({ context, value }: Snapshot) => ({ value, context })
