/**
 * The sweep: what makes the system whole again without anyone asking. Every second it claims actors
 * that are due and have no live owner, resumes those that this node lost, and delivers the inbox;
 * several times a second it tells live actors the time.
 *
 * W1. A pass that fails is logged and followed by the next; the sweep itself never ends.
 * W2. A takeover resumes at most so many actors at once: a dead node's work does not arrive as one herd.
 */
import { Context, Effect, Layer, Schedule, Stream } from "effect"
import { type ActorKind, Journal } from "../src/journal/Journal.ts"
import { Lease } from "../src/journal/Lease.ts"
import { allShards } from "../src/journal/shard.ts"
import { IdentityRegistry } from "./identity/layer.ts"
import type { Wakeable } from "./Registry.ts"
import { ThreadRegistry } from "./thread/layer.ts"

const claimed = 200
const atOnce = 50

export class Sweep extends Context.Service<Sweep, {
  /** Milliseconds since the last pass that went well, by the monotonic clock. */
  readonly lagMs: () => number
  /** Hands over what lives here: the first step of leaving. Waits at most so many milliseconds for running jobs. */
  readonly drain: (ms: number) => Effect.Effect<void>
  readonly live: () => number
  readonly jobs: () => number
}>()("troupe/Sweep") {
  static readonly layer = Layer.effect(Sweep, Effect.gen(function*() {
    const journal = yield* Journal
    const lease = yield* Lease
    const registries: Readonly<Record<ActorKind, Wakeable>> = { thread: yield* ThreadRegistry, identity: yield* IdentityRegistry }
    const all = Object.values(registries)
    let last = performance.now()
    let draining = false

    const pass = Effect.gen(function*() {
      if (draining || lease.fenced()) return
      // First, so that whoever is woken below is told the time before it may leave again.
      yield* Effect.forEach(all, (registry) => registry.passivate, { discard: true })
      const orphans = all.flatMap((registry) => registry.takeOrphans())
      const due = yield* journal.due(claimed, allShards)
      const asleep = [...orphans, ...due].filter((ref) => !registries[ref.kind].isLive(ref))
      yield* Effect.forEach(asleep, (ref) => registries[ref.kind].wake(ref), { concurrency: atOnce, discard: true })
      const inbox = yield* journal.inbox(claimed, allShards)
      yield* Effect.forEach(inbox, (row) => registries[row.actor.kind].accept(row), { concurrency: atOnce, discard: true })
      last = performance.now()
    }).pipe(
      Effect.tapCause((cause) => Effect.logWarning("a sweep failed", cause)),
      Effect.ignoreCause
    )

    yield* Effect.repeat(pass, Schedule.spaced("1 second")).pipe(Effect.forkScoped)
    yield* Effect.repeat(
      Effect.forEach(all, (registry) => registry.tick, { discard: true }).pipe(
        Effect.tapCause((cause) => Effect.logWarning("a tick failed", cause)),
        Effect.ignoreCause
      ),
      Schedule.spaced("100 millis")
    ).pipe(Effect.forkScoped)
    // L1: what the old incarnation held belongs to whoever claims it now.
    yield* lease.rejoined.pipe(
      Stream.runForEach(() => Effect.forEach(all, (registry) => registry.dropAll, { discard: true })),
      Effect.forkScoped
    )

    return Sweep.of({
      lagMs: () => performance.now() - last,
      drain: (ms) => Effect.suspend(() => {
        draining = true
        return Effect.forEach(all, (registry) => registry.drain(ms), { concurrency: "unbounded", discard: true })
      }),
      live: () => all.reduce((sum, registry) => sum + registry.size(), 0),
      jobs: () => all.reduce((sum, registry) => sum + registry.jobs(), 0)
    })
  }))
}
