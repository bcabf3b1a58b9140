/**
 * A thread's facts, inputs and carry as the journal's rows, and back. Each text is made once: it goes
 * to the database, to watchers and into the answers of the events list as it is.
 */
import { body } from "../../src/domain/ids.ts"
import { toTimestamp } from "../../src/domain/time.ts"
import type { FactRow, InputRow, StoredFact, WaitRow } from "../../src/journal/Journal.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Input } from "../../machines/thread/commands.ts"
import type { Call, Carry, Context, OpenWait } from "../../machines/thread/context.ts"

import { type Fact, isPublic } from "../../machines/thread/facts.ts"

/** What the database refuses a second time: an admission, the end of a turn, a result, a resolution. */
const onceOf = (fact: Fact): string | null => {
  switch (fact.type) {
    case "user_message":
      return `i${body(fact.event.inputId)}`
    case "turn_completed":
    case "turn_cancelled":
    case "turn_failed":
      return `e${body(fact.turnId)}`
    case "tool_result":
      return `r${body(fact.event.toolCallId)}`
    case "wait_resolved":
      return `w${body(fact.event.waitId)}`
    default:
      return null
  }
}

export const factRow = (fact: Fact): FactRow => ({
  type: fact.type,
  turn: fact.turnId,
  n: fact.n,
  public: isPublic(fact),
  event: JSON.stringify(fact.event),
  detail: "detail" in fact && fact.detail !== undefined ? JSON.stringify(fact.detail) : null,
  once: onceOf(fact),
  at: fact.at
})

/** The journal holds what `factRow` wrote: the cast says so, and the contract tests hold it to that. */
export const factOf = (row: StoredFact): Fact => ({
  type: row.type, turnId: row.turn, n: row.n, at: row.at, event: JSON.parse(row.event),
  ...(row.detail === null ? {} : { detail: JSON.parse(row.detail) })
}) as Fact

export const inputRow = ({ inputId, ord, ...rest }: Input, state: InputRow["state"] = "pending"): InputRow =>
  ({ id: inputId, ord, state, body: JSON.stringify(rest) })

export const inputOf = (row: InputRow): Input => ({ ...(JSON.parse(row.body) as Omit<Input, "inputId" | "ord">), inputId: row.id, ord: row.ord })

/** The head's carry: what outlives a turn, and of the running one what a reader of the head wants to know. */
export interface StoredCarry extends Carry {
  readonly turn?: { readonly turnId: string; readonly usage: Carry["usage"] }
}

export const carryText = ({ carry, turn }: Context) =>
  JSON.stringify({ ...carry, ...(turn === null ? {} : { turn: { turnId: turn.turnId, usage: turn.usage } }) } satisfies StoredCarry)

export const carryOf = (text: string): Carry => {
  const { turn: _, ...carry } = JSON.parse(text) as StoredCarry
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
