/**
 * When a schedule fires. An instant is what its trigger says; its moment comes by its jitter later, the same on every
 * node. Pure.
 */
import { hash } from "node:crypto"
import { nextCron } from "./cron.ts"
import type { Trigger } from "./schedule.ts"

/** What instants depend on. Milliseconds. */
export interface Clockwork {
  readonly trigger: Trigger
  /** From when intervals count that name no first instant. */
  readonly anchor: number
  readonly endAt?: number
}

const within = ({ endAt }: Clockwork, instant: number | undefined) =>
  instant === undefined || (endAt !== undefined && instant > endAt) ? undefined : instant

const nextOf = ({ anchor, trigger }: Clockwork, after: number): number | undefined => {
  switch (trigger.type) {
    case "cron":
      return nextCron(trigger.expression, trigger.timezone, after)
    case "once": {
      const at = Date.parse(trigger.at)
      return at > after ? at : undefined
    }
    case "interval": {
      const step = trigger.seconds * 1_000
      const first = trigger.startAt === undefined ? anchor + step : Date.parse(trigger.startAt)
      return after < first ? first : first + (Math.floor((after - first) / step) + 1) * step
    }
  }
}

/** The first instant after a moment. */
export const nextInstant = (clockwork: Clockwork, after: number): number | undefined =>
  within(clockwork, nextOf(clockwork, after))

/** Milliseconds between an instant and its moment. */
export const jitterOf = (scheduleId: string, instant: number, jitterSeconds: number): number =>
  jitterSeconds === 0
    ? 0
    : hash("sha256", `${scheduleId} ${instant}`, "buffer").readUInt32BE(0) % (jitterSeconds * 1_000 + 1)

/** The newest instant that has come by now, behind one that has; that one where there is none. */
export const newestInstant = (clockwork: Clockwork, first: number, now: number): number => {
  for (let back = 60_000; ; back *= 2) {
    const from = Math.max(first, now - back)
    let found = nextInstant(clockwork, from)
    if (found !== undefined && found <= now) {
      for (;;) {
        const next = nextInstant(clockwork, found)
        if (next === undefined || next > now) return found
        found = next
      }
    }
    if (from === first) return first
  }
}

/** So many are counted, and no more. */
const mostCounted = 10_000

/** How many instants lie from one of them up to another, both included. */
export const countInstants = (clockwork: Clockwork, first: number, last: number): number => {
  let count = 1
  for (
    let next = nextInstant(clockwork, first);
    next !== undefined && next <= last && count < mostCounted;
    next = nextInstant(clockwork, next)
  )
    count++
  return count
}
