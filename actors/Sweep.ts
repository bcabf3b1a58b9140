/**
 * The sweep: what makes the system whole again without anyone asking. Every second it claims actors
 * of this node's shards that are due and have no live owner, resumes those that this node lost, and
 * delivers the inbox; several times a second it tells live actors the time.
 *
 * W1. A pass that fails is logged and followed by the next; the sweep itself never ends.
 * W2. A takeover resumes at most so many actors at once: a dead node's work does not arrive as one herd.
 * W3. A hint, or a change in the list of nodes, brings the next look forward. Losing every hint costs a second.
 * W4. What another node is to take, and has not taken when it is seen a second time, is taken here: a
 *     node that lives and does nothing strands nobody.
 * W5. Leaving: the list of nodes says so first, and the others have seen it before anything is given
 *     back; so whoever is woken knows that it is to take over.
 */
import { Context, Deferred, Effect, Layer, Schedule } from "effect"
import { Bus } from "../src/bus/Bus.ts"
import { type ActorKind, type ActorRef, type InboxRow, Journal } from "../src/journal/Journal.ts"
import { Lease } from "../src/journal/Lease.ts"
import { allShards, hasShard, shardCount, shardOf, type Shards, shardsOf } from "../src/journal/shard.ts"
import { IdentityRegistry } from "./identity/layer.ts"
import { Placement } from "./Placement.ts"
import type { Wakeable } from "./Registry.ts"
import { ThreadRegistry } from "./thread/layer.ts"

const claimed = 200
const atOnce = 50
const passEvery = 1_000

/** Every so many passes all shards are looked at, for what others have left lying (W4). */
const wideEvery = 2

const noShards = shardsOf(() => false)

/** Looks that hints bring forward are at least so many milliseconds apart. */
const hintedEvery = 20

export class Sweep extends Context.Service<Sweep, {
  /** Milliseconds since the last pass that went well, by the monotonic clock. */
  readonly lagMs: () => number
  /** Hands over what lives here: the first step of leaving. Takes at most so many milliseconds. */
  readonly drain: (ms: number) => Effect.Effect<void>
  readonly live: () => number
  readonly jobs: () => number
}>()("troupe/Sweep") {
  static readonly layer = Layer.effect(Sweep, Effect.gen(function*() {
    const bus = yield* Bus
    const journal = yield* Journal
    const lease = yield* Lease
    const placement = yield* Placement
    const registries: Readonly<Record<ActorKind, Wakeable>> = { thread: yield* ThreadRegistry, identity: yield* IdentityRegistry }
    const all = Object.values(registries)
    const live = () => all.reduce((sum, registry) => sum + registry.size(), 0)
    let last = performance.now()
    let draining = false

    /** Shards that hints have named since the last look. */
    const named = new Set<number>()
    let bell = Deferred.makeUnsafe<void>()
    const ring = (shard: number) => {
      named.add(shard)
      Deferred.doneUnsafe(bell, Effect.void)
    }

    const isLive = (ref: ActorRef) => registries[ref.kind].isLive(ref)

    const deliver = Effect.fnUntraced(function*(shards: Shards, isToTake: (found: InboxRow) => boolean) {
      const inbox = (yield* journal.inbox(claimed, shards)).filter(isToTake)
      yield* Effect.forEach(inbox, (row) => registries[row.actor.kind].accept(row.actor, [row]), { concurrency: atOnce, discard: true })
    })

    const look = Effect.fnUntraced(function*(shards: Shards, isToTake: (found: ActorRef | InboxRow) => boolean) {
      const due = yield* journal.due(claimed, shards)
      const asleep = due.filter(isToTake).filter((ref) => !isLive(ref))
      yield* Effect.forEach(asleep, (ref) => registries[ref.kind].wake(ref), { concurrency: atOnce, discard: true })
      // There are more, and they can be had.
      if (due.length === claimed && asleep.some(isLive)) for (const ref of due) ring(shardOf(ref.id))
      yield* deliver(shards, isToTake)
    })

    /** What others were to take at the last wide look. */
    let strays = new Set<string>()
    const wide = Effect.gen(function*() {
      const mine = placement.mine()
      const before = strays
      strays = new Set()
      yield* look(allShards, (found) => {
        const ref = "actor" in found ? found.actor : found
        if (hasShard(mine, shardOf(ref.id)) || isLive(ref)) return true
        strays.add(found.id)
        return before.has(found.id)
      })
    })

    let passes = 0
    const pass = Effect.gen(function*() {
      // First, so that whoever is woken below is told the time before it may leave again.
      yield* Effect.forEach(all, (registry) => registry.passivate, { discard: true })
      yield* passes++ % wideEvery === 0 ? wide : look(placement.mine(), () => true)
      last = performance.now()
    })

    /** W3: the shards that were named, as far as they are this node's. */
    const hinted = Effect.suspend(() => {
      const mine = placement.mine()
      const shards = shardsOf((shard) => named.has(shard) && hasShard(mine, shard))
      named.clear()
      return look(shards, () => true)
    })

    /** What is still here while the node leaves still takes what is stored for it. */
    const remaining = deliver(noShards, ({ actor }) => isLive(actor))

    const safely = <E>(effect: Effect.Effect<void, E>, what: string) =>
      effect.pipe(Effect.tapCause((cause) => Effect.logWarning(`${what} failed`, cause)), Effect.ignoreCause)

    yield* Effect.gen(function*() {
      let next = lease.now()
      for (;;) {
        const rung = yield* Effect.timeoutOption(Deferred.await(bell), Math.max(0, next - lease.now()))
        bell = Deferred.makeUnsafe<void>()
        // However many hints come, the whole pass has its turn.
        const whole = rung._tag === "None" || lease.now() >= next
        if (whole) next = lease.now() + passEvery
        if (!lease.fenced()) yield* safely(draining ? remaining : whole ? pass : hinted, "a sweep")
        if (!whole) yield* Effect.sleep(hintedEvery)
      }
    }).pipe(Effect.forkScoped)

    yield* bus.onWake((shard) => {
      if (hasShard(placement.mine(), shard) || all.some((registry) => registry.holds(shard))) ring(shard)
    })

    yield* Effect.repeat(Effect.forEach(all, (registry) => registry.serve, { concurrency: "unbounded", discard: true }), Schedule.spaced("100 millis")).pipe(Effect.forkScoped)

    let nodes = placement.version()
    const tick = Effect.suspend(() => {
      if (placement.version() !== nodes) {
        nodes = placement.version()
        for (let shard = 0; shard < shardCount; shard++) ring(shard)
      }
      return Effect.forEach(all, (registry) => registry.tick, { discard: true })
    })
    yield* Effect.repeat(safely(tick, "a tick"), Schedule.spaced("100 millis")).pipe(Effect.forkScoped)

    // L1: what the old incarnation held belongs to whoever claims it now.
    yield* lease.onLapse(() => { for (const registry of all) registry.dropAll() })
    lease.describe(() => ({ actors: live(), births: placement.births(), draining, bus: bus.state() }))

    return Sweep.of({
      lagMs: () => performance.now() - last,
      drain: Effect.fnUntraced(function*(ms) {
        const until = performance.now() + ms
        draining = true
        for (const registry of all) registry.close()
        yield* lease.beat
        // The others' next beats tell them (W5).
        if (lease.nodes().length > 1) yield* Effect.sleep(Math.min(lease.beatEvery * 1.1, ms / 2))
        yield* Effect.forEach(all, (registry) => registry.drain(Math.max(0, until - performance.now())), { concurrency: "unbounded", discard: true })
      }),
      live,
      jobs: () => all.reduce((sum, registry) => sum + registry.jobs(), 0)
    })
  }))
}
