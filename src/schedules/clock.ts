/**
 * From when the instants of a schedule count, and which is the first that nobody has seen to. Pure.
 *
 * K1. A clock begins anew when its schedule is made or enabled, and when its trigger changes: `anchor` is that moment.
 *     No other change moves it, so that an instant whose moment is still to come, or that nobody was there for, is
 *     kept.
 * K2. The actor knows by which anchor it counts. Versions before this one did not keep that: then the last change
 *     tells.
 */
import { type Clockwork, nextInstant } from "./instants.ts"

/** What a schedule's actor knows, as it keeps it. */
export interface Known {
  readonly rev?: number
  readonly clock?: { readonly rev: number; readonly anchor: number } | null
  readonly next?: { readonly instant: number } | null
}

interface Counted {
  readonly rev: number
  readonly anchor: number
  readonly updatedAt: number
}

/** Whether its clock has begun anew, and its actor has not heard of that. */
export const beginsAnew = ({ anchor, rev, updatedAt }: Counted, known: Known): boolean => {
  if (known.rev === undefined || known.rev === 0) return true
  if (known.rev === rev) return false
  // K2.
  return known.clock?.rev === known.rev ? known.clock.anchor !== anchor : anchor === updatedAt
}

/** The first instant that nobody has seen to, which may be past. */
export const firstInstant = (clockwork: Clockwork, schedule: Counted, known: Known): number | undefined => {
  if (beginsAnew(schedule, known)) return nextInstant(clockwork, schedule.anchor)
  // Where it had none left, what came until the change was not an instant of it.
  return nextInstant(clockwork, known.next ? known.next.instant - 1 : schedule.updatedAt)
}
