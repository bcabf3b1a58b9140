/** What waits in the inbox, what is due, and what a node leaves behind: other nodes have it. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import type { Reply } from "../../actors/Actor.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { hasShard, shardOf } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { startNode, toRest } from "./Node.ts"
import { pass, settle } from "./World.ts"
import { bornAwayFrom, setting } from "./nodes.ts"
import { ann, bodyOf, create, post, rowOf, submit, wordsOf } from "./threads.ts"

describe("what waits in the inbox", () => {
  it.effect("is delivered by the owner within a second, without a hint; with one at once", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* setting()
      wire.cut.add(b.incarnation)
      yield* post(b, ref, submit("A"))
      yield* pass(1_100)
      assert.match(wordsOf(world, ref), /^user\(A\)/)
      yield* toRest(world, a, ref)
      yield* post(b, ref, submit("B"))
      wire.shared.wake(shardOf(ref.id))
      yield* pass(50)
      assert.match(wordsOf(world, ref), /user\(B\)/)
    })
  )

  it.effect("comes before what is asked of the owner directly", () =>
    Effect.gen(function* () {
      const { a, b, c, ref, world } = yield* setting()
      yield* post(b, ref, submit("A"))
      yield* post(c, ref, submit("B"))
      yield* Effect.all(
        ["C", "D"].map((name) => a.deliver(ref, { request: submit(name) })),
        { concurrency: "unbounded" }
      )
      yield* post(b, ref, submit("E"))
      yield* b.deliver(ref, { request: submit("F") })
      yield* toRest(world, a, ref)
      assert.strictEqual(
        wordsOf(world, ref),
        ["A", "B", "C", "D", "E", "F"].map((x) => `user(${x}) assistant(${x}) turn_completed(${x})`).join(" ")
      )
      assert.strictEqual(world.store.inbox.size, 0)
    })
  )

  it.effect("comes first also on a node that takes the actor over", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting(2)
      yield* a.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* post(b, ref, submit("B"))
      yield* a.kill
      yield* b.deliver(ref, { request: submit("C") })
      yield* toRest(world, b, ref)
      assert.strictEqual(
        wordsOf(world, ref),
        ["A", "B", "C"].map((x) => `user(${x}) assistant(${x}) turn_completed(${x})`).join(" ")
      )
    })
  )

  it.effect("holds nobody up when it cannot be read, and stays for a node that can", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting()
      for (const [id, command] of [
        ["x", "{ not JSON"],
        ["y", `{"type":"submit","input":7}`],
        ["z", `{"type":"model.replied"}`]
      ] as const) {
        world.store.inbox.set(ref.workspace + id, { id, actor: ref, command })
      }
      yield* b.deliver(ref, { request: submit("A") })
      yield* toRest(world, a, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.strictEqual(world.store.inbox.size, 3)
    })
  )

  it.effect("is read a portion at a time, and a direct input comes behind all of it, however much there is", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting(2)
      const read: Array<number> = []
      const { inboxRows } = world.store
      world.store.inboxRows = (...asked) => {
        const rows = inboxRows.apply(world.store, asked)
        read.push(rows.length)
        return rows
      }
      yield* a.deliver(ref, { request: submit("A\n/wait 3s") })
      const strange = Array.from({ length: 70 }, (_, i) => `strange${i}`)
      for (const id of strange) world.store.inbox.set(ref.workspace + id, { id, actor: ref, command: "{ not JSON" })
      const posted = Array.from({ length: 90 }, (_, i) => submit(`posted${i}`))
      for (const request of posted) yield* post(b, ref, request)
      const direct = submit("direct")
      assert.strictEqual(bodyOf(yield* a.deliver(ref, { request: direct })).state, "queued")
      assert.deepStrictEqual(
        [...rowOf(world, ref).inputs.values()].filter(({ state }) => state === "pending").map(({ id }) => id),
        [...posted, direct].map(({ input }) => input.inputId)
      )
      assert.deepStrictEqual(
        [...world.store.inbox.values()].map(({ id }) => id),
        strange
      )
      assert.isAtMost(Math.max(...read), 64)
    })
  )

  it.effect("is refused no more: it waits behind a full queue, and its turn fails where it may not run", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting()
      yield* a.deliver(ref, { request: submit("A\n/wait 30s") })
      for (let i = 0; i < 100; i++) yield* a.deliver(ref, { request: submit(`q${i}`) })
      assert.deepInclude(yield* Effect.flip(b.deliver(ref, { request: submit("late") })), {
        _tag: "Refused",
        reason: "queue_full"
      })
      yield* post(b, ref, submit("posted"))
      yield* post(b, ref, submit("disabled", { identity: "eve" }))
      world.disabled.add("eve")
      yield* pass(1_100)
      yield* a.deliver(ref, { request: { type: "cancel", principal: ann, clearQueue: false } })
      yield* toRest(world, a, ref)
      assert.match(
        wordsOf(world, ref),
        /user\(posted\) assistant\(posted\) turn_completed\(posted\) user\(disabled\) turn_failed\(disabled: identity_disabled\)$/
      )
    })
  )
})

describe("what is due", () => {
  it.effect("is taken by the node of its shard at once when its owner dies, and by nobody else", () =>
    Effect.gen(function* () {
      const { a, b, c, world } = yield* setting()
      const refs: Array<ActorRef> = []
      for (let i = 0; i < 20; i++) refs.push(yield* create(a))
      for (const ref of refs) yield* a.deliver(ref, { request: submit("A\n/wait 30s") })
      yield* a.kill
      // The list of nodes is looked at ten times a second.
      yield* pass(150)
      yield* settle
      const owners = refs.map((ref) => rowOf(world, ref).owner)
      assert.deepStrictEqual(
        owners,
        refs.map(({ id }) => (hasShard(b.placement.mine(), shardOf(id)) ? b.incarnation : c.incarnation))
      )
      assert.strictEqual(world.claims, refs.length)
    })
  )

  it.effect("and left lying by a node that lives and does nothing is taken by another", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting(2)
      yield* a.deliver(ref, { request: submit("A\n/wait 3s") })
      // On the list of nodes, and deaf.
      const wedged = freshId("node")
      world.store.nodes.set(wedged, {
        name: "wedged",
        deadline: Infinity,
        status: { actors: 0, births: 0, draining: false, bus: "connected" }
      })
      const posted = yield* create(b)
      for (const each of [ref, posted]) rowOf(world, each).owner = null
      yield* post(b, posted, submit("P"))
      yield* a.kill
      yield* b.kill
      const c = yield* startNode(world, () => undefined)
      yield* pass(5_000)
      for (const each of [ref, posted]) yield* toRest(world, c, each)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.strictEqual(wordsOf(world, posted), "user(P) assistant(P) turn_completed(P)")
    })
  )
})

describe("a node that leaves", () => {
  it.effect("hands over what it has, and nobody is refused meanwhile", () =>
    Effect.gen(function* () {
      const { a, b, c, world } = yield* setting()
      const refs: Array<ActorRef> = []
      for (let i = 0; i < 20; i++) refs.push(yield* create(a))
      for (const ref of refs) yield* a.deliver(ref, { request: submit("A\n/wait 2s\n/then\n/wait 2s") })
      const leaving = yield* Effect.forkChild(a.drain(10_000))
      const sent: Array<Fiber.Fiber<Reply, unknown>> = []
      for (let i = 0; i < 12; i++) {
        yield* pass(300)
        for (const [n, ref] of refs.entries())
          sent.push(yield* Effect.forkChild([a, b, c][(i + n) % 3]!.deliver(ref, { request: submit(`m${i}`) })))
      }
      yield* pass(10_000)
      yield* Fiber.join(leaving)
      for (const fiber of sent) assert.strictEqual((yield* Fiber.join(fiber)).kind, "created")
      for (const ref of refs) assert.notStrictEqual(rowOf(world, ref).owner, a.incarnation)
      yield* a.kill
      for (const ref of refs) {
        const node =
          [b, c].find(({ incarnation }) => rowOf(world, ref).owner === incarnation) ?? assert.fail("nobody has it")
        yield* toRest(world, node, ref)
        assert.strictEqual(wordsOf(world, ref).match(/turn_completed/g)?.length, 13)
        assert.strictEqual(rowOf(world, ref).fruitless, 0)
      }
    })
  )

  it.effect("has the others read the list of nodes at once, before it gives anything back", () =>
    Effect.gen(function* () {
      const { a, b, c, ref, world } = yield* setting()
      assert.deepStrictEqual(world.beats, [])
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(50)
      assert.sameMembers(world.beats, [a.incarnation, b.incarnation, c.incarnation])
      assert.strictEqual(rowOf(world, ref).owner, a.incarnation)
      yield* pass(1_500)
      yield* Fiber.join(leaving)
      assert.notStrictEqual(rowOf(world, ref).owner, a.incarnation)
    })
  )

  it.effect("gives back what rests at once, and what works as soon as its step has ended", () =>
    Effect.gen(function* () {
      const { a, ref: resting, world } = yield* setting()
      const working = yield* create(a)
      yield* a.deliver(working, { request: submit("A\n/wait 5s") })
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(1_200)
      assert.notStrictEqual(rowOf(world, resting).owner, a.incarnation)
      assert.strictEqual(rowOf(world, working).owner, a.incarnation)
      yield* pass(4_000)
      assert.notStrictEqual(rowOf(world, working).owner, a.incarnation)
      yield* pass(100)
      yield* Fiber.join(leaving)
      assert.strictEqual(wordsOf(world, working), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("does not take again what it has given back, though another node remembers that it had it", () =>
    Effect.gen(function* () {
      const { a, b, c, world } = yield* setting()
      const away = yield* bornAwayFrom(a, b)
      // Whoever asks finds it on the node that leaves, not where its shard is, and remembers.
      yield* c.deliver(away, { request: submit("A") })
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(1_300)
      yield* Fiber.join(leaving)
      assert.isNull(rowOf(world, away).owner)
      yield* c.deliver(away, { request: submit("B") })
      assert.strictEqual(rowOf(world, away).owner, c.incarnation)
    })
  )

  it.effect("answers for what it is about to give back, and gives it back then", () =>
    Effect.gen(function* () {
      const { a, b, c, world } = yield* setting()
      const away = yield* bornAwayFrom(a, b)
      yield* c.deliver(away, { request: submit("A") })
      const { release } = a.journal
      const gate = Deferred.makeUnsafe<void>()
      Object.assign(a.journal, {
        release: (given: Parameters<typeof release>[0]) => Effect.andThen(Deferred.await(gate), release(given))
      })
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(1_300)
      // It is in nobody's memory, and still the leaving node's.
      assert.strictEqual(rowOf(world, away).owner, a.incarnation)
      yield* c.deliver(away, { request: submit("B") })
      assert.strictEqual(rowOf(world, away).owner, a.incarnation)
      Deferred.doneUnsafe(gate, Effect.void)
      yield* pass(500)
      yield* Fiber.join(leaving)
      yield* c.deliver(away, { request: submit("C") })
      assert.notStrictEqual(rowOf(world, away).owner, a.incarnation)
      assert.include(wordsOf(world, away), "user(C)")
    })
  )

  it.effect("brings its own client's command to the next owner, though it gave the actor back at that moment", () =>
    Effect.gen(function* () {
      const { a, b, c, world } = yield* setting()
      const away = yield* bornAwayFrom(a, b)
      yield* c.deliver(away, { request: submit("A") })
      yield* pass(200)
      const { release } = a.journal
      const gate = Deferred.makeUnsafe<void>()
      Object.assign(a.journal, {
        release: (given: Parameters<typeof release>[0]) => Effect.andThen(Deferred.await(gate), release(given))
      })
      const { claim } = b.journal
      Object.assign(b.journal, {
        claim: (...asked: Parameters<typeof claim>) =>
          Effect.tapError(claim(...asked), () =>
            Effect.andThen(Deferred.succeed(gate, undefined), Effect.sleep("50 millis"))
          )
      })
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(1_300)
      const asked = yield* Effect.forkChild(a.deliver(away, { request: submit("B") }))
      yield* pass(2_000)
      yield* Fiber.join(asked)
      yield* Fiber.join(leaving)
      assert.strictEqual(rowOf(world, away).owner, b.incarnation)
      assert.include(wordsOf(world, away), "turn_completed(B)")
    })
  )

  it.effect("alone refuses new work, and gives everything back", () =>
    Effect.gen(function* () {
      const { a, ref, world } = yield* setting(1)
      const leaving = yield* Effect.forkChild(a.drain(1_000))
      yield* pass(1_500)
      yield* Fiber.join(leaving)
      assert.isNull(rowOf(world, ref).owner)
      assert.strictEqual((yield* Effect.flip(a.deliver(ref, { request: submit("B") })))._tag, "Draining")
    })
  )
})
