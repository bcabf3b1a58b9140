/**
 * The jobs of a schedule: to have its message submitted, and to wait for the end of a turn.
 *
 * G1. The message of a run has ids that derive from the run: begun again after a crash, it is taken once. Its schedule
 *     may name another thread by then: so whoever begins it again asks first which thread has taken it.
 * G2. A failure that may pass is tried again, for five minutes. After that the run has failed, unless a thread has
 *     taken its message: the answer to an attempt may have been lost. The run waits until the database says which.
 * G3. Turns that lead to each other by way of a schedule count on: a run has the hops of the turn that has made or
 *     changed the schedule, or wants it to run.
 * G4. With `interrupt`, an instant begins once the turn before is cancelled, and not beside it. A run by hand cancels
 *     nothing, whatever overlap says.
 */
import { Data, Duration, Effect, Schedule } from "effect"
import { begunBy } from "../thread/tools/derivedIds.ts"
import { sibling } from "../../src/domain/ids.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ReadSchedule } from "../../src/schedules/reading.ts"
import type { StoredSchedule } from "../../src/schedules/shown.ts"
import type { TakenBy } from "../../src/schedules/taken.ts"
import type { Job } from "../../machines/schedule/changes.ts"
import type { StopReason, Firing } from "../../machines/schedule/commands.ts"
import type { Snapshot } from "../../machines/schedule/chart.ts"
import type { ActorError, Declined } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import type { ThreadCaller, Threads } from "../thread/Threads.ts"
import type { Decided } from "./Decided.ts"
import type { BegunTurn, IsOver, UntilOver } from "./lastTurn.ts"
import type { ScheduleRequest } from "./requests.ts"

export interface SchedulePerforming {
  readonly decided: Decided
  readonly isOver: IsOver
  readonly read: ReadSchedule
  readonly taken: TakenBy
  readonly untilOver: UntilOver
  readonly threads: Pick<Threads["Service"], "cancel" | "remove" | "start" | "submitAs">
}

type Outcome = Extract<ScheduleRequest, { readonly type: "started" | "refused" }>

const patience = Duration.minutes(5)
const pauses = Schedule.spaced("5 seconds")

/** Refusals that are no failure of the schedule. */
const skips: ReadonlySet<string> = new Set(["identity_disabled", "budget_exceeded", "thread_cost_exceeded"])
/** Refusals after which no later run would fare better. */
const ends: Readonly<Partial<Record<Declined["reason"], StopReason>>> = {
  agent_archived: "agent_archived",
  agent_not_found: "agent_archived",
  thread_archived: "thread_archived",
  not_found: "thread_not_found"
}

const outcomeOf = (runId: string, { reason }: Declined): Outcome => {
  const disables = ends[reason]
  return {
    type: "refused",
    runId,
    status: skips.has(reason) ? "skipped" : "failed",
    reason: reason === "not_found" ? "thread_not_found" : reason,
    ...(disables === undefined ? {} : { disables })
  }
}

/** The turn before goes on, as far as anybody knows. */
class NotCancelled extends Data.TaggedError("NotCancelled") {}

const isRefused =
  (reason: Declined["reason"]) =>
  (failure: ActorError): failure is Declined =>
    failure._tag === "Refused" && failure.reason === reason

/** G2. */
const persistently = <A, E>(attempt: Effect.Effect<A, E>): Effect.Effect<A> =>
  attempt.pipe(Effect.retry(pauses), Effect.orDie)

export const principalOf = ({ createdBy, id, input }: StoredSchedule): Principal => {
  const identity = input.identity ?? createdBy.identity
  return { type: "schedule", id, ...(identity === undefined ? {} : { identity }) }
}

export const makePerform = ({ decided, isOver, read, taken, threads, untilOver }: SchedulePerforming) => {
  /** A turn that runs is cancelled; the message of one that has not begun is taken out of the queue. */
  const cancel = (caller: Pick<ThreadCaller, "principal" | "workspace">, { threadId, turnId }: BegunTurn) =>
    threads.cancel(caller, threadId, { turnId, clearQueue: false }).pipe(
      Effect.catchIf(isRefused("turn_conflict"), () => threads.remove(caller, threadId, sibling("input", turnId))),
      Effect.asVoid
    )

  /** G4. */
  const clear = Effect.fnUntraced(function* (
    { ref: { workspace }, snapshot: { context } }: ActorView<Snapshot>,
    schedule: StoredSchedule,
    { by }: Firing
  ) {
    const { lastTurn } = context
    if (by === "manual" || lastTurn === null || schedule.input.overlap !== "interrupt") return
    if (yield* isOver(workspace, lastTurn)) return
    yield* cancel({ workspace, principal: principalOf(schedule) }, lastTurn).pipe(
      // It may be over, or have begun, meanwhile: the next look says.
      Effect.mapError(() => new NotCancelled())
    )
  })

  const submit = ({ ref: { workspace } }: ActorView<Snapshot>, schedule: StoredSchedule, run: Firing) => {
    const { runId } = run
    const { agentId, createdBy, input } = schedule
    // G3.
    const hops = Math.max(schedule.hops, run.hops ?? 0)
    const caller = { workspace, principal: principalOf(schedule) }
    const message = {
      // Not the run's own body: that is the run itself, in the journal.
      inputId: begunBy("input", runId),
      content: input.message.content,
      ...(input.model === undefined ? {} : { model: input.model }),
      ...(hops === 0 ? {} : { hops })
    }
    if (input.target.mode === "thread") {
      const { threadId } = input.target
      return Effect.map(threads.submitAs(caller, threadId, { ...message, mode: input.submitMode }), (reply) => ({
        reply,
        threadId
      }))
    }
    const threadId = sibling("thread", runId)
    const identity = input.identity ?? createdBy.identity
    return threads
      .start(caller, {
        ...message,
        agentId,
        threadId,
        ...(identity === undefined ? {} : { identity }),
        ...(input.maxCost === undefined ? {} : { maxCost: input.maxCost })
      })
      .pipe(Effect.map((reply) => ({ reply, threadId })))
  }

  /** G1: the outcome, where a thread has taken the message of this run. */
  const begunAlready = ({ ref: { workspace } }: ActorView<Snapshot>, runId: string) => {
    const inputId = begunBy("input", runId)
    return Effect.map(taken(workspace, inputId), (threadId): Outcome | undefined =>
      threadId === undefined ? undefined : { type: "started", runId, threadId, turnId: sibling("turn", inputId) }
    )
  }

  const starting = Effect.fnUntraced(function* (being: ActorView<Snapshot>, run: Firing) {
    const { runId } = run
    const fresh = decided.take(run)
    const begun = fresh === undefined ? yield* begunAlready(being, runId) : undefined
    if (begun !== undefined) return begun
    const schedule = fresh ?? (yield* read(being.ref))
    if (schedule === undefined || schedule.deleted)
      return { type: "refused", runId, status: "skipped", reason: "deleted" } satisfies Outcome
    yield* clear(being, schedule, run)
    const { reply, threadId } = yield* submit(being, schedule, run)
    // The text is the thread's own answer.
    const { turnId } = JSON.parse(reply.body) as { readonly turnId: string }
    return { type: "started", runId, threadId, turnId } satisfies Outcome
  })

  const start = (being: ActorView<Snapshot>, run: Firing): Effect.Effect<Outcome> => {
    const { runId } = run
    const unreachable: Outcome = { type: "refused", runId, status: "failed", reason: "unreachable" }
    return starting(being, run).pipe(
      Effect.catchIf(
        (failure): failure is Declined => failure._tag === "Refused" && failure.reason !== "rate_limited",
        (refused) => Effect.succeed(outcomeOf(runId, refused))
      ),
      persistently,
      Effect.timeoutOrElse({
        duration: patience,
        orElse: () => Effect.map(persistently(begunAlready(being, runId)), (begun) => begun ?? unreachable)
      })
    )
  }

  /** A run that waits begins at once where its schedule waits for nobody any more. */
  const watch = Effect.fnUntraced(function* ({ ref, snapshot }: ActorView<Snapshot>, { runId }: Firing) {
    const { lastTurn } = snapshot.context
    const schedule = yield* persistently(read(ref))
    const isFree = schedule?.input.overlap === "allow" || schedule?.input.overlap === "interrupt"
    if (lastTurn !== null && !isFree) yield* untilOver(ref.workspace, lastTurn)
    return { type: "freed", runId } satisfies ScheduleRequest
  })

  return (being: ActorView<Snapshot>, { params, type }: Job): Effect.Effect<ScheduleRequest | undefined> => {
    switch (type) {
      case "start":
        return start(being, params)
      case "watch":
        return watch(being, params)
      case "unwatch":
        return Effect.succeed(undefined)
    }
  }
}
