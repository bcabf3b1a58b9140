/** A node whose beat was not answered in time: fenced while its lease lives, and after it has lapsed. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { freshId } from "../../src/seed.ts"
import { said, toRest } from "./Node.ts"
import { makeWorld, pass, settle } from "./World.ts"
import { setting, start } from "./oneNode.ts"
import { bodyOf, create, rowOf, submit, wordsOf } from "./threads.ts"

describe("a node", () => {
  it.effect("that is fenced aborts its jobs and starts none, and does them again when its lease is back", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      world.fenced.add(node.incarnation)
      yield* pass(1_000)
      assert.strictEqual(node.registry.wakeable.jobs(), 0)
      yield* pass(10_000)
      assert.strictEqual(wordsOf(world, ref), "user(A)")
      world.fenced.delete(node.incarnation)
      yield* pass(5_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("that is fenced for a moment waits for the beat that it owes, and keeps what it has", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* settle
      world.fenced.add(node.incarnation)
      const queued = yield* Effect.forkChild(node.deliver(ref, { request: submit("B") }), { startImmediately: true })
      // As long as a beat takes on a machine that is full.
      yield* pass(500)
      assert.strictEqual(rowOf(world, ref).inputs.size, 0, "nothing is taken without a lease")
      world.fenced.delete(node.incarnation)
      yield* pass(50)
      assert.strictEqual(bodyOf(yield* Fiber.join(queued)).state, "queued")
      assert.deepInclude(rowOf(world, ref), { owner: node.incarnation, epoch: 1 })
      assert.strictEqual(node.registry.wakeable.jobs(), 1)
    })
  )

  it.effect("that is fenced aborts its jobs before its lease ends, however short that is", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      // Of a TTL of half a second.
      world.beatEvery = 100
      const node = yield* start(world)
      const ref = yield* create(node)
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* settle
      assert.strictEqual(node.registry.wakeable.jobs(), 1)
      world.fenced.add(node.incarnation)
      yield* pass(250)
      assert.strictEqual(node.registry.wakeable.jobs(), 0)
      yield* node.kill
    })
  )

  it.effect("has no actor in memory that it claimed under a lease which lapsed while it read", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting(0)
      yield* pass(2_000)
      const { load } = node.journal
      const gate = Deferred.makeUnsafe<void>()
      let loads = 0
      Object.assign(node.journal, {
        load: (claimed: Parameters<typeof load>[0]) =>
          loads++ === 0 ? Effect.andThen(Deferred.await(gate), load(claimed)) : load(claimed)
      })
      const asked = yield* Effect.forkChild(Effect.flip(node.deliver(ref, { request: submit("A") })), {
        startImmediately: true
      })
      yield* settle
      world.store.lapse(node.incarnation)
      node.registry.wakeable.dropAll()
      const next = freshId("node")
      world.store.nodes.set(next, { name: next, deadline: Infinity, status: said })
      Object.assign(node.lease, { incarnation: () => next })
      Deferred.doneUnsafe(gate, Effect.void)
      assert.strictEqual((yield* Fiber.join(asked))._tag, "Unreachable")
      assert.isUndefined(node.registry.peek(ref.id))
      yield* node.deliver(ref, { request: submit("B") })
      assert.strictEqual(rowOf(world, ref).owner, next)
    })
  )

  it.effect("decides nothing for an actor that it lost while it waited for its beat", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* settle
      const other = yield* start(world)
      world.fenced.add(node.incarnation)
      const queued = yield* Effect.forkChild(Effect.result(node.deliver(ref, { request: submit("B") })), {
        startImmediately: true
      })
      yield* pass(100)
      node.registry.wakeable.dropAll()
      world.store.lapse(node.incarnation)
      yield* other.deliver(ref, { request: submit("C") })
      world.fenced.delete(node.incarnation)
      const tried: Array<string> = []
      world.store.fault = (_, append, owner) => {
        if (owner === node.incarnation) tried.push(append.actor.id)
        return undefined
      }
      yield* pass(300)
      yield* Fiber.join(queued)
      assert.deepStrictEqual(tried, [], "nothing was decided")
      yield* toRest(world, other, ref)
    })
  )

  it.effect("that is fenced takes no actor over, not even from one without a lease", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const other = yield* start(world)
      world.store.lapse(node.incarnation)
      world.fenced.add(other.incarnation)
      assert.strictEqual((yield* Effect.flip(other.deliver(ref, { request: submit("A") })))._tag, "Unreachable")
      assert.deepInclude(rowOf(world, ref), { owner: node.incarnation, epoch: 1 })
      world.fenced.delete(other.incarnation)
      yield* other.deliver(ref, { request: submit("A") })
      assert.deepInclude(rowOf(world, ref), { owner: other.incarnation, epoch: 2 })
    })
  )
})
