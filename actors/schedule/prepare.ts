/** Completes what a schedule is told: its configuration as it is now, its instants, and what keeps it from firing. */
import { Effect } from "effect"
import type { Directory } from "../../src/agents/Directory.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import { beginsAnew, firstInstant } from "../../src/schedules/clock.ts"
import { countInstants, jitterOf, newestInstant, nextInstant } from "../../src/schedules/instants.ts"
import type { ReadSchedule } from "../../src/schedules/reading.ts"
import { runIdOf } from "../../src/schedules/runIds.ts"
import { clockworkOf, type StoredSchedule, settingsOf } from "../../src/schedules/shown.ts"
import type { Command, Next, ScheduleCommand } from "../../machines/schedule/commands.ts"
import type { Context } from "../../machines/schedule/context.ts"
import type { Snapshot } from "../../machines/schedule/chart.ts"
import { type Declined, Unreachable } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import type { IsOver } from "./lastTurn.ts"
import type { ScheduleRequest } from "./requests.ts"

export interface SchedulePreparing {
  readonly directory: Pick<Directory["Service"], "agent" | "identityDisabled">
  readonly isOver: IsOver
  readonly read: ReadSchedule
}

const nextAt = (schedule: StoredSchedule, instant: number | undefined): { readonly next?: Next } => {
  if (instant === undefined) return {}
  const jitter = jitterOf(schedule.id, instant, settingsOf(schedule).jitterSeconds)
  return { next: { instant, moment: instant + jitter } }
}

/** The newest instant whose moment has come, beginning with the first that nobody has seen to. */
const newestDue = (schedule: StoredSchedule, first: number, at: number) => {
  const clockwork = clockworkOf(schedule)
  const { jitterSeconds } = settingsOf(schedule)
  const isDue = (instant: number) => instant + jitterOf(schedule.id, instant, jitterSeconds) <= at
  const newest = newestInstant(clockwork, first, at)
  if (isDue(newest)) return newest
  // Its jitter holds it back, and holds nothing back that is older than the longest jitter.
  let found = newestInstant(clockwork, first, at - jitterSeconds * 1_000)
  for (let next = nextInstant(clockwork, found); next !== undefined && next < newest && isDue(next); ) {
    found = next
    next = nextInstant(clockwork, next)
  }
  return found
}

const unreachable = () => new Unreachable({ retryAfterSeconds: 2 })

export const makePrepare = ({ directory, isOver, read }: SchedulePreparing) => {
  /** Somebody who it works for may not work now. */
  const isDisabled = ({ createdBy, input }: StoredSchedule, workspace: string, agentIdentity: string | undefined) =>
    [input.identity, agentIdentity, createdBy.identity].some(
      (identity) => identity !== undefined && directory.identityDisabled(workspace, identity)
    )

  const standing = Effect.fnUntraced(function* (being: ActorView<Snapshot>) {
    const schedule = yield* read(being.ref)
    if (schedule === undefined) return yield* unreachable()
    const agent = yield* directory.agent(being.ref.workspace, schedule.agentId)
    return { schedule, agent, isArchived: agent === undefined || agent.archived }
  })

  const configuring = Effect.fnUntraced(function* (being: ActorView<Snapshot>, at: number) {
    const { isArchived, schedule } = yield* standing(being)
    const { context } = being.snapshot
    const anew = beginsAnew(schedule, context)
    const enabled = schedule.input.enabled ?? true
    const first = firstInstant(clockworkOf(schedule), schedule, context)
    const fires = enabled && (anew || context.disabledReason === null)
    const command: ScheduleCommand<"configure"> = {
      type: "configure",
      at,
      rev: schedule.rev,
      enabled,
      deleted: schedule.deleted,
      anchor: schedule.anchor,
      anew,
      ...(fires ? nextAt(schedule, first) : {}),
      ...(isArchived ? { disables: "agent_archived" } : first === undefined ? { disables: "finished" } : {})
    }
    return command
  })

  /** What stands in the way of the turn before. */
  const overlapping = Effect.fnUntraced(function* (
    workspace: string,
    { held, lastTurn }: Context,
    schedule: StoredSchedule
  ) {
    const { overlap } = settingsOf(schedule)
    if (held !== null) return { skips: "overlap" } as const
    if (overlap === "allow" || overlap === "interrupt" || lastTurn === null) return undefined
    if (yield* isOver(workspace, lastTurn)) return undefined
    return overlap === "queue" ? ("waits" as const) : ({ skips: "overlap" } as const)
  })

  const comingDue = Effect.fnUntraced(function* (being: ActorView<Snapshot>, at: number) {
    const { context } = being.snapshot
    const { agent, isArchived, schedule } = yield* standing(being)
    const { workspace } = being.ref
    // What it waited for is of settings that are not those of now: it hears of these first, then of its moment.
    if (schedule.rev !== context.rev) return yield* configuring(being, at)
    if (isArchived || context.next === null) {
      const gone: ScheduleCommand<"due"> = { type: "due", at, disables: "agent_archived" }
      return gone
    }
    const clockwork = clockworkOf(schedule)
    const first = context.next.instant
    const newest = newestDue(schedule, first, at)
    const isFresh = at - newest <= settingsOf(schedule).catchUpSeconds * 1_000
    const count = countInstants(clockwork, first, newest) - (isFresh ? 1 : 0)
    const lastMissed = isFresh ? first : newest
    const instead = isDisabled(schedule, workspace, agent?.identity)
      ? ({ skips: "identity_disabled" } as const)
      : yield* overlapping(workspace, context, schedule)
    const command: ScheduleCommand<"due"> = {
      type: "due",
      at,
      ...nextAt(schedule, nextInstant(clockwork, newest)),
      ...(isFresh ? { fires: { runId: runIdOf(schedule.id, newest), scheduledAt: newest, by: "schedule" } } : {}),
      ...(count > 0 ? { missed: { count, scheduledAt: lastMissed, runId: runIdOf(schedule.id, lastMissed) } } : {}),
      ...(instead === undefined ? {} : { instead })
    }
    return command
  })

  const preparing = (
    being: ActorView<Snapshot>,
    request: ScheduleRequest,
    at: number
  ): Effect.Effect<Command, Unreachable | DatabaseUnavailable> => {
    switch (request.type) {
      case "configure":
        return configuring(being, at)
      case "due":
        return comingDue(being, at)
      case "run": {
        const { runId, scheduledAt } = request
        return Effect.succeed({ type: "run", at, run: { runId, scheduledAt, by: "manual" } })
      }
      default:
        return Effect.succeed({ ...request, at })
    }
  }

  return (
    being: ActorView<Snapshot>,
    request: ScheduleRequest,
    at: number
  ): Effect.Effect<Command, Declined | Unreachable> =>
    Effect.mapError(preparing(being, request, at), (failure) =>
      failure._tag === "Unreachable" ? failure : unreachable()
    )
}
