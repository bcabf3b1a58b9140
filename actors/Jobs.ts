/**
 * Performs the jobs of the actors on this node, and brings their outcomes to the actors.
 *
 * D1. A job never fails into the void: its outcome stays on the actor's desk until a commit has taken it, until the
 *     turn's end has stopped the job, or until another node has the actor.
 * D2. An actor that is taken up again is told the outcomes in hand first. A job that still runs for it is left to run;
 *     a job that its chart no longer asks for is stopped.
 * D3. A job that must not be repeated is performed only when nobody has started it. This node knows what it has started
 *     for as long as it owns the actor; a job that may have run and has no outcome is told as lost.
 * D4. A node that leaves withholds what can be repeated: whoever takes the actor over performs it. A job that cannot be
 *     repeated is started, and has the rest of the time that the node takes to leave. A repeatable job that stands in
 *     line is withheld too.
 * D5. Two jobs of one name would have one outcome: the second is not started beside the first.
 * D6. The turn slot of an actor is given back when none of its jobs has a call slot or wants one, and no outcome is on
 *     its way to it: what an outcome asks for goes on in the same slot, and a turn's end leaves it to whoever is next.
 */
import { Cause, Effect, Exit, type Fiber, Option } from "effect"
import type { Head } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import type { ActorError, Reply } from "./Actor.ts"
import { type Bulkheads, Place } from "./Bulkheads.ts"
import type { Desk, Task } from "./Desk.ts"
import type { Item } from "./envelope.ts"
import type { ActorView, Kind, WriteSet } from "./Kind.ts"

/** What jobs need of the actor that they are performed for. */
export interface Employer<Snapshot, Request> extends ActorView<Snapshot> {
  readonly desk: Desk<Request>
  readonly head: Pick<Head, "runnableAt" | "updatedAt">
  readonly dropped: string | undefined
}

export interface JobsOptions<Actor, Snapshot, Request, Command, Job, W extends WriteSet> {
  readonly kind: Kind<Snapshot, Request, Command, Job, W>
  readonly lease: Pick<Lease["Service"], "fenced" | "now">
  readonly bulkheads: Bulkheads
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  /** This node is on its way out (D4). */
  readonly leaving: () => boolean
  /** The actor whose desk it is, while it is in memory. */
  readonly employer: (desk: Desk<Request>) => Actor | undefined
  readonly push: (live: Actor, items: ReadonlyArray<Item<Request>>) => void
  readonly drop: (live: Actor, why: "broken" | "fenced") => void
}

/** How long an outcome waits for those of other jobs. */
const othersMs = 2

/** Pauses before an outcome that was not taken is told again, as long as its actor is in memory. */
const againMs = { first: 100, most: 5_000 }

export const makeJobs = <
  Actor extends Employer<Snapshot, Request>,
  Snapshot,
  Request,
  Command,
  Job,
  W extends WriteSet
>({
  bulkheads,
  employer,
  fork,
  kind,
  lease,
  leaving,
  drop,
  push
}: JobsOptions<Actor, Snapshot, Request, Command, Job, W>) => {
  const itemOf = (desk: Desk<Request>, name: string, request: Request, pauseMs: number): Item<Request> => ({
    request,
    task: name,
    reply: (exit: Exit.Exit<Reply, ActorError>) => {
      const failure = Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      if (Exit.isSuccess(exit) || failure?._tag === "Refused" || failure?._tag === "KeyReused") return desk.taken(name)
      // Neither taken nor refused: what the actor needs could not be read, the journal did not answer, or the actor
      // broke over it.
      takeBack(desk, name, pauseMs)
    }
  })

  /**
   * An outcome that was told was not taken: it is in hand again. Told again after a pause to the actor that is in
   * memory by then: that may be here already, and have found the outcome told.
   */
  const takeBack = (desk: Desk<Request>, name: string, pauseMs: number = againMs.first) => {
    desk.takeBack(name)
    fork(
      Effect.delay(
        Effect.sync(() => tellAll(desk, Math.min(pauseMs * 2, againMs.most))),
        pauseMs
      )
    )
  }

  const tellAll = (desk: Desk<Request>, pauseMs: number = againMs.first) => {
    desk.gathering = false
    const live = employer(desk)
    const outcomes = live === undefined ? [] : desk.handOver()
    if (live !== undefined && outcomes.length > 0)
      push(
        live,
        outcomes.map(([name, outcome]) => itemOf(desk, name, outcome, pauseMs))
      )
  }

  /** Nothing goes on without the others' outcomes: they are one commit if they come at once. */
  const tellSoon = (desk: Desk<Request>) => {
    if (desk.running === 0) return tellAll(desk)
    if (desk.gathering) return
    desk.gathering = true
    fork(
      Effect.delay(
        Effect.sync(() => tellAll(desk)),
        othersMs
      )
    )
  }

  const seatOf = ({ desk, ref: { workspace } }: Actor) => (desk.seat ??= bulkheads.seat(workspace, lease))

  /** D6. */
  const settle = (desk: Desk<Request>) => {
    if (desk.seat?.isIdle !== true || (desk.hasOutcomes && employer(desk) !== undefined)) return
    desk.seat.release()
  }

  const start = (live: Actor, name: string, job: Job, repeatable: boolean) => {
    const { desk } = live
    const place = new Place(seatOf(live))
    const fiber = fork(kind.perform(live, job, place))
    const task: Task<Request> = { state: "running", fiber, place, repeatable }
    desk.tasks.set(name, task)
    fiber.addObserver((exit) => {
      place.leave()
      // Unless it was stopped or cut off meanwhile.
      if (desk.tasks.get(name) === task) {
        if (Exit.isFailure(exit)) {
          fork(Effect.logError("a job broke", exit.cause).pipe(Effect.annotateLogs({ job: name })))
          if (place.hasBegun) desk.tasks.set(name, { state: "cut" })
          else desk.tasks.delete(name)
          // Nobody has stopped it, and its outcome will never come: the actor leaves, and is taken up again.
          const now = employer(desk)
          if (now !== undefined) drop(now, "broken")
        } else if (exit.value === undefined) desk.tasks.delete(name)
        else {
          desk.tasks.set(name, { state: "done", outcome: exit.value })
          tellSoon(desk)
        }
      }
      settle(desk)
    })
  }

  /** After a commit: starts and stops what the actor has asked for. */
  const perform = (live: Actor, jobs: ReadonlyArray<Job>) => {
    for (const job of jobs) {
      const run = kind.run(job)
      if ("stop" in run) {
        live.desk.endAll(run.stop)
        settle(live.desk)
        continue
      }
      if (live.dropped !== undefined) return
      if (lease.fenced()) return drop(live, "fenced")
      if ((leaving() && run.repeatable) || live.desk.tasks.has(run.start)) continue
      start(live, run.start, job, run.repeatable)
    }
  }

  /** An actor is in memory again. `mine`: this node has owned it since it started what is on the desk. */
  const resume = (live: Actor, mine: boolean) => {
    const { desk } = live
    // K4 of Bulkheads.ts. Before its moment had come it stood in no line.
    const { runnableAt, updatedAt } = live.head
    if (!mine && desk.seat === undefined) seatOf(live).absentSince(Math.max(updatedAt, runnableAt ?? 0))
    const wanted = new Map<string, Job>()
    for (const job of kind.resume(live.snapshot)) {
      const run = kind.run(job)
      if (!("stop" in run)) wanted.set(run.start, job)
    }
    for (const name of [...desk.tasks.keys()]) if (!wanted.has(name)) desk.end(name)
    const fresh: Array<Job> = []
    for (const [name, job] of wanted) {
      const task = desk.tasks.get(name)
      if (task !== undefined && task.state !== "cut") continue
      const run = kind.run(job)
      if ("stop" in run) continue
      if (run.repeatable || (mine && task === undefined)) {
        desk.tasks.delete(name)
        fresh.push(job)
      } else desk.tasks.set(name, { state: "done", outcome: kind.lostOutcome(job) })
    }
    tellAll(desk)
    perform(live, fresh)
  }

  return { perform, resume, settle, takeBack }
}
