/** A thread as people look at it: its states, what goes on in them, and what may come next. No words of anybody. */
import { toTimestamp } from "../../src/domain/time.ts"
import type { Input } from "../../src/domain/input.ts"
import type { Beginning, Doing, Now, PossibleEvent } from "../inspected.ts"
import { leafOf } from "../inspected.ts"
import { chart, type Snapshot } from "./chart.ts"
import { type Call, type Carry, deadlineOf, type OpenWait, openWaits, type Turn, waitOf } from "./context.ts"
import type { Job } from "./draft.ts"
import { type Fact, typeOf } from "./facts.ts"
import { evolveTurnSoFar, stateOf, turnOf, type TurnSoFar } from "./fold.ts"
import { possible } from "./inspect.ts"
import { resume } from "./resume.ts"
import { fullTurn } from "./turn.ts"

/** Codes of commands in journals: added to, never changed. */
export const causes = {
  submit: 1,
  edit: 2,
  remove: 3,
  promote: 4,
  cancel: 5,
  compact: 6,
  archive: 7,
  due: 8,
  poison: 9,
  "model.replied": 10,
  "model.failed": 11,
  "prompt.long": 12,
  "summary.made": 13,
  "summary.failed": 14,
  "tool.returned": 15,
  "hook.decided": 16,
  answer: 17
} as const

export interface FoldedThread extends TurnSoFar {
  /** How the last turn ended, where it has not completed. */
  readonly last: Carry["last"]
}

const outcomes = { turn_failed: "failed", turn_cancelled: "cancelled" } as const

const lastAfter = ({ before }: Beginning): Carry["last"] => {
  if (before?.type !== "turn_failed" && before?.type !== "turn_cancelled") return undefined
  return { turnId: before.turn ?? "", outcome: outcomes[before.type] }
}

export const begin = (from: Beginning): FoldedThread => ({
  pos: from.pos,
  seq: from.seq,
  turn: null,
  responded: false,
  last: lastAfter(from)
})

export const evolveFolded = (folded: FoldedThread, fact: Fact): FoldedThread => {
  const next = evolveTurnSoFar(folded, fact)
  switch (fact.type) {
    case "turn_completed":
      return { ...next, last: undefined }
    case "turn_failed":
    case "turn_cancelled":
      return { ...next, last: { turnId: fact.turnId, outcome: outcomes[fact.type] } }
    default:
      return { ...next, last: folded.last }
  }
}

const standing = (folded: FoldedThread) => stateOf(turnOf(folded), folded.last)

export const stateIn = (folded: FoldedThread) => leafOf({ value: standing(folded) })

/** Of an input that was turned away only its turn's end tells. */
export const entered = (fact: Fact): ReadonlyArray<string> => {
  switch (fact.type) {
    case "user_message":
      return fact.n === 0 && fact.detail?.plan === undefined ? [] : ["running.next"]
    case "tool_intent":
      return ["running.acting"]
    case "response_received":
      return ["running.reviewing"]
    case "turn_failed": {
      const { failureCode, failureText } = fact.event
      // The last response that the turn may have was of calls.
      return failureCode === fullTurn.code && failureText !== fullTurn.text ? ["running.acting", "failed"] : ["failed"]
    }
    default: {
      const outcome = typeOf(fact).ends
      return outcome === undefined ? [] : [outcome === "completed" ? "idle" : outcome]
    }
  }
}

const doingOf = (job: Job, { attempt, calls }: Turn): ReadonlyArray<Doing> => {
  switch (job.type) {
    case "sample": {
      const { modelId, step } = job.params
      return [{ type: "sample", step, attempt, modelId }]
    }
    case "summarise":
      return [{ type: "summarise", attempt: job.params.round, modelId: job.params.modelId }]
    case "runTool": {
      const { toolCallId } = job.params
      const toolName = calls.find((call) => call.toolCallId === toolCallId)?.name ?? job.params.name
      return [{ type: "runTool", toolCallId, toolName }]
    }
    case "askHook": {
      const { data, index } = job.params
      return [
        {
          type: "askHook",
          hookIndex: index,
          point: data.point,
          ...("toolCallId" in data ? { toolCallId: data.toolCallId } : {})
        }
      ]
    }
    case "abandon":
      return []
  }
}

const waiting = ({ expiresAt, target, waitId }: OpenWait, call: Call | undefined): Doing => ({
  type: "wait",
  waitId,
  target,
  expiresAt: toTimestamp(expiresAt),
  ...(call === undefined ? {} : { toolCallId: call.toolCallId })
})

export const doing = (folded: FoldedThread): ReadonlyArray<Doing> => {
  const turn = turnOf(folded)
  if (turn === null) return []
  const value = stateOf(turn, folded.last)
  const context = { pos: folded.pos, seq: folded.seq, pending: [], turn, carry: { usage: turn.usage } }
  return [
    ...resume(chart.resolveState({ value, context })).flatMap((job) => doingOf(job, turn)),
    ...(turn.retryAt === undefined ? [] : [{ type: "pause", until: toTimestamp(turn.retryAt) }]),
    ...openWaits(turn).map(({ call, wait }) => waiting(wait, call))
  ]
}

/** The chain of hooks that a call is in, by the chart of chains. */
const chainOf = (call: Call) => {
  const [index] = call.hooks
  const wait = waitOf(call)
  switch (call.state.type) {
    case "judging":
      return index === undefined ? {} : { hook: { index, point: "before_tool_call", state: "judging" } }
    case "judgingResult":
      return index === undefined ? {} : { hook: { index, point: "after_tool_result", state: "judging" } }
    case "asking":
    case "askingResult":
      return wait?.hook === undefined
        ? {}
        : { hook: { index: wait.hook.index, point: wait.hook.point, state: "asking" } }
    default:
      return {}
  }
}

/** An input that waits: nothing of its words. */
const shown = ({ forTurnId, inputId, mode, queuedAt }: Input) => ({
  inputId,
  submitMode: mode,
  queuedAt: toTimestamp(queuedAt),
  ...(forTurnId === undefined ? {} : { turnId: forTurnId })
})

export const contextIn = (folded: FoldedThread) => {
  const turn = turnOf(folded)
  if (turn === null) return {}
  const { attempt, calls, plan, step, target, turnId, usage } = turn
  return {
    turn: {
      turnId,
      step,
      attempt,
      modelId: plan.models[target] ?? "",
      deadlineAt: toTimestamp(deadlineOf(turn)),
      usage,
      calls: calls.map((call) => ({
        toolCallId: call.toolCallId,
        toolName: call.name,
        state: call.state.type,
        ...chainOf(call)
      }))
    }
  }
}

/** `carry` and `pending` are as they are now: the log does not keep the edits of what waits. */
export const nowIn = (folded: FoldedThread, carry: Carry, pending: ReadonlyArray<Input>): Now => {
  const turn = turnOf(folded)
  const value = stateOf(turn, carry.last)
  const context = { pos: folded.pos, seq: folded.seq, pending, turn, carry }
  const said = contextIn(folded)
  const steering = pending.filter(({ forTurnId }) => forTurnId !== undefined && forTurnId === turn?.turnId)
  return {
    possible: possibleIn(chart.resolveState({ value, context })),
    context: {
      ...("turn" in said ? { turn: { ...said.turn, steering: steering.map(({ inputId }) => inputId) } } : {}),
      pending: pending.map(shown)
    }
  }
}

/** What may come next of a thread as it is now. */
const possibleIn = (snapshot: Snapshot): ReadonlyArray<PossibleEvent> =>
  possible(snapshot).flatMap(({ event, guard, refused, ways }) => {
    const refusedBy = refused ?? (ways.length === 0 ? guard : undefined)
    if (ways.length === 0 && refusedBy === undefined) return []
    const targets = [...new Set(ways.flatMap(({ to }) => to ?? []))]
    return [{ event, targets, ...(refusedBy === undefined ? {} : { refusedBy }) }]
  })
