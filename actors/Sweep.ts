/**
 * The sweep: what makes the system whole again without anyone asking. Every second it claims actors of this node's
 * shards that are due and have no live owner, and delivers the inbox; several times a second it has what this node owes
 * met, and live actors told the time. Each of these has a fiber of its own: none waits for another.
 *
 * W1. A pass that fails is logged and followed by the next; the sweep itself never ends.
 * W2. A takeover resumes at most so many actors at once, and goes on slowly while many that it has resumed cannot
 *     begin: a dead node's work does not arrive as one herd, and no actor is in memory long before its job can begin.
 *     A look ends when all but a few of what it takes up are in memory, or after a second: those that take long hold up
 *     no other, as long as there are fewer of them than are resumed at once.
 * W3. A hint, or a change in the list of nodes, brings the next look forward, unless the node is as busy as W2 says.
 *     Losing every hint costs a second.
 * W4. An actor that another node is to take, and has not taken when it is seen a second time, is taken by a third: a
 *     node that lives and does nothing strands nobody.
 * W5. Leaving: the list of nodes says so first, and the others are told to read it. Only then is anything given back,
 *     so that whoever is woken knows that it is to take over. A node that was not told reads the list by its next beat.
 * W6. An actor that is due within some looks is taken up already, as long as there is room, and is told the time when
 *     its moment comes: neither the claims nor the wait for a look come on top of that.
 */
import { Context, Effect, Latch, Layer, Schedule, Semaphore } from "effect"
import { Bus } from "../src/bus/Bus.ts"
import { type ActorRef, Journal } from "../src/journal/Journal.ts"
import { Lease } from "../src/journal/Lease.ts"
import { hasShard, shardCount, shardsOf } from "../src/journal/shard.ts"
import { makeMonotonic } from "../src/monotonic.ts"
import { makeInboxDrain } from "./inboxDrain.ts"
import { Placement } from "./Placement.ts"
import { Registries, type Wakeable } from "./Registries.ts"
import { aheadMs, makeRounds, safely } from "./rounds.ts"
import { makeViews, type View } from "./strays.ts"

/** Actors that one look takes up, and how many of them at once. */
const claimed = 200
const atOnce = 50

/** W2: a look ends when so many of those that it takes up are on their way still, or after so long. */
const mostBehind = 9
const patience = "1 second"

/** W2: so many jobs that cannot begin, and a look takes up no more than `atOnce`, without another right behind it. */
const mostUnready = 200

const noShards = shardsOf(() => false)
const noSlots = { turn: { used: 0, waiting: 0 }, call: { used: 0, waiting: 0 } }

export class Sweep extends Context.Service<
  Sweep,
  {
    /**
     * Milliseconds since the sweep last went well, takeovers and inbox, or since an actor that it takes up is on its
     * way, if that is longer; by the monotonic clock.
     */
    readonly lagMs: () => number
    /**
     * Hands over what lives here: the first step of leaving. Ends after so many milliseconds, or as soon as nothing is
     * left and nothing else keeps the node.
     */
    readonly drain: (ms: number, isKept?: () => boolean) => Effect.Effect<void>
    readonly live: () => number
    readonly jobs: () => number
    readonly slots: Wakeable["slots"]
  }
>()("troupe/Sweep") {
  static readonly layer = Layer.effect(
    Sweep,
    Effect.gen(function* () {
      const bus = yield* Bus
      const journal = yield* Journal
      const lease = yield* Lease
      const placement = yield* Placement
      const registries = yield* Registries
      const monotonic = yield* makeMonotonic
      const { all } = registries
      const live = () => all().reduce((sum, registry) => sum + registry.size(), 0)
      let draining = false

      const isLive = (ref: ActorRef) => registries.of(ref.kind)?.isLive(ref) === true
      const serve = Effect.suspend(() =>
        Effect.forEach(all(), (registry) => registry.serve, { concurrency: "unbounded", discard: true })
      )

      const passivate = Effect.suspend(() =>
        draining || lease.fenced()
          ? Effect.void
          : Effect.forEach(all(), (registry) => registry.passivate, { concurrency: "unbounded", discard: true })
      )

      // Takeovers

      const isPressed = () => all().reduce((sum, registry) => sum + registry.unready(), 0) >= mostUnready
      /** The last look has left some that can be had. */
      let more = false
      const takeMore = () => {
        if (!more || isPressed()) return
        more = false
        takeovers.ring("all")
      }

      const scope = yield* Effect.scope
      const hands = Semaphore.makeUnsafe(atOnce)
      /** Actors on their way into memory, or waiting for a hand: their ids, and since when. The longest comes first. */
      const waking = new Map<string, number>()
      const oldest = () => waking.values().next().value ?? Infinity
      const wake = (ref: ActorRef) => {
        waking.set(ref.id, monotonic())
        return hands
          .withPermits(1)(registries.of(ref.kind)?.wake(ref) ?? Effect.void)
          .pipe(Effect.ensuring(Effect.sync(() => waking.delete(ref.id))))
      }
      /** Begins to wake them; ends when all but a few are awake, or its patience is over. */
      const wakeAll = Effect.fnUntraced(function* (asleep: ReadonlyArray<ActorRef>) {
        let behind = asleep.length
        const few = Latch.makeUnsafe(behind <= mostBehind)
        const awake = Effect.sync(() => {
          if (--behind <= mostBehind) few.openUnsafe()
        })
        yield* Effect.forEach(asleep, (ref) => Effect.forkIn(Effect.ensuring(wake(ref), awake), scope), {
          discard: true
        })
        yield* Effect.timeoutOption(few.await, patience)
      })

      const take = Effect.fnUntraced(function* ({ isToTake, shards }: View) {
        const most = isPressed() ? atOnce : claimed
        const due = yield* journal.due(most, shards, all().every(({ hasRoom }) => hasRoom()) ? aheadMs : 0)
        const asleep = due.filter((ref) => isToTake(ref) && !isLive(ref) && !waking.has(ref.id))
        yield* wakeAll(asleep)
        more = due.length * 2 >= most && asleep.some(isLive)
        takeMore()
      })

      const toTake = makeViews(placement, isLive, lease.now)
      const takeovers = makeRounds({
        what: "a sweep",
        lease,
        monotonic,
        whole: Effect.suspend(() => (draining ? Effect.void : take(toTake.next()))),
        hinted: (isNamed) =>
          Effect.suspend(() => {
            takeMore()
            const view = among(toTake.own(), isNamed)
            return draining || isPressed() || view.shards.every((byte) => byte === 0) ? Effect.void : take(view)
          })
      })

      // The inbox

      const deliveries = yield* makeInboxDrain(registries, lease.now, (shard) => inbox.ring(shard))
      const toDeliver = makeViews(placement, isLive, lease.now)
      /** A node that leaves delivers only to actors that it owns. */
      const remaining: View = { shards: noShards, isToTake: () => true }
      const inbox = makeRounds({
        what: "a look at the inbox",
        lease,
        monotonic,
        whole: Effect.suspend(() => deliveries.look(draining ? remaining : toDeliver.next(), true)),
        hinted: (isNamed) => deliveries.look(draining ? remaining : among(toDeliver.own(), isNamed), false)
      })

      /** W3: the shards that were named, as far as they are this node's. */
      const among = ({ isToTake, shards }: View, isNamed: (shard: number) => boolean): View => ({
        isToTake,
        shards: shardsOf((shard) => isNamed(shard) && hasShard(shards, shard))
      })

      const ring = (shard: number | "all") => {
        takeovers.ring(shard)
        inbox.ring(shard)
      }

      yield* Effect.forkScoped(takeovers.run)
      yield* Effect.forkScoped(inbox.run)

      // Every second this node's part of the agenda; that of the dead once a second for all nodes together.
      const tending = Effect.suspend(() =>
        lease.fenced() ? Effect.void : journal.tend(Math.random() * lease.nodes().length < 1)
      )
      yield* Effect.repeat(safely(tending, "the agenda's upkeep"), Schedule.spaced("1 second")).pipe(Effect.forkScoped)

      yield* bus.onWake((shard) => {
        if (hasShard(placement.mine(), shard) || all().some((registry) => registry.holds(shard))) ring(shard)
      })

      // W5: a beat reads the list of nodes.
      const listing = Latch.makeUnsafe(false)
      yield* bus.onNodesChanged(() => {
        if (!draining) listing.openUnsafe()
      })
      yield* Effect.gen(function* () {
        yield* listing.await
        listing.closeUnsafe()
        yield* lease.beat
      }).pipe(Effect.forever, Effect.forkScoped)

      yield* Effect.repeat(serve, Schedule.spaced("100 millis")).pipe(Effect.forkScoped)
      yield* Effect.repeat(safely(passivate, "leaving memory"), Schedule.spaced("1 second")).pipe(Effect.forkScoped)

      let nodes = placement.version()
      const tick = Effect.suspend(() => {
        if (placement.version() !== nodes) {
          nodes = placement.version()
          ring("all")
        }
        takeMore()
        return Effect.forEach(all(), (registry) => registry.tick, { discard: true })
      })
      yield* Effect.repeat(safely(tick, "a tick"), Schedule.spaced("100 millis")).pipe(Effect.forkScoped)

      // L1 of Lease.ts: what the old incarnation held belongs to whoever claims it now.
      yield* lease.onLapse(() => {
        for (const registry of all()) registry.dropAll()
      })
      // All kinds share the same.
      const slots = () => all()[0]?.slots() ?? noSlots
      lease.describe(() => {
        const { call, turn } = slots()
        const inLine = turn.waiting + call.waiting
        return {
          actors: live(),
          births: placement.births(),
          shards: shardCount,
          draining,
          bus: bus.state(),
          ...(inLine === 0 ? {} : { inLine })
        }
      })

      return Sweep.of({
        lagMs: () => monotonic() - Math.min(takeovers.last(), inbox.last(), oldest()),
        drain: Effect.fnUntraced(function* (ms, isKept = () => false) {
          const until = monotonic() + ms
          draining = true
          for (const registry of all()) registry.close()
          yield* lease.beat
          bus.nodesChanged()
          // Those who have not heard it find it by their next beat (W5).
          if (lease.nodes().length > 1) yield* Effect.sleep(Math.min(lease.beatEvery * 1.1, ms / 2))
          const isDone = () => !isKept() && all().every((registry) => registry.isEmpty())
          // No kind ends before the others: while one keeps the node, actors of the others may still be asked for.
          do {
            let over = false
            const isOver = () => (over ||= isDone())
            yield* Effect.forEach(all(), (registry) => registry.drain(Math.max(0, until - monotonic()), isOver), {
              concurrency: "unbounded",
              discard: true
            })
          } while (monotonic() < until && !isDone())
        }),
        live,
        slots,
        jobs: () => all().reduce((sum, registry) => sum + registry.jobs(), 0)
      })
    })
  )
}
