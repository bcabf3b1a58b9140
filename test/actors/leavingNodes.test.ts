/** What comes to a node while it leaves: for actors at rest that are its own still, and from its own jobs. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber } from "effect"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { shardOf } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { addBells } from "./bell/bells.ts"
import { type Node, startNode } from "./Node.ts"
import { bornAwayFrom, setting } from "./nodes.ts"
import { ann, birth, bodyOf, create, message, post, rowOf, submit, wordsOf } from "./threads.ts"
import { connect } from "./Wire.ts"
import { makeWorld, pass, settle, threadOf } from "./World.ts"

/** The node leaves; what has nothing to do with actors keeps it for so many milliseconds. */
const leaveKeptFor = Effect.fnUntraced(function* (node: Node, ms: number) {
  const until = (yield* Clock.currentTimeMillis) + ms
  const clock = yield* Clock.Clock
  return yield* Effect.forkChild(node.drain(20_000, () => clock.currentTimeMillisUnsafe() < until))
})

/** A node whose thread has left its memory and is its own still, beside two others. */
const resting = Effect.fnUntraced(function* () {
  const made = yield* setting(3, 0)
  yield* pass(2_000)
  const { a, ref, world } = made
  assert.isUndefined(a.registry.peek(ref.id))
  assert.strictEqual(rowOf(world, ref).owner, a.incarnation)
  return made
})

/** Two nodes that have bells as well, and a thread at rest of the first. */
const withBells = Effect.fnUntraced(function* () {
  const world = makeWorld()
  yield* connect(world)
  const made = addBells(world)
  const a = yield* startNode(world, () => undefined, 0)
  const c = yield* startNode(world, () => undefined)
  yield* settle
  const ref = yield* create(a)
  yield* pass(2_500)
  assert.strictEqual(rowOf(world, ref).owner, a.incarnation)
  const [bells = assert.fail("no bells")] = made
  return { world, a, c, ref, bells }
})

describe("an actor at rest of a node that leaves", () => {
  it.effect("goes on elsewhere when it is asked for, as long as anything keeps the node", () =>
    Effect.gen(function* () {
      const { a, c, ref, world } = yield* resting()
      const leaving = yield* leaveKeptFor(a, 8_000)
      yield* pass(2_000)
      yield* c.deliver(ref, { request: submit("A") })
      yield* pass(1_500)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.notStrictEqual(rowOf(world, ref).owner, a.incarnation)
      assert.isUndefined(leaving.pollUnsafe())
      yield* pass(6_000)
      yield* Fiber.join(leaving)
    })
  )

  it.effect("does so too when actors of another kind keep it", () =>
    Effect.gen(function* () {
      const { a, bells, c, ref, world } = yield* withBells()
      const bell: ActorRef = { ...ref, kind: "bell", id: freshId("operation") }
      const ring = { request: { type: "ring" as const, ms: 60_000 } }
      yield* bells.create(bell, { parent: null, attributes: "{}" }, ring)
      yield* pass(2_000)
      // It is on its way into memory until the gate opens, and cannot be given back.
      const stay = Deferred.makeUnsafe<void>()
      const { load } = a.journal
      Object.assign(a.journal, {
        load: (claimed: Parameters<typeof load>[0]) =>
          claimed.actor.kind === "bell" ? Effect.andThen(Deferred.await(stay), load(claimed)) : load(claimed)
      })
      yield* Effect.forkChild(Effect.exit(bells.tell(bell, ring)))
      yield* pass(100)
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(2_000)
      yield* c.deliver(ref, { request: submit("A") })
      yield* pass(1_500)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.isUndefined(leaving.pollUnsafe())
      yield* Deferred.succeed(stay, undefined)
      yield* pass(500)
      yield* Fiber.join(leaving)
    })
  )

  it.effect("does so too when actors of another kind come as the last of its own leaves", () =>
    Effect.gen(function* () {
      const { a, bells, c, ref, world } = yield* withBells()
      const last = yield* create(a)
      const { release } = a.journal
      Object.assign(a.journal, {
        // The kinds' rounds get out of step.
        release: (given: Parameters<typeof release>[0]) =>
          given[0]?.actor.id === last.id ? Effect.delay(release(given), 5) : release(given)
      })
      const stay = Deferred.makeUnsafe<void>()
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(1_106)
      world.slowness = Deferred.await(stay)
      const born: ActorRef = { ...ref, kind: "bell", id: freshId("operation") }
      const ring = { request: { type: "ring" as const, ms: 60_000 } }
      yield* Effect.forkChild(Effect.exit(bells.ensure(born, { parent: null, attributes: "{}" }, ring)))
      yield* pass(1)
      world.slowness = Effect.void
      yield* pass(100)
      yield* c.deliver(ref, { request: submit("A") })
      yield* pass(1_500)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.isUndefined(leaving.pollUnsafe())
      yield* Deferred.succeed(stay, undefined)
      yield* pass(20_000)
      yield* Fiber.join(leaving)
    })
  )

  it.effect("takes what waits for it in the inbox within a second", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* resting()
      const busy = yield* create(a)
      yield* a.deliver(busy, { request: submit("busy\n/wait 15s") })
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(1_300)
      yield* post(b, ref, submit("A"))
      yield* pass(2_500)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.strictEqual(world.store.inbox.size, 0)
      assert.isUndefined(leaving.pollUnsafe())
      yield* pass(15_000)
      yield* Fiber.join(leaving)
    })
  )

  it.effect("is reached by a node that has not heard of the leave: nothing is stored for it", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* resting()
      const { of } = b.placement
      Object.assign(b.placement, { of: (shard: number) => (shard === shardOf(ref.id) ? a.incarnation : of(shard)) })
      const leaving = yield* Effect.forkChild(a.drain(20_000))
      yield* pass(100)
      const reply = yield* b.deliver(ref, { request: submit("A") })
      assert.strictEqual(bodyOf(reply).state, "admitted")
      yield* pass(3_000)
      yield* Fiber.join(leaving)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )
})

describe("a command of a client of a node that leaves", () => {
  it.effect("is refused when its actor's owner does not answer, and nobody is asked without end", () =>
    Effect.gen(function* () {
      const { a, b, c, wire, world } = yield* setting()
      const away = yield* bornAwayFrom(c, b)
      yield* c.deliver(away, { request: submit("A\n/wait 30s") })
      wire.cut.add(c.incarnation)
      const leaving = yield* leaveKeptFor(a, 10_000)
      yield* pass(1_300)
      wire.asked.length = 0
      let questions = 0
      const { request } = a.bus
      Object.assign(a.bus, {
        // A loop without a pause would never let the test go on.
        request: (...asked: Parameters<typeof request>) => (questions++ > 20 ? Effect.never : request(...asked))
      })
      const asked = yield* Effect.forkChild(Effect.exit(a.deliver(away, { request: submit("B") })))
      yield* pass(5_000)
      assert.isAtMost(questions, 4)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(asked)))
      assert.strictEqual(rowOf(world, away).owner, c.incarnation)
      yield* pass(6_000)
      yield* Fiber.join(leaving)
    })
  )
})

describe("a command of such a client that was taken, whose answer is lost", () => {
  it.effect("is not said to be refused: it may be stored for its owner, which knows it", () =>
    Effect.gen(function* () {
      const { a, b, c, wire, world } = yield* setting()
      const away = yield* bornAwayFrom(c, b)
      const leaving = yield* leaveKeptFor(a, 10_000)
      yield* pass(1_300)
      const { request } = a.bus
      Object.assign(a.bus, {
        request: (...asked: Parameters<typeof request>) => {
          if (asked[0] === c.incarnation) wire.fate = "unanswered"
          return request(...asked)
        }
      })
      const asked = yield* Effect.forkChild(Effect.flip(a.deliver(away, { request: submit("B") })))
      yield* pass(5_000)
      assert.deepInclude(yield* Fiber.join(asked), { _tag: "Unreachable", elsewhere: true })
      assert.strictEqual(wordsOf(world, away), "user(B) assistant(B) turn_completed(B)")
      yield* pass(8_000)
      yield* Fiber.join(leaving)
    })
  )

  it.effect("is not said to be stored when there is no such actor", () =>
    Effect.gen(function* () {
      const { a, wire } = yield* setting()
      const leaving = yield* leaveKeptFor(a, 10_000)
      yield* pass(1_300)
      wire.fate = "unheard"
      const nobody = threadOf(freshId("thread"))
      const asked = yield* Effect.forkChild(Effect.flip(a.deliver(nobody, { request: submit("B") })))
      yield* pass(5_000)
      assert.deepInclude(yield* Fiber.join(asked), { _tag: "Refused", reason: "not_found" })
      yield* pass(8_000)
      yield* Fiber.join(leaving)
    })
  )
})

describe("a job of a node that leaves", () => {
  it.effect("has the thread that it needs born, which goes on elsewhere", () =>
    Effect.gen(function* () {
      const { a, world } = yield* setting()
      const leaving = yield* leaveKeptFor(a, 5_000)
      const children = [threadOf(freshId("thread")), threadOf(freshId("thread"))] as const
      const bear = (ref: ActorRef, name: string) =>
        a.registry.ensure(ref, birth, {
          request: { type: "submit", creating: true, input: { ...message(name), principal: ann } }
        })
      yield* pass(500)
      yield* bear(children[0], "A")
      yield* pass(1_500)
      yield* bear(children[1], "B")
      yield* pass(2_000)
      for (const [i, name] of ["A", "B"].entries())
        assert.strictEqual(wordsOf(world, children[i]!), `user(${name}) assistant(${name}) turn_completed(${name})`)
      assert.notStrictEqual(rowOf(world, children[1]).owner, a.incarnation)
      yield* pass(2_000)
      yield* Fiber.join(leaving)
      const late = yield* Effect.flip(
        a.registry.create(threadOf(freshId("thread")), birth, { request: { type: "create" } })
      )
      assert.strictEqual(late._tag, "Draining")
    })
  )
})
