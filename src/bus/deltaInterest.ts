/**
 * Which threads' deltas somebody on another node wants: pieces of running responses are many, and
 * nobody needs those that came before they asked. Everything else that is told of is told always.
 *
 * Whoever wants some says so at once and again every few seconds; what is not renewed is forgotten.
 */
import type { About } from "./Bus.ts"
import { topicsOf } from "./topics.ts"
import type { Watchers } from "./wire.ts"

/** Milliseconds between renewals. */
export const renewMs = 5_000
const keptMs = 2.5 * renewMs
/** Topics of others that are remembered. */
const most = 100_000
/** Topics a message: below 64 KiB. */
const together = 800

export interface DeltaInterest {
  /** Returns the way to take it back. */
  readonly want: (topic: string) => () => void
  /** Whether another node wants that thread's deltas. */
  readonly wanted: (about: About) => boolean
  readonly heard: (message: Watchers) => void
  /** Says everything again, and forgets what others did not. */
  readonly renew: () => void
}

export const makeDeltaInterest = (say: (message: Watchers) => void, now: () => number = () => performance.now()): DeltaInterest => {
  const own = new Map<string, number>()
  const others = new Map<string, number>()

  const renew = () => {
    const time = now()
    for (const [topic, until] of others) if (until < time) others.delete(topic)
    const topics = [...own.keys()]
    for (let i = 0; i < topics.length; i += together) say({ deltas: topics.slice(i, i + together) })
  }

  return {
    want: (topic) => {
      const already = own.get(topic) ?? 0
      own.set(topic, already + 1)
      if (already === 0) say({ deltas: [topic] })
      return () => {
        const left = (own.get(topic) ?? 1) - 1
        if (left === 0) own.delete(topic)
        else own.set(topic, left)
      }
    },
    wanted: (about) => {
      if (others.size === 0) return false
      const time = now()
      return topicsOf(about).some((topic) => (others.get(topic) ?? 0) > time)
    },
    heard: ({ ask, deltas }) => {
      const until = now() + keptMs
      for (const topic of deltas) if (others.size < most || others.has(topic)) others.set(topic, until)
      if (ask === true) renew()
    },
    renew
  }
}
