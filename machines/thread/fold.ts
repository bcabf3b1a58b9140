/**
 * The way back: what a thread is, from its carry, the facts of its unfinished turn and the inputs
 * that wait.
 *
 * F1. After any sequence of commands, `fold` gives the live snapshot: state, whole context.
 * F2. `carry` is what `foldCarry` folds from the whole journal.
 */
import type { StateValueFrom } from "xstate"
import type { Input } from "../../src/domain/input.ts"
import { evolve } from "./evolve.ts"
import { evolveCarry } from "./carry.ts"
import { chart, type Snapshot } from "./chart.ts"
import { blank, type Carry, type Context, parked, type Turn } from "./context.ts"
import { type Fact, isPublic, typeOf } from "./facts.ts"

export interface Folded {
  readonly carry: Carry
  /** Position before the first of `facts`, and the seq there. */
  readonly pos: number
  readonly seq: number
  readonly facts: ReadonlyArray<Fact>
  readonly pending: ReadonlyArray<Input>
}

/** `last`: how the last turn ended, where it has not completed. */
export const stateOf = (turn: Turn | null, last: Carry["last"]): StateValueFrom<typeof chart> => {
  if (turn === null) return last?.outcome ?? "idle"
  const judged = turn.opening !== undefined ? "opening" : turn.reviewing !== undefined ? "reviewing" : "acting"
  if (parked(turn)) return { awaiting: judged }
  if (turn.round !== undefined) return { running: "compacting" }
  if (judged !== "acting" || turn.calls.length > 0) return { running: judged }
  return { running: turn.retryAt === undefined ? "sampling" : "pausing" }
}

/** The turn as far as it is folded. */
export interface TurnSoFar {
  readonly pos: number
  readonly seq: number
  readonly turn: Turn | null
  /** The turn's last response was written and the next one begins. */
  readonly responded: boolean
}

export const evolveTurnSoFar = (before: TurnSoFar, fact: Fact): TurnSoFar => {
  const pos = before.pos + 1
  const seq = isPublic(fact) ? before.seq + 1 : before.seq
  const turn = evolve(before.turn, fact, pos, seq)
  const { answersModel, asksModel } = typeOf(fact)
  const isAsked = asksModel === true || turn?.openedPos === pos
  return { pos, seq, turn, responded: !isAsked && (answersModel === true || before.responded) }
}

/** The turn, where the facts end here. */
export const turnOf = ({ responded, turn }: TurnSoFar): Turn | null =>
  turn !== null && responded && turn.calls.length === 0 ? { ...turn, step: turn.step + 1 } : turn

export const fold = ({ carry, facts, pending, pos, seq }: Folded): Snapshot => {
  const folded = facts.reduce(evolveTurnSoFar, { pos, seq, turn: null, responded: false })
  const turn = turnOf(folded)
  const context: Context = { pos: folded.pos, seq: folded.seq, pending, turn, carry }
  return chart.resolveState({ value: stateOf(turn, carry.last), context })
}

/** The carry, from a thread's whole journal. */
export const foldCarry = (facts: Iterable<Fact>): Carry => {
  let carry = blank.carry
  for (const fact of facts) carry = evolveCarry(carry, fact)
  return carry
}

/** A snapshot as data, for comparing. */
export const plainSnapshot = ({ context, value }: Snapshot) => ({ value, context })
