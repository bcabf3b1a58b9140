/**
 * What broke, and is left alone for a while: an actor that broke its host, or a row of the inbox that broke its actor.
 * The pauses grow while it breaks in one place, to five minutes. How often it broke is remembered however long it takes
 * to break again, and also where nothing is owed to an actor any more, since it was set aside: of the 10,000 that broke
 * last.
 */

interface Crash {
  /** Of an actor the position of its journal: one that has got further begins anew. Of a row 0. */
  readonly place: number
  readonly times: number
  /** Milliseconds: left alone until then. */
  readonly until: number
}

const firstMs = 1_000
const mostMs = 300_000
const remembered = 10_000

/** The pause after so many times one behind the other: twice the one before, from `first` to `most`. */
export const growingPause = (first: number, most: number, times: number) =>
  Math.min(most, first * 2 ** Math.max(0, times - 1))

/** Milliseconds to leave alone what has broken so often. */
export const crashPauseMs = (times: number) => growingPause(firstMs, mostMs, times)

export class Crashes {
  /** In the order in which they broke last. */
  private readonly known = new Map<string, Crash>()
  private readonly now: () => number

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.now = now
  }

  get size() {
    return this.known.size
  }

  /** It broke there. How often it has by now, without getting further. */
  add(key: string, place: number): number {
    const times = this.times(key, place) + 1
    const now = this.now()
    this.known.delete(key)
    this.known.set(key, { place, times, until: now + crashPauseMs(times) })
    for (const oldest of this.known.keys()) {
      if (this.known.size <= remembered) break
      this.known.delete(oldest)
    }
    return times
  }

  /** How often it broke there, one time after the other. */
  times(key: string, place: number): number {
    const known = this.known.get(key)
    return known?.place === place ? known.times : 0
  }

  /** Until when it is left alone; undefined once that is over. */
  until(key: string): number | undefined {
    const until = this.known.get(key)?.until
    return until === undefined || until <= this.now() ? undefined : until
  }
}
