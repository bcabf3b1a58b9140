/**
 * What broke, and is left alone for a while: an actor that broke its host, or a row of the inbox that broke its actor.
 * The pauses grow while it breaks in one place, to five minutes. They are remembered whether anything is owed to it or
 * not, and forgotten five minutes after the last one's end.
 */

interface Crash {
  /** Of an actor the position of its journal: one that has got further begins anew. */
  readonly place: number
  readonly times: number
  /** Milliseconds: left alone until then. */
  readonly until: number
}

const firstMs = 1_000
const mostMs = 300_000

/** Milliseconds to leave alone what has broken so often. */
export const crashPauseMs = (times: number) => Math.min(mostMs, firstMs * 2 ** Math.max(0, times - 1))

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
    // Those that broke longest ago come first; one with a long pause may keep some behind it a while longer.
    for (const [old, crash] of this.known) {
      if (this.isFresh(crash)) break
      this.known.delete(old)
    }
    return times
  }

  /** How often it broke there, one time after the other. */
  times(key: string, place: number): number {
    const known = this.known.get(key)
    return known?.place === place && this.isFresh(known) ? known.times : 0
  }

  /** Until when it is left alone; undefined once that is over. */
  until(key: string): number | undefined {
    const until = this.known.get(key)?.until
    return until === undefined || until <= this.now() ? undefined : until
  }

  private isFresh({ until }: Crash) {
    return until + mostMs > this.now()
  }
}
