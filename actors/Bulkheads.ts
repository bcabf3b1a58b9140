/**
 * Bulkheads: how many turns of one workspace run on this node at once, and how many of their calls of models, tools and
 * hooks. Jobs above them stand in line, and other workspaces do not notice. Nothing of it is in the journal.
 *
 * K1. A job first takes its actor's turn slot, which the jobs of one actor share, and then a call slot. A job that has
 *     a call slot needs nothing more to come to its end, so every job's turn comes.
 * K2. A job that only waits for another turn takes no slot. The turn that it waits for goes first.
 * K3. A turn slot is kept as long as a job of its actor has a call slot or wants one, and beyond that until the actor's
 *     host gives it back, since a commit may have more jobs.
 * K4. Time in line is the time in which jobs of an actor wait for a slot and none of its jobs runs. What a node knew of
 *     it is lost with the node: then the time from the actor's last commit to its takeover counts as time in line.
 * K5. The line for turn slots has an end: above it a client that would begin one more turn is refused. A command that
 *     was taken already waits however long the line is: turns that are taken over, messages behind a turn, whatever an
 *     agent asks.
 */
import { Effect } from "effect"
import { limits } from "../src/domain/limits.ts"
import type { WaitingFor } from "../src/domain/thread.ts"
import type { Lease } from "../src/journal/Lease.ts"
import { type Guest, Line } from "./Line.ts"

/** Of one workspace on this node; 0 is no limit. */
export interface SlotLimits {
  readonly turns: number
  readonly calls: number
  /** Turns that may wait in line (K5); 1,000 unless told. */
  readonly line?: number
}

interface Compartment {
  readonly turns: Line<Seat>
  readonly calls: Line<Place>
  /** Seats that have a turn slot or wait for one. */
  seats: number
}

interface Filling {
  used: number
  waiting: number
}

const capOf = (limit: number) => (limit === 0 ? Infinity : limit)

export class Bulkheads {
  /** Of the workspaces that have something under way, or had a moment ago. */
  private readonly compartments = new Map<string, Compartment>()
  private readonly limits: SlotLimits

  constructor(limits: SlotLimits) {
    this.limits = limits
  }

  /** K5. */
  isLineFull(workspace: string) {
    return (this.compartments.get(workspace)?.turns.waiting ?? 0) >= (this.limits.line ?? limits.turnsInLine)
  }

  seat(workspace: string, lease: Clock): Seat {
    return new Seat(this, workspace, lease)
  }

  enter(workspace: string): Compartment {
    const known = this.compartments.get(workspace)
    const compartment = known ?? {
      turns: new Line(capOf(this.limits.turns)),
      calls: new Line(capOf(this.limits.calls)),
      seats: 0
    }
    if (known === undefined) this.compartments.set(workspace, compartment)
    compartment.seats++
    return compartment
  }

  /**
   * Slots that are taken, and those who wait for one: of all workspaces together. Forgets those that have nothing under
   * way.
   */
  filling() {
    const turn: Filling = { used: 0, waiting: 0 }
    const call: Filling = { used: 0, waiting: 0 }
    for (const [workspace, { calls, seats, turns }] of this.compartments) {
      if (seats === 0) this.compartments.delete(workspace)
      turn.used += turns.used
      turn.waiting += turns.waiting
      call.used += calls.used
      call.waiting += calls.waiting
    }
    return { turn, call }
  }
}

type Clock = Pick<Lease["Service"], "now" | "fenced">

/** What one actor's turn has of its workspace's slots. */
export class Seat implements Guest {
  readonly size = 1
  private state: "none" | "waiting" | "held" = "none"
  private compartment: Compartment | undefined
  /** All jobs of the actor that are under way. */
  private jobs = 0
  /** Those among them that have a call slot or want one; and those that wait. */
  private places = 0
  private waits = 0
  /** Those that wait for the turn slot. */
  private readonly joining: Array<Place> = []
  /**
   * K4: milliseconds in line, from the moment at which the first of them began; and since when it stands in line now.
   */
  private queued = 0
  private from = 0
  private inLineSince: number | undefined
  /** When the turn's running time began, as the last of its jobs that had to wait knew it. */
  private since = 0
  private readonly bulkheads: Bulkheads
  private readonly workspace: string
  readonly clock: Clock

  constructor(bulkheads: Bulkheads, workspace: string, clock: Clock) {
    this.bulkheads = bulkheads
    this.workspace = workspace
    this.clock = clock
  }

  /** What the turn waits for, if anything. */
  get waitingFor(): WaitingFor | undefined {
    return this.state === "waiting" ? "turn_slot" : this.waits > 0 ? "call_slot" : undefined
  }

  /** It has a turn slot that none of its jobs needs. */
  get isIdle() {
    return this.state === "held" && this.places === 0
  }

  /** K4: of a span of running time that began then. */
  queuedMs(since: number) {
    if (this.from < since) return 0
    return this.queued + (this.inLineSince === undefined ? 0 : this.clock.now() - this.inLineSince)
  }

  /** K4: nobody can tell any more what became of the turn since then. */
  absentSince(at: number) {
    this.from = at
    this.queued = Math.max(0, this.clock.now() - at)
  }

  /** A job begins, and ends. */
  begin() {
    this.jobs++
    if (this.waits > 0) this.keepTime()
  }

  end() {
    this.jobs--
    if (this.waits > 0) this.keepTime()
  }

  /** K1: whether the job has its slots at once. `since`: when the turn's running time began. */
  come(place: Place, since: number): boolean {
    const { compartment = this.bulkheads.enter(this.workspace) } = this
    this.compartment = compartment
    this.places++
    if (this.state === "none") this.state = compartment.turns.come(this, place.isFirst) ? "held" : "waiting"
    if (this.state === "held" && compartment.calls.come(place, place.isFirst)) return true
    if (this.state === "waiting") this.joining.push(place)
    this.waits++
    this.since = since
    this.keepTime()
    return false
  }

  /** The turn slot is there. */
  admit() {
    this.state = "held"
    for (const place of this.joining.splice(0))
      if (this.compartment?.calls.come(place, place.isFirst) === true) place.admit()
  }

  /** One of its jobs waits no longer. */
  admitted() {
    this.waits--
    this.keepTime()
  }

  /** A job goes that has a call slot, or waits. */
  leave(place: Place, wasInside: boolean) {
    const { compartment } = this
    if (compartment === undefined) return
    this.places--
    if (wasInside) return compartment.calls.leave(place)
    this.admitted()
    const at = this.joining.indexOf(place)
    if (at < 0) return compartment.calls.withdraw(place)
    this.joining.splice(at, 1)
    if (this.places === 0) this.release()
  }

  /** Gives the turn slot back, or the place in the line for it. */
  release() {
    const { compartment, state } = this
    if (compartment === undefined) return
    this.state = "none"
    this.compartment = undefined
    if (state === "held") compartment.turns.leave(this)
    else compartment.turns.withdraw(this)
    compartment.seats--
  }

  private keepTime() {
    const isInLine = this.waits > 0 && this.waits === this.jobs
    if (isInLine === (this.inLineSince !== undefined)) return
    const now = this.clock.now()
    if (this.inLineSince !== undefined) {
      this.queued += now - this.inLineSince
      this.inLineSince = undefined
      return
    }
    // What is known is of an earlier span: none of the turn's jobs waits while its time stands still.
    if (this.from < this.since) {
      this.from = now
      this.queued = 0
    }
    this.inLineSince = now
  }
}

/**
 * How often a job that is let in while its node is fenced looks whether it may go on: if the fence stays closed, it is
 * aborted.
 */
const fencedMs = 50

const steady = Effect.fnUntraced(function* (clock: Clock) {
  while (clock.fenced()) yield* Effect.sleep(fencedMs)
})

/** One job under way, and what it has of the slots. */
export class Place implements Guest {
  readonly size = 1
  isFirst = false
  /** It may have taken effect. */
  hasBegun = false
  /** As `Start` of Kind.ts says. */
  isOver = false
  private state: "outside" | "waiting" | "inside" = "outside"
  private proceed: (() => void) | undefined
  private readonly seat: Seat

  constructor(seat: Seat) {
    this.seat = seat
    seat.begin()
  }

  get isWaiting() {
    return this.state === "waiting"
  }

  begun() {
    this.hasBegun = true
  }

  /** As `Start` of Kind.ts says. */
  enter(since: number, isFirst: boolean): Effect.Effect<void> | undefined {
    this.isFirst = isFirst
    if (this.seat.come(this, since)) {
      this.state = "inside"
      return undefined
    }
    this.state = "waiting"
    return Effect.callback<void>((resume) => {
      // A turn of the event loop each: many may be let in at once. A node that is fenced begins nothing.
      const go = () => resume(Effect.andThen(Effect.yieldNow, steady(this.seat.clock)))
      if (this.state === "inside") go()
      else this.proceed = go
    })
  }

  admit() {
    this.state = "inside"
    this.seat.admitted()
    this.proceed?.()
  }

  /** The job has ended. */
  leave() {
    const { seat, state } = this
    this.state = "outside"
    seat.end()
    if (state !== "outside") seat.leave(this, state === "inside")
  }
}
