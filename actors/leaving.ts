/**
 * Actors leave this node's memory when nothing is wrong: because they rest, or because the node goes.
 *
 * G1. An actor at rest leaves memory some time after its last command, keeping its owner: coming back costs a read. An
 *     actor that has something to do later is released, so that the sweep of any node finds it before the moment comes;
 *     an actor that is to be told the time soon stays (W6 of Sweep.ts).
 * G2. An actor at rest whose shard is another node's by now is released: that node gets it without a theft.
 * G3. An actor with a moment that could not be released is owed, unless it is back in memory, or owed already.
 * G4. While more actors are here than a node is to hold, actors at rest leave at once, the longest at rest first.
 * G5. A node that goes gives every actor back as soon as its jobs have ended. What it owns outside memory is loaded for
 *     a command, and given back right after it, until the whole node is done.
 */
import { Cause, Effect, Exit } from "effect"
import type { Bus } from "../src/bus/Bus.ts"
import type { Journal } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import { hasShard } from "../src/journal/shard.ts"
import type { Monotonic } from "../src/monotonic.ts"
import { actorsEvicted, record } from "../src/telemetry/metrics.ts"
import type { Activation, DropReason } from "./live.ts"
import type { Obligations } from "./obligations.ts"
import type { Placement } from "./Placement.ts"
import type { Residents } from "./residents.ts"
import { aheadMs } from "./rounds.ts"

export interface Leaving<Snapshot, Request> {
  readonly bus: Pick<Bus["Service"], "wake">
  readonly journal: Pick<Journal["Service"], "release">
  readonly lease: Pick<Lease["Service"], "now">
  readonly monotonic: Monotonic
  readonly placement: Pick<Placement["Service"], "mine">
  readonly residents: Residents<Snapshot, Request>
  readonly obligations: Obligations<Request>
  readonly drop: (live: Activation<Snapshot, Request>, why: DropReason) => void
  /** Actors that are on their way into memory. */
  readonly loading: () => number
  /** Milliseconds at rest after which an actor leaves. */
  readonly idleMs: number
  /** Actors in memory, as long as others rest (G4). */
  readonly mostActors: number
  /** The kind's name, for the count of those that left early. */
  readonly name: string
}

/** The part of the most that is left when some have left early. */
const roomy = 0.95

/** Actors given back in a statement. */
const portion = 500

export const makeLeaving = <Snapshot, Request>({
  bus,
  idleMs,
  journal,
  lease,
  loading,
  drop,
  monotonic,
  mostActors,
  name,
  obligations,
  placement,
  residents
}: Leaving<Snapshot, Request>) => {
  type Actor = Activation<Snapshot, Request>

  const isResting = (actor: Actor) => !actor.busy && actor.mailbox.length === 0 && actor.desk.isClear && !actor.unborn

  /** G3. */
  const owe = (kept: ReadonlyArray<Actor>) => {
    for (const actor of kept)
      if (actor.head.runnableAt !== null && !residents.has(actor.ref.id) && obligations.get(actor.ref) === undefined)
        obligations.owe(actor, { held: false })
  }

  /** Gives actors back, and wakes those who are to have the ones that are due. */
  const release = Effect.fnUntraced(function* (given: ReadonlyArray<Actor>) {
    for (let i = 0; i < given.length; i += portion) {
      const some = given.slice(i, i + portion)
      const exit = yield* Effect.exit(journal.release(some.map(({ epoch, ref }) => ({ actor: ref, epoch }))))
      if (Exit.isFailure(exit)) {
        owe(given.slice(i))
        if (Cause.hasDies(exit.cause)) yield* Effect.logError("actors could not be given back", exit.cause)
        return
      }
      const now = lease.now()
      const isDue = ({ head: { runnableAt } }: Actor) => runnableAt !== null && runnableAt <= now
      for (const shard of new Set(some.filter(isDue).map(({ shard }) => shard))) bus.wake(shard)
    }
  })

  /** They rest, and leave memory. */
  const leave = (resting: ReadonlyArray<Actor>) => {
    const mine = placement.mine()
    for (const actor of resting) drop(actor, "rested")
    return release(resting.filter(({ head, shard }) => head.runnableAt !== null || !hasShard(mine, shard)))
  }

  const passivate = Effect.suspend(() => {
    const now = monotonic()
    const near = lease.now() + aheadMs
    const ripe = (actor: Actor) => now - actor.lastUsedAt >= idleMs
    return leave(residents.all().filter((actor) => ripe(actor) && isResting(actor) && !residents.isDueBy(actor, near)))
  })

  /** G4. Makes a little more room than is needed: what follows need not look at all of them again. */
  const evict = Effect.suspend(() => {
    if (residents.size <= mostActors) return Effect.void
    const resting = residents
      .all()
      .filter(isResting)
      .sort((a, b) => a.lastUsedAt - b.lastUsedAt)
    const early = resting.slice(0, residents.size - Math.floor(mostActors * roomy))
    record(actorsEvicted.with({ kind: name }), early.length)
    return leave(early)
  })

  let givingBack = false
  // What the node owes comes back first: an outcome in hand is told.
  const isEmpty = () => !givingBack && residents.size === 0 && loading() === 0 && obligations.size === 0

  /** G5. Gives all of them back after so many milliseconds. */
  const drain = Effect.fnUntraced(function* (ms: number, isOver: () => boolean = isEmpty) {
    const until = monotonic() + ms
    for (;;) {
      const over = monotonic() >= until
      for (const { desk } of residents.all()) desk.withhold()
      obligations.withhold()
      const given = residents.all().filter((actor) => !actor.unborn && (over || isResting(actor)))
      for (const actor of given) drop(actor, "drained")
      givingBack = true
      yield* release(given)
      givingBack = false
      // Those that are not given back by then are taken over when the lease is gone.
      if (over) return obligations.cutOff()
      if (isOver()) return
      yield* Effect.sleep(10)
    }
  })

  return { passivate, evict, drain, isEmpty }
}
