/**
 * Nodes tell each other which hints they want, so that little is sent for nobody: commits as soon as there is another
 * node at all, the pieces of a running response only where somebody watches them.
 *
 * I1. Every node says every few seconds that it is there, and which deltas it wants; a new wish at once.
 *     An interest that is not said again is forgotten after two to three rounds of our own: time in which we were
 *     stopped does not count.
 * I2. A node that comes asks, and is told everything. What it misses until then it looks for afterwards.
 * I3. Where there is too much to remember, everything is wanted.
 */
import type { About } from "./hints.ts"
import { topicsOf } from "./topics.ts"
import type { Presence } from "./wire.ts"

/** Milliseconds of a round. */
export const roundMs = 5_000
const rounds = 3
/** Topics a message: below 64 KiB. */
const together = 500

export interface Interest {
  /** Returns the way to take it back. */
  readonly want: (topic: string) => () => void
  /** Whether there is another node. */
  readonly accompanied: () => boolean
  /** Whether one wants the deltas of that thread. */
  readonly wanted: (about: About) => boolean
  readonly heard: (message: Presence) => void
  /** Says everything again (I1). */
  readonly renew: () => void
  /** A round is over. */
  readonly round: () => void
}

export const makeInterest = (send: (message: Presence) => void, most = 100_000): Interest => {
  const own = new Map<string, number>()
  /** By topic, the last round in which somebody wanted it. */
  const others = new Map<string, number>()
  let now = 0
  /**
   * The last round in which another node was heard; until it has listened for long enough, a node takes it that there
   * is one.
   */
  let company = 0
  let overflowed = -rounds

  const renew = () => {
    const topics = [...own.keys()]
    // Without any topic too: others hear that this node wants none.
    for (let i = 0; i === 0 || i < topics.length; i += together) send({ deltas: topics.slice(i, i + together) })
  }

  return {
    want: (topic) => {
      const already = own.get(topic) ?? 0
      own.set(topic, already + 1)
      if (already === 0) send({ deltas: [topic] })
      return () => {
        const left = (own.get(topic) ?? 1) - 1
        if (left === 0) own.delete(topic)
        else own.set(topic, left)
      }
    },
    accompanied: () => now - company < rounds,
    wanted: (about) =>
      others.size > 0 && (now - overflowed < rounds || topicsOf(about).some((topic) => others.has(topic))),
    heard: ({ ask, deltas }) => {
      company = now
      for (const topic of deltas) {
        if (others.size < most || others.has(topic)) others.set(topic, now)
        else overflowed = now
      }
      if (ask === true) renew()
    },
    renew,
    round: () => {
      now++
      for (const [topic, round] of others) if (now - round >= rounds) others.delete(topic)
      renew()
    }
  }
}
