/**
 * The numbers of a turn. 32,768 ids derive from its seed (ids.ts, D1), and what they stand for must not meet:
 *
 *      0 … 16,383   its facts, in order; its calls and the waits of its calls have the number of the fact that makes
 *      them
 * 16,384 … 32,766   `event`: the text of each response, known before it exists, by its step
 *                   `call`: the result of the call that many numbers below
 *          32,767   its end
 *
 * N1. A turn begins a response, or lets a steer join, only while all that may follow from it still has a number.
 *     The sum is below, and a test walks it at its worst.
 * N2. A person may rewrite a call again and again, which no sum bounds: a turn that is `full` ends, while its end still
 *     has its numbers.
 */
import { limits } from "./limits.ts"

export const half = 16_384
export const last = 32_767

/** The eventId of a response's text is known before it exists, for the deltas that announce it. */
export const messageNumber = (step: number) => half + step

/** Calls of one response: more is not a plan, it is a runaway. */
export const mostCalls = 128

/** A wait for somebody: that it opened, and how it ended. */
const wait = 2
/** A hook that asks: its decision, and its wait. */
const ask = 1 + wait
/**
 * Before a call, a person may rewrite what the hook asks about, so that its approval is asked anew; each time it may
 * have to wait for a place.
 */
const rewritten = ask + wait + 1

const hooks = limits.hooksPerProfile

/** Of a response: rounds of compaction before its model is asked, and one after an overflow, each begun and over. */
const rounds = (limits.buildRounds + 1) * 2

const perCall = {
  /** Its intent, an approval, a wait for its client or for a place, its result. */
  plain: 1 + wait + wait + 1,
  /** The same, each hook at its longest, and what it returned before hooks have seen it. */
  hooked: 1 + wait + wait + 1 + hooks * rewritten + 1
}

/** A message with what judges it. */
const perMessage = { plain: 1, hooked: 1 + hooks * ask }

/** Of one attempt: that it failed, and that the next one began. Each model has three. */
const perModel = 3 * 2

/** What ends a turn: each call's wait is over, each call has its result, and the end itself. */
const atTheEnd = mostCalls * 2 + 1

/**
 * The most that a command writes which begins no response: the waits of all calls expire, and each call goes on by one.
 */
const inOneCommand = mostCalls * 3

/** From here on a turn is full. */
const mostFacts = half - atTheEnd - inOneCommand

interface Numbered {
  /** Facts so far. */
  readonly events: number
  /** Messages that hooks have still to judge. */
  readonly judged: number
  /** Models that may be asked. */
  readonly models: number
  /** Somebody judges what happens in it. */
  readonly hooked: boolean
}

const kind = (hooked: boolean) => (hooked ? ("hooked" as const) : ("plain" as const))

/** All that may follow from one more response: its attempts, its text, its judges, its calls. */
const ofResponse = ({ hooked, models }: Numbered) =>
  models * perModel + rounds + perMessage[kind(hooked)] + 1 + mostCalls * perCall[kind(hooked)]

/** What is under judgment already. */
const underJudgment = ({ hooked, judged }: Numbered) => judged * perMessage[kind(hooked)]

const needed = (turn: Numbered) => turn.events + underJudgment(turn) + ofResponse(turn) + 1

/** One more response has its numbers. */
export const responseFits = (turn: Numbered) => needed(turn) <= mostFacts

/** One more message has its numbers, and the response to it. */
export const messageFits = (turn: Numbered) => needed(turn) + perMessage[kind(turn.hooked)] <= mostFacts

/** N2. */
export const isFull = (events: number) => events > mostFacts
