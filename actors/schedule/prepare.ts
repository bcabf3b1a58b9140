/** Completes what a schedule is told: its configuration as it is now, its instants, and what keeps it from firing. */
import { Effect, Semaphore } from "effect"
import type { AgentView, Directory } from "../../src/agents/Directory.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import { beginsAnew, firstInstant } from "../../src/schedules/clock.ts"
import { type Clockwork, countInstants, momentOf, newestInstant, nextInstant } from "../../src/schedules/instants.ts"
import type { ReadSchedule } from "../../src/schedules/reading.ts"
import { runIdOf } from "../../src/schedules/runIds.ts"
import { clockworkOf, type StoredSchedule } from "../../src/schedules/shown.ts"
import type { Command, Firing, Next, ScheduleCommand } from "../../machines/schedule/commands.ts"
import type { Context } from "../../machines/schedule/context.ts"
import type { Snapshot } from "../../machines/schedule/chart.ts"
import type { Declined, Unreachable } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import { unreachable } from "../live.ts"
import type { Decided } from "./Decided.ts"
import type { IsOver } from "./lastTurn.ts"
import type { ScheduleRequest } from "./requests.ts"

type ScheduleView = Pick<ActorView<Snapshot>, "ref" | "snapshot">

export interface SchedulePreparing {
  readonly decided: Decided
  readonly directory: Pick<Directory["Service"], "identityDisabled"> & {
    readonly agent: (
      ...args: Parameters<Directory["Service"]["agent"]>
    ) => Effect.Effect<Pick<AgentView, "archived" | "identity"> | undefined, DatabaseUnavailable>
  }
  readonly isOver: IsOver
  readonly read: ReadSchedule
}

const momentIn = (schedule: StoredSchedule, instant: number) =>
  momentOf(clockworkOf(schedule), schedule.id, schedule.input.jitterSeconds, instant)

const nextAt = (schedule: StoredSchedule, instant: number | undefined): { readonly next?: Next } =>
  instant === undefined ? {} : { next: { instant, moment: momentIn(schedule, instant) } }

/** The newest instant whose moment has come, beginning with the first that nobody has seen to. */
const newestDue = (schedule: StoredSchedule, first: number, at: number) => {
  const clockwork = clockworkOf(schedule)
  const newest = newestInstant(clockwork, first, at)
  // Where its jitter holds it back, it is the one before.
  return momentIn(schedule, newest) <= at ? newest : newestInstant(clockwork, first, newest - 1)
}

/** Others have the thread after so many, and one schedule counts at a time. */
const countedAtATime = 100
const counting = Semaphore.makeUnsafe(1)

const count = (clockwork: Clockwork, first: number, last: number) =>
  first === last ? Effect.succeed(1) : countMany(clockwork, first, last)

const countMany = (clockwork: Clockwork, first: number, last: number) =>
  Effect.gen(function* () {
    const counted = countInstants(clockwork, first, last, countedAtATime)
    for (;;) {
      const step = counted.next()
      if (step.done) return step.value
      yield* Effect.yieldNow
    }
  }).pipe(counting.withPermit)

export const makePrepare = ({ decided, directory, isOver, read }: SchedulePreparing) => {
  /** Somebody who it works for may not work now. */
  const isDisabled = ({ createdBy, input }: StoredSchedule, workspace: string, agentIdentity: string | undefined) =>
    [input.identity, agentIdentity, createdBy.identity].some(
      (identity) => identity !== undefined && directory.identityDisabled(workspace, identity)
    )

  const standing = Effect.fnUntraced(function* (being: ScheduleView) {
    const schedule = yield* read(being.ref)
    if (schedule === undefined) return yield* unreachable()
    const agent = yield* directory.agent(being.ref.workspace, schedule.agentId)
    return { schedule, agent, isArchived: agent === undefined || agent.archived }
  })

  const configuring = Effect.fnUntraced(function* (being: ScheduleView, at: number) {
    const { isArchived, schedule } = yield* standing(being)
    const { context } = being.snapshot
    const anew = beginsAnew(schedule, context)
    const { enabled } = schedule.input
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
    const { overlap } = schedule.input
    if (overlap === "allow") return undefined
    if (held !== null) return { skips: "overlap" } as const
    if (overlap === "interrupt" || lastTurn === null) return undefined
    if (yield* isOver(workspace, lastTurn)) return undefined
    return overlap === "queue" ? ("waits" as const) : ({ skips: "overlap" } as const)
  })

  const comingDue = Effect.fnUntraced(function* (being: ScheduleView, at: number) {
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
    // Its jitter makes it come later, not older.
    const isFresh = at - momentIn(schedule, newest) <= schedule.input.catchUpSeconds * 1_000
    const missed = (yield* count(clockwork, first, newest)) - (isFresh ? 1 : 0)
    const lastMissed = isFresh ? first : newest
    const instead = isDisabled(schedule, workspace, agent?.identity)
      ? ({ skips: "identity_disabled" } as const)
      : yield* overlapping(workspace, context, schedule)
    const fires: Firing = { runId: runIdOf(schedule.id, newest), scheduledAt: newest, by: "schedule" }
    if (isFresh && instead === undefined) decided.note(fires, schedule)
    const command: ScheduleCommand<"due"> = {
      type: "due",
      at,
      ...nextAt(schedule, nextInstant(clockwork, newest)),
      ...(isFresh ? { fires } : {}),
      ...(missed > 0
        ? { missed: { count: missed, scheduledAt: lastMissed, runId: runIdOf(schedule.id, lastMissed) } }
        : {}),
      ...(instead === undefined ? {} : { instead })
    }
    return command
  })

  const preparing = (
    being: ScheduleView,
    request: ScheduleRequest,
    at: number
  ): Effect.Effect<Command, Unreachable | DatabaseUnavailable> => {
    switch (request.type) {
      case "configure":
        return configuring(being, at)
      case "due":
        return comingDue(being, at)
      case "run": {
        const { type, ...byHand } = request
        return Effect.succeed({ type, at, run: { ...byHand, by: "manual" } })
      }
      default:
        return Effect.succeed({ ...request, at })
    }
  }

  return (being: ScheduleView, request: ScheduleRequest, at: number): Effect.Effect<Command, Declined | Unreachable> =>
    Effect.mapError(preparing(being, request, at), (failure) =>
      failure._tag === "Unreachable" ? failure : unreachable()
    )
}
