/** A schedule as the API shows it: what a client has said, and what has become of it. */
import type { Principal } from "../domain/principal.ts"
import { long } from "../database/shorthand.ts"
import { toTimestamp } from "../domain/time.ts"
import { beginsAnew, firstInstant, type Known } from "./clock.ts"
import { type Clockwork, nextInstant } from "./instants.ts"
import type { Schedule, ScheduleRun } from "./schedule.ts"
import type { ScheduleSettings } from "./settled.ts"

/** Moments in milliseconds. */
export interface StoredSchedule {
  readonly id: string
  readonly agentId: string
  readonly input: ScheduleSettings
  /** How many turns lead, by way of feeds, to what made or changed it last. */
  readonly hops: number
  readonly rev: number
  readonly anchor: number
  readonly createdAt: number
  readonly createdBy: Principal
  readonly updatedAt: number
  readonly deleted: boolean
  /** What its actor keeps, as it is stored. */
  readonly carry: string
}

interface Firing {
  readonly runId: string
  readonly scheduledAt: number
  readonly by: "schedule" | "manual"
}

/** What is read of that: the context of `machines/schedule`, as far as it is shown. */
interface Carry extends Known {
  readonly disabledReason?: string | null
  readonly firing?: Firing | null
  readonly held?: Firing | null
  readonly queued?: ReadonlyArray<Firing>
  readonly last?: { readonly at: number; readonly status: "started" | "skipped" | "failed" } | null
  readonly lastTurn?: { readonly threadId: string; readonly turnId: string } | null
}

const readCarry = ({ carry }: StoredSchedule): Carry => JSON.parse(long(carry))

export const clockworkOf = ({ anchor, input: { endAt, trigger } }: StoredSchedule): Clockwork => ({
  trigger,
  anchor,
  ...(endAt === undefined ? {} : { endAt: Date.parse(endAt) })
})

/** As they hold: what its actor has decided counts too. */
export const scheduleSettingsOf = (schedule: StoredSchedule) => {
  const carry = readCarry(schedule)
  // What its actor has decided holds until somebody enables it.
  const forced = beginsAnew(schedule, carry) ? undefined : (carry.disabledReason ?? undefined)
  return {
    ...schedule.input,
    enabled: schedule.input.enabled && forced === undefined,
    ...(forced === undefined ? {} : { disabledReason: forced })
  }
}

const mostShown = 5

const instantsOf = (schedule: StoredSchedule): ReadonlyArray<string> => {
  if (!scheduleSettingsOf(schedule).enabled) return []
  const carry = readCarry(schedule)
  const clockwork = clockworkOf(schedule)
  const found: Array<number> = []
  let instant =
    carry.rev === schedule.rev ? (carry.next?.instant ?? undefined) : firstInstant(clockwork, schedule, carry)
  while (instant !== undefined && found.length < mostShown) {
    found.push(instant)
    instant = nextInstant(clockwork, instant)
  }
  return found.map(toTimestamp)
}

export const shownSchedule = (schedule: StoredSchedule): Schedule => {
  const { last, lastTurn } = readCarry(schedule)
  return {
    id: schedule.id,
    agentId: schedule.agentId,
    ...scheduleSettingsOf(schedule),
    nextInstants: instantsOf(schedule),
    ...(last === null || last === undefined ? {} : { lastRunAt: toTimestamp(last.at), lastStatus: last.status }),
    ...(lastTurn === null || lastTurn === undefined
      ? {}
      : { lastThreadId: lastTurn.threadId, lastTurnId: lastTurn.turnId }),
    createdAt: toTimestamp(schedule.createdAt),
    updatedAt: toTimestamp(schedule.updatedAt),
    createdBy: schedule.createdBy
  }
}

/**
 * Runs that have come to nothing yet, newest first: `unheard` has those that the schedule's actor may not have heard
 * of, as of a moment before the schedule was read.
 */
export const openRuns = (schedule: StoredSchedule, unheard: ReadonlyArray<ScheduleRun>): ReadonlyArray<ScheduleRun> => {
  const { firing, held, queued = [] } = readCarry(schedule)
  const known = [...queued.toReversed(), firing, held].flatMap((run) =>
    run === null || run === undefined ? [] : [startingRun(schedule.id, run.runId, run.scheduledAt, run.by)]
  )
  const heard = new Set(known.map(({ id }) => id))
  return [...known, ...unheard.filter(({ id }) => !heard.has(id))].sort(
    (a, b) => Date.parse(b.scheduledAt) - Date.parse(a.scheduledAt)
  )
}

export const startingRun = (
  scheduleId: string,
  id: string,
  scheduledAt: number,
  by: ScheduleRun["by"]
): ScheduleRun => ({ id, scheduleId, scheduledAt: toTimestamp(scheduledAt), by, status: "starting" })
