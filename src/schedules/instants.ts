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

/** How many milliseconds, up to so many, an instant comes later. */
export const jitterOf = (scheduleId: string, instant: number, most: number): number =>
  hash("sha256", `${scheduleId} ${instant}`, "buffer").readUInt32BE(0) % (most + 1)

/**
 * When an instant comes: by its jitter later, and before the one that follows, so that moments come in the order of
 * their instants and none catches up with another.
 */
export const momentOf = (clockwork: Clockwork, scheduleId: string, jitterSeconds: number, instant: number): number => {
  if (jitterSeconds === 0) return instant
  const following = nextInstant(clockwork, instant)
  const most = Math.min(jitterSeconds * 1_000, following === undefined ? Infinity : following - instant - 1)
  return instant + jitterOf(scheduleId, instant, most)
}

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

/**
 * How many instants lie from one of them up to another, both included: after so many at a time, since an instant by the
 * clock on the wall takes a while to find.
 */
export function* countInstants(clockwork: Clockwork, first: number, last: number, atATime: number) {
  let count = 1
  for (
    let next = nextInstant(clockwork, first);
    next !== undefined && next <= last && count < mostCounted;
    next = nextInstant(clockwork, next)
  )
    if (++count % atATime === 0) yield
  return count
}
