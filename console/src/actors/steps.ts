/**
 * The steps of an actor that are here, in the order of its log, and where it stood after each.
 *
 * Steps tile a log: each begins at the position behind the one before. So a stretch that is not here is seen, and no
 * moment is told that no step holds: an actor was never in a state between two steps.
 */
import type { components } from "../../../src/client/types.ts"

export type ActorStep = components["schemas"]["ActorStep"]
export type Steps = ReadonlyArray<ActorStep>
export type ActorSeen = components["schemas"]["ActorChart"]

/** What is said of a moment beside its state. */
export type Details = Pick<ActorSeen, "context" | "doing" | "possible">

/** Where an actor stood. */
export interface Moment {
  readonly state: string
  /** The step that led there. Undefined at birth. */
  readonly step: ActorStep | undefined
  /** Undefined where they are not here, or not yet. */
  readonly details: Details | undefined
}

/** Steps of one answer. */
export const portion = 200
/** How many steps are to be here before and after the one that is looked at. */
const near = 50
/** How many steps are held before those farthest from the newest ones are let go. */
const mostHeld = 20_000

/** Index of the first step that ends at a position or behind it. */
const placeOf = (steps: Steps, pos: number) => {
  let [low, high] = [0, steps.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const step = steps[middle]
    if (step !== undefined && step.pos < pos) low = middle + 1
    else high = middle
  }
  return low
}

/** The step that wrote the fact at a position, where it is here. */
export const stepAt = (steps: Steps, pos: number): ActorStep | undefined => {
  const step = steps[placeOf(steps, pos)]
  return step !== undefined && step.fromPos <= pos ? step : undefined
}

/** Where an actor stood after the step that wrote the fact at a position, as far as steps tell it; 0 is its birth. */
export const momentAt = (steps: Steps, pos: number): Moment | undefined => {
  if (pos > 0) {
    const step = stepAt(steps, pos)
    return step && { state: step.to, step, details: undefined }
  }
  const first = stepAt(steps, 1)
  return first && { state: first.from, step: undefined, details: undefined }
}

/** With a page of steps, which is a stretch without holes: it holds over what was here of the same positions. */
export const merged = (steps: Steps, page: Steps): Steps => {
  const [first] = page
  const last = page.at(-1)
  if (first === undefined || last === undefined) return steps
  const before = steps.slice(0, placeOf(steps, first.fromPos))
  const all = [...before, ...page, ...steps.slice(placeOf(steps, last.pos)).filter(({ fromPos }) => fromPos > last.pos)]
  if (all.length <= mostHeld) return all
  const from = Math.max(0, before.length - mostHeld / 2)
  return all.slice(from, from + mostHeld)
}

/**
 * The position behind which steps are to be asked for, so that those around `at` are here; undefined: they are. `end`
 * is the last position of the log.
 */
export const missing = (steps: Steps, at: number, end: number): number | undefined => {
  if (end === 0) return undefined
  const here = Math.min(Math.max(at, 1), end)
  const seen = stepAt(steps, here)
  if (seen === undefined) {
    const before = steps[placeOf(steps, here) - 1]?.pos ?? 0
    return Math.max(before, here - portion / 2)
  }
  for (let i = 0, { pos } = seen; i < near && pos < end; i++) {
    const step = stepAt(steps, pos + 1)
    if (step === undefined) return pos
    pos = step.pos
  }
  for (let i = 0, { fromPos } = seen; i < near && fromPos > 1; i++) {
    const step = stepAt(steps, fromPos - 1)
    // As many positions as an answer has steps: it reaches this one.
    if (step === undefined) return Math.max(0, fromPos - 1 - portion)
    fromPos = step.fromPos
  }
  return undefined
}
