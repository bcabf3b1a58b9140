/**
 * Time as the timeline draws it: in proportion, but for long pauses. Where nothing is recorded for longer than about a
 * quarter of all the rest, the pause is cut to that: days between two turns leave room for both.
 */
import type { Bar } from "./lanes.ts"

export interface Scale {
  /** Length of the whole, in drawn milliseconds. */
  readonly length: number
  /** From 0 to `length`. */
  readonly at: (ms: number) => number
  /** Where a pause was cut. */
  readonly cuts: ReadonlyArray<{ readonly at: number; readonly pausedMs: number }>
}

const leastCapMs = 1_000

const capOf = (pauses: ReadonlyArray<number>) => {
  let cap = Math.max(0, ...pauses.slice(0, 1))
  for (const pause of pauses) cap = Math.max(cap, pause)
  for (let i = 0; i < 40; i++) {
    const drawn = pauses.reduce((sum, pause) => sum + Math.min(pause, cap), 0)
    const next = Math.max(leastCapMs, drawn / 4)
    if (next >= cap) break
    cap = next
  }
  return cap
}

/** `now` ends what has not ended. */
export const scaleOf = (bars: ReadonlyArray<Bar>, now: number): Scale => {
  const times = [...new Set(bars.flatMap(({ from, to = now }) => [from, to]))].sort((one, other) => one - other)
  const pauses = times.slice(1).map((time, i) => time - (times[i] ?? time))
  const cap = capOf(pauses)
  const places = [0]
  const cuts: Array<{ readonly at: number; readonly pausedMs: number }> = []
  for (const pausedMs of pauses) {
    const before = places.at(-1) ?? 0
    places.push(before + Math.min(pausedMs, cap))
    if (pausedMs > cap) cuts.push({ at: before + cap / 2, pausedMs })
  }
  const at = (ms: number) => {
    let [low, high] = [0, times.length - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((times[middle] ?? 0) < ms) low = middle + 1
      else high = middle
    }
    const [time = ms, place = 0] = [times[low], places[low]]
    const [before, placeBefore] = [times[low - 1], places[low - 1]]
    if (before === undefined || placeBefore === undefined || ms >= time) return place
    return placeBefore + ((ms - before) / (time - before)) * (place - placeBefore)
  }
  return { length: Math.max(1, places.at(-1) ?? 0), at, cuts }
}
