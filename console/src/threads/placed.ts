/** Bars in their places: below each other where they overlap, and as one where they are too small to tell apart. */
import { keysOf } from "../parts/keysOf.ts"
import { type Bar, type Lane, laneNames } from "./lanes.ts"
import type { Scale } from "./scale.ts"

export interface Placed {
  readonly bar: Bar
  /** Fractions of the whole width. */
  readonly left: number
  readonly width: number
  /** From 0, within its lane. */
  readonly line: number
}

export interface PlacedLane {
  readonly lane: Lane
  readonly lines: number
  readonly bars: ReadonlyArray<Placed>
}

const mostLines = 6

export const placedLanes = (bars: ReadonlyArray<Bar>, scale: Scale, now: number): ReadonlyArray<PlacedLane> =>
  keysOf(laneNames).map((lane) => {
    const ends: Array<number> = []
    const placed = bars
      .filter((bar) => bar.lane === lane)
      .map((bar): Placed => {
        const left = scale.at(bar.from) / scale.length
        const right = scale.at(bar.to ?? now) / scale.length
        const free = ends.findIndex((end) => end <= left)
        const line = free >= 0 ? free : Math.min(ends.length, mostLines - 1)
        ends[line] = Math.max(ends[line] ?? 0, right)
        return { bar, left, width: right - left, line }
      })
    return { lane, lines: Math.max(1, ends.length), bars: placed }
  })

export interface Drawn {
  readonly placed: Placed
  /** How many bars it stands for, itself among them. */
  readonly count: number
}

/**
 * Those of a lane between two fractions of the width, from left to right; whatever ends less than `least` behind the
 * beginning of the one before it on its line is drawn with that. One that is chosen is always there, by itself.
 */
export const drawnBars = (
  { bars }: PlacedLane,
  { from, least, to }: { readonly from: number; readonly to: number; readonly least: number },
  chosen?: Bar
): ReadonlyArray<Drawn> => {
  const drawn: Array<Drawn> = []
  const lastOfLine = new Map<number, number>()
  for (const placed of bars) {
    const { bar, left, line, width } = placed
    if (bar !== chosen && (left + width < from || left > to)) continue
    const index = lastOfLine.get(line)
    const last = index === undefined ? undefined : drawn[index]
    const isWithin = last !== undefined && bar !== chosen && left + width - last.placed.left < least
    if (index !== undefined && isWithin) drawn[index] = { ...last, count: last.count + 1 }
    else lastOfLine.set(line, drawn.push({ placed, count: 1 }) - 1)
  }
  return drawn
}
