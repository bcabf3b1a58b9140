/**
 * A thread's facts, inputs and carry as the journal's rows, and back. Each text is made once: it goes
 * to the database, to watchers and into the answers of the events list as it is.
 */
import { admissionOf, endOf, resolutionOf, resultOf } from "../../src/domain/once.ts"
import { defaultLimits } from "../../src/domain/profile.ts"
import { toTimestamp } from "../../src/domain/time.ts"
import type { FactRow, InputRow, StoredFact, WaitRow } from "../../src/journal/Journal.ts"
import { carryText, readCarry } from "../../src/store/threadCarry.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Input } from "../../src/domain/input.ts"
import type { Plan } from "../../machines/thread/commands.ts"
import type { Call, Carry, Context, OpenWait } from "../../machines/thread/context.ts"

import { type Fact, isPublic } from "../../machines/thread/facts.ts"

/** What the database refuses a second time: an admission, the end of a turn, a result, a resolution. */
const onceOf = (fact: Fact): string | null => {
  switch (fact.type) {
    case "user_message":
      return admissionOf(fact.event.inputId)
    case "turn_completed":
    case "turn_cancelled":
    case "turn_failed":
      return endOf(fact.turnId)
    case "tool_result":
      return resultOf(fact.event.toolCallId)
    case "wait_resolved":
      return resolutionOf(fact.event.waitId)
    default:
      return null
  }
}

const usual = {
  maxSteps: defaultLimits.maxSteps, maxTurnMs: defaultLimits.maxTurnSeconds * 1000, maxParallelTools: defaultLimits.maxParallelTools
}
type UsualPlan = Omit<Plan, keyof typeof usual> & Partial<Plan>

/** A plan without the bounds that most have: it stands in every turn's first fact. */
const shortPlan = ({ maxParallelTools, maxSteps, maxTurnMs, ...plan }: Plan): UsualPlan => ({
  ...plan,
  ...(maxSteps === usual.maxSteps ? {} : { maxSteps }),
  ...(maxTurnMs === usual.maxTurnMs ? {} : { maxTurnMs }),
  ...(maxParallelTools === usual.maxParallelTools ? {} : { maxParallelTools })
})

const detailOf = (fact: Fact) => {
  if (!("detail" in fact) || fact.detail === undefined) return null
  return JSON.stringify(fact.type === "user_message" ? { ...fact.detail, plan: shortPlan(fact.detail.plan) } : fact.detail)
}

export const factRow = (fact: Fact): FactRow => ({
  type: fact.type,
  turn: fact.turnId,
  n: fact.n,
  public: isPublic(fact),
  event: JSON.stringify(fact.event),
  detail: detailOf(fact),
  once: onceOf(fact),
  at: fact.at
})

/** The journal holds what `factRow` wrote: the cast says so, and the tests of the fold hold it to that. */
export const factOf = (row: StoredFact): Fact => {
  const detail = row.detail === null ? undefined : JSON.parse(row.detail)
  if (detail?.plan !== undefined) detail.plan = { ...usual, ...detail.plan }
  return { type: row.type, turnId: row.turn, n: row.n, at: row.at, event: JSON.parse(row.event), ...(detail === undefined ? {} : { detail }) } as Fact
}

export const inputRow = ({ inputId, ord, ...rest }: Input, state: InputRow["state"] = "pending"): InputRow =>
  ({ id: inputId, ord, state, body: JSON.stringify(rest) })

export const inputOf = (row: InputRow): Input => ({ ...(JSON.parse(row.body) as Omit<Input, "inputId" | "ord">), inputId: row.id, ord: row.ord })

export const carryIn = ({ carry, turn }: Context) =>
  carryText({ ...carry, ...(turn === null ? {} : { turn: { turnId: turn.turnId, usage: turn.usage } }) })

export const carryOf = (text: string): Carry => {
  const { turn: _, ...carry } = readCarry(text)
  return carry
}

/** The earliest moment at which the thread has something to do: while a turn runs, since it began. */
export const runnableAt = ({ context: { turn }, value }: Snapshot): number | null => {
  if (turn === null) return null
  if (value === "awaiting") return Math.min(...turn.calls.map((call) => call.wait?.expiresAt ?? Infinity))
  return turn.retryAt ?? turn.deadlineAt - turn.plan.maxTurnMs
}

/** The next moment at which the live thread wants to be told the time. */
export const nextDue = ({ context: { turn }, value }: Snapshot): number | null => {
  if (turn === null) return null
  const expiries = turn.calls.map((call) => call.wait?.expiresAt ?? Infinity)
  return Math.min(...expiries, value === "awaiting" ? Infinity : Math.min(turn.deadlineAt, turn.retryAt ?? Infinity))
}

/** Rows of waiting inputs that a step changed. An admitted input's row goes, its fact is the proof; a cancelled one's stays. */
export const inputChanges = (before: Context, after: Context, facts: ReadonlyArray<Fact>) => {
  if (before.pending === after.pending) return undefined
  const admitted = new Set(facts.flatMap((fact) => fact.type === "user_message" ? [fact.event.inputId] : []))
  const known = new Map(before.pending.map((input) => [input.inputId, input]))
  const left = new Set(after.pending.map((input) => input.inputId))
  const put = after.pending.filter((input) => known.get(input.inputId) !== input).map((input) => inputRow(input))
  const drop: Array<string> = []
  for (const input of before.pending) {
    if (left.has(input.inputId)) continue
    if (admitted.has(input.inputId)) drop.push(input.inputId)
    else put.push(inputRow(input, "cancelled"))
  }
  return put.length === 0 && drop.length === 0 ? undefined : { put, drop }
}

/** A wait as the API shows it, without its id. */
export const waitRecord = (turnId: string, call: Pick<Call, "toolCallId" | "name" | "input">, wait: Pick<OpenWait, "toolsetId" | "expiresAt">) => ({
  turnId, type: "client_tool" as const, target: "client" as const, state: "open" as const, expiresAt: toTimestamp(wait.expiresAt),
  toolCallId: call.toolCallId, toolName: call.name, toolInput: call.input, toolsetId: wait.toolsetId
})

/** Rows of open waits that a step changed: all of one turn's, since waits do not outlive it. */
export const waitChanges = (before: Context, after: Context) => {
  const open = ({ turn }: Context) => (turn?.calls ?? []).filter((call) => call.wait !== undefined)
  const was = open(before)
  const is = open(after)
  if (was.length === 0 && is.length === 0) return undefined
  const known = new Set(was.map((call) => call.toolCallId))
  const left = new Set(is.map((call) => call.toolCallId))
  const put = is.flatMap((call): ReadonlyArray<WaitRow> =>
    call.wait === undefined || after.turn === null || known.has(call.toolCallId)
      ? []
      : [{ id: call.wait.waitId, target: "client", body: JSON.stringify(waitRecord(after.turn.turnId, call, call.wait)) }])
  const drop = was.flatMap((call) => call.wait === undefined || left.has(call.toolCallId) ? [] : [call.wait.waitId])
  return put.length === 0 && drop.length === 0 ? undefined : { put, drop }
}
