/**
 * A thread's facts, inputs and carry as the journal's rows, and back. Each text is made once: it goes
 * to the database, to watchers and into the answers of the events list as it is.
 */
import { admissionOf, endOf, resolutionOf, resultOf } from "../../../src/domain/once.ts"
import { defaultLimits } from "../../../src/agents/profile.ts"
import { toTimestamp } from "../../../src/domain/time.ts"
import type { FactRow, InputRow, LoggedFact, StoredFact, WaitRow } from "../../../src/journal/Journal.ts"
import { carryText, readCarry } from "../../../src/threads/carry.ts"
import { openText, overText } from "../../../src/waits/waitRow.ts"
import type { Snapshot } from "../../../machines/thread/chart.ts"
import { statusOf } from "../../../machines/thread/decide.ts"
import { withContentText } from "./contentText.ts"
import type { Input } from "../../../src/domain/input.ts"
import type { PendingWait, WaitRecord, WaitSubject } from "../../../src/domain/thread.ts"
import type { AnswerWait, Plan } from "../../../machines/thread/commands.ts"
import {
  type Carry,
  type Context,
  deadlineOf,
  openWaits,
  returnedOf,
  type Turn
} from "../../../machines/thread/context.ts"
import { type Fact, isPublic, typeOf } from "../../../machines/thread/facts.ts"
import { contentOf, resultFields } from "../../../machines/thread/subject.ts"
import type { ActorView } from "../../Kind.ts"

type OpenWaits = ReturnType<typeof openWaits>

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
  maxSteps: defaultLimits.maxSteps,
  maxTurnMs: defaultLimits.maxTurnSeconds * 1000,
  maxParallelTools: defaultLimits.maxParallelTools
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
  if (fact.type !== "user_message" || fact.detail.plan === undefined) return JSON.stringify(fact.detail)
  return JSON.stringify({ ...fact.detail, plan: shortPlan(fact.detail.plan) })
}

export const factRow = (fact: Fact): FactRow => ({
  type: fact.type,
  turn: fact.turnId,
  n: fact.n,
  public: isPublic(fact),
  listed: typeOf(fact).listed === true,
  event: fact.type === "user_message" ? withContentText(fact.event) : JSON.stringify(fact.event),
  detail: detailOf(fact),
  once: onceOf(fact),
  at: fact.at
})

/** The journal holds what `factRow` wrote: the cast says so, and the tests of the fold hold it to that. */
export const factOf = (row: Pick<StoredFact, "at" | "detail" | "event" | "n" | "turn" | "type">): Fact => {
  const detail = row.detail === null ? undefined : JSON.parse(row.detail)
  if (detail?.plan !== undefined) detail.plan = { ...usual, ...detail.plan }
  return {
    type: row.type,
    turnId: row.turn,
    n: row.n,
    at: row.at,
    event: JSON.parse(row.event),
    ...(detail === undefined ? {} : { detail })
  } as Fact
}

/** A fact of a whole log: what it says, not when. */
export type LoggedFactBody = Fact extends infer F ? (F extends Fact ? Omit<F, "at"> : never) : never

/** As `factOf`. A plan is as short as it was written: nobody reads one here. */
export const loggedFactBody = ({ pos: _, seq: __, turn, ...rest }: LoggedFact): LoggedFactBody =>
  ({ ...rest, turnId: turn }) as LoggedFactBody

export const inputRow = ({ inputId, ord, ...rest }: Input): InputRow => ({
  id: inputId,
  ord,
  state: "pending",
  body: JSON.stringify(rest)
})

/**
 * `removed` tells one that was removed by name from those that were swept away with the queue
 * (src/threads/view.ts).
 */
const cancelledRow = ({ inputId, ord, ...rest }: Input, removed: boolean): InputRow => ({
  id: inputId,
  ord,
  state: "cancelled",
  body: JSON.stringify({ ...rest, ...(removed ? { removed } : {}) })
})

export const inputOf = (row: InputRow): Input => ({
  // The journal holds what `inputRow` wrote.
  ...(JSON.parse(row.body) as Omit<Input, "inputId" | "ord">),
  inputId: row.id,
  ord: row.ord
})

export const carryTextOf = ({ carry, turn }: Context) =>
  carryText({ ...carry, ...(turn === null ? {} : { turn: { turnId: turn.turnId, usage: turn.usage } }) })

export const parseCarry = (text: string): Carry => {
  const { turn: _, ...carry } = readCarry(text)
  return carry
}

const firstExpiry = (turn: Turn) => Math.min(...openWaits(turn).map(({ wait }) => wait.expiresAt))

/** When the first of what waits at rest came; null where nothing does. */
const waitingSince = (pending: Context["pending"]) =>
  pending.length === 0 ? null : Math.min(...pending.map(({ queuedAt }) => queuedAt))

/** The earliest moment at which the thread has something to do: while a turn runs, since it began. */
export const runnableAt = (snapshot: Snapshot): number | null => {
  const { pending, turn } = snapshot.context
  if (turn === null) return waitingSince(pending)
  if (statusOf(snapshot) === "awaiting") return firstExpiry(turn)
  return turn.retryAt ?? turn.runningSince
}

/** The next moment at which the live thread wants to be told the time. Time in line puts the turn's deadline off. */
export const nextDue = (snapshot: Snapshot, desk: ActorView<Snapshot>["desk"]): number | null => {
  const { pending, turn } = snapshot.context
  if (turn === null) return waitingSince(pending)
  return Math.min(
    firstExpiry(turn),
    statusOf(snapshot) === "awaiting"
      ? Infinity
      : Math.min(deadlineOf(turn) + desk.queuedMs(turn.runningSince), turn.retryAt ?? Infinity)
  )
}

/**
 * Rows of waiting inputs that a step changed. An admitted input's row goes, its fact is the proof; a cancelled one's
 * stays.
 */
export const inputChanges = (before: Context, after: Context, facts: ReadonlyArray<Fact>, removed?: string) => {
  if (before.pending === after.pending) return undefined
  const admitted = new Set(facts.flatMap((fact) => (fact.type === "user_message" ? [fact.event.inputId] : [])))
  const known = new Map(before.pending.map((input) => [input.inputId, input]))
  const left = new Set(after.pending.map((input) => input.inputId))
  const put = after.pending.filter((input) => known.get(input.inputId) !== input).map(inputRow)
  const drop: Array<string> = []
  for (const input of before.pending) {
    if (left.has(input.inputId)) continue
    if (admitted.has(input.inputId)) drop.push(input.inputId)
    else put.push(cancelledRow(input, input.inputId === removed))
  }
  return put.length === 0 && drop.length === 0 ? undefined : { put, drop }
}

/** A wait as the API shows it. */
export const pendingWait = (turnId: string, { call, wait }: OpenWaits[number]): PendingWait => ({
  id: wait.waitId,
  turnId,
  type: wait.type,
  state: "open",
  target: wait.target,
  expiresAt: toTimestamp(wait.expiresAt),
  ...(wait.hook === undefined
    ? {}
    : { hookId: wait.hook.hookId, point: wait.hook.point, processor: wait.hook.processor }),
  ...(wait.type === "role_approval" ? { point: "before_tool_call" as const } : {}),
  ...(wait.reason === undefined ? {} : { reason: wait.reason }),
  ...(call === undefined ? {} : { toolCallId: call.toolCallId, toolName: call.name, toolInput: call.input }),
  ...(wait.toolsetId === undefined ? {} : { toolsetId: wait.toolsetId })
})

/** As they are listed: oldest first. */
export const pendingWaits = (turn: Turn | null): ReadonlyArray<PendingWait> =>
  turn === null
    ? []
    : openWaits(turn)
        .toSorted((a, b) => a.wait.createdAt - b.wait.createdAt || (a.wait.waitId < b.wait.waitId ? -1 : 1))
        .map((open) => pendingWait(turn.turnId, open))

/** What a hook asks about, where the wait itself and the log do not show it. */
const unseenOf = ({ opening, reviewing }: Turn, { call, wait }: OpenWaits[number]): WaitSubject => {
  switch (wait.hook?.point) {
    case "before_turn_start": {
      const content = opening?.messages[0]?.content
      return content === undefined ? {} : { content }
    }
    case "after_model_response":
      return { content: contentOf(reviewing?.reply.text ?? "") }
    case "after_tool_result":
      return resultFields((call && returnedOf(call)) ?? {})
    default:
      return {}
  }
}

/** The call of a wait for a client's result. */
const owedIn = ({ call, wait }: OpenWaits[number]): Pick<WaitRow, "call"> =>
  wait.type !== "client_tool" || call === undefined
    ? {}
    : { call: { id: call.toolCallId, ...(wait.toolsetId === undefined ? {} : { toolset: wait.toolsetId }) } }

const states = { expired: "expired", cancelled: "cancelled" } as const

/**
 * Rows of waits that a step opened or closed; `by` is the answer that it decided. A turn that has just been opened
 * waits for nobody.
 */
export const waitChanges = (
  before: Context,
  after: Context,
  facts: ReadonlyArray<Fact>,
  by?: AnswerWait
): ReadonlyArray<WaitRow> => {
  if (before.turn === null || before.turn === after.turn) return []
  const changed: Array<WaitRow> = []
  const known = new Map(openWaits(before.turn).map((open) => [open.wait.waitId, open]))
  let at = before.seq
  for (const fact of facts) {
    if (isPublic(fact)) at++
    if (fact.type !== "wait_resolved") continue
    const { waitId, waitResult } = fact.event
    const open = known.get(waitId)
    if (open === undefined) continue
    const { outcome } = waitResult
    const state = outcome === "expired" || outcome === "cancelled" ? states[outcome] : "resolved"
    const wait: WaitRecord = { ...pendingWait(fact.turnId, open), state, waitResult, resolvedAt: toTimestamp(fact.at) }
    const body = overText(wait, at, by?.waitId === waitId ? by.answer : undefined)
    changed.push({ id: waitId, target: open.wait.target, state, createdAt: open.wait.createdAt, body, ...owedIn(open) })
  }
  for (const open of openWaits(after.turn)) {
    const { createdAt, target, waitId } = open.wait
    if (known.has(waitId) || after.turn === null) continue
    const body = openText(pendingWait(after.turn.turnId, open), unseenOf(after.turn, open))
    changed.push({ id: waitId, target, state: "open", createdAt, body, ...owedIn(open) })
  }
  return changed
}
