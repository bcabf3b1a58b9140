/**
 * How actors leave this node's memory when nothing is wrong: because they rest, or because the node goes.
 *
 * G1. An actor at rest leaves memory some time after its last command, keeping its owner: coming back costs a read. One that
 *     has something to do later is released, so that the sweep of any node finds it when the moment comes.
 * G2. An actor at rest whose shard is another node's by now is released: that node gets it without a theft.
 * G3. What could not be released is owed.
 */
import { Cause, Effect } from "effect"
import type { Bus } from "../src/bus/Bus.ts"
import type { Journal } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import { hasShard } from "../src/journal/shard.ts"
import type { Live, Loss } from "./Host.ts"
import type { Obligations } from "./obligations.ts"
import type { Placement } from "./Placement.ts"
import type { Residents } from "./residents.ts"

export interface Leaving<Snapshot, Request> {
  readonly bus: Pick<Bus["Service"], "wake">
  readonly journal: Pick<Journal["Service"], "release">
  readonly lease: Pick<Lease["Service"], "now">
  readonly placement: Pick<Placement["Service"], "mine">
  readonly residents: Residents<Snapshot, Request>
  readonly obligations: Obligations<Request>
  readonly lose: (live: Live<Snapshot, Request>, why: Loss) => void
  /** Actors that are on their way into memory. */
  readonly loading: () => number
  /** Milliseconds at rest after which an actor leaves. */
  readonly idleMs: number
}

/** The same of an actor of another node's shard (G2). */
const awayMs = 1_000

/** Actors given back in a statement. */
const portion = 500

export const makeLeaving = <Snapshot, Request>({ bus, idleMs, journal, lease, loading, lose, obligations, placement, residents }: Leaving<Snapshot, Request>) => {
  type Actor = Live<Snapshot, Request>

  const isResting = (actor: Actor) => !actor.busy && actor.mailbox.length === 0 && actor.desk.isClear && !actor.unborn

  /** Gives actors back, and wakes those who are to have the ones that are due. */
  const giveBack = Effect.fnUntraced(function*(given: ReadonlyArray<Actor>) {
    for (let i = 0; i < given.length; i += portion) yield* journal.release(given.slice(i, i + portion).map(({ epoch, ref }) => ({ actor: ref, epoch })))
    const now = lease.now()
    for (const shard of new Set(given.flatMap(({ head, shard }) => head.runnableAt !== null && head.runnableAt <= now ? [shard] : []))) bus.wake(shard)
  })

  const passivate = Effect.suspend(() => {
    const now = performance.now()
    const mine = placement.mine()
    const given: Array<Actor> = []
    for (const actor of residents.all()) {
      const away = !hasShard(mine, actor.shard)
      if (now - actor.touched <= (away ? Math.min(idleMs, awayMs) : idleMs) || !isResting(actor)) continue
      residents.leave(actor)
      if (away || actor.head.runnableAt !== null) given.push(actor)
    }
    return giveBack(given).pipe(
      Effect.catchCause((cause) => {
        for (const actor of given) if (actor.head.runnableAt !== null && !residents.has(actor.ref.id)) obligations.lost(actor, "unanswered", false)
        return Cause.hasDies(cause) ? Effect.logError("actors could not be given back", cause) : Effect.void
      })
    )
  })

  /** Gives every actor back as soon as its jobs have ended, and all of them after so many milliseconds. */
  const drain = Effect.fnUntraced(function*(ms: number) {
    const until = performance.now() + ms
    for (;;) {
      const over = performance.now() >= until
      const given = residents.all().filter((actor) => !actor.unborn && (over || isResting(actor)))
      for (const actor of given) lose(actor, "drained")
      // Those that are not given back are taken over when the lease is gone.
      yield* Effect.catchCause(giveBack(given), (cause) => Effect.logWarning("actors could not be given back", cause))
      if (over) return obligations.cutOff()
      // What the node owes comes back first: an outcome in hand is told.
      if (residents.size === 0 && loading() === 0 && obligations.size === 0) return
      yield* Effect.sleep(10)
    }
  })

  return { passivate, drain }
}
