/** The sweep where much is to be done at once: W4, W6 of Sweep.ts, I1 to I3 of inboxDrain.ts. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Logger, Semaphore } from "effect"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { shardCount } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { addBells } from "./bell/bells.ts"
import type { Node } from "./Node.ts"
import { connect } from "./Wire.ts"
import { makeWorld, pass, settle, workspace, type World } from "./World.ts"
import { start } from "./oneNode.ts"
import { create, post, rowOf, submit, wordsOf } from "./threads.ts"

/** A row that this version cannot read. */
const postStrange = (node: Node, ref: ActorRef) =>
  node.journal.post({ id: freshId("input"), actor: ref, command: JSON.stringify({ type: "of another version" }) })
const postInput = (node: Node, ref: ActorRef, text: string) => post(node, ref, submit(text))
const rowsOf = ({ store }: World, ref: ActorRef) => store.inboxOf(ref).length

describe("the inbox", () => {
  it.effect("of one thread with hundreds of rows holds up no other's, nor a takeover", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const [a, b] = [yield* start(world), yield* start(world)]
      const [busy, other, lost] = [yield* create(a), yield* create(a), yield* create(b)]
      yield* b.deliver(lost, { request: submit("L\n/wait 3s") })
      for (let i = 0; i < 400; i++) yield* postInput(a, busy, `m${i}`)
      yield* postInput(a, other, "O")
      world.slowness = Effect.sleep("700 millis")
      yield* b.kill
      yield* pass(4_000)
      assert.strictEqual(rowsOf(world, other), 0)
      assert.isAbove(rowsOf(world, busy), 0)
      assert.notStrictEqual(rowOf(world, lost).owner, b.incarnation)
      assert.strictEqual(wordsOf(world, other), "user(O) assistant(O) turn_completed(O)")
      // It goes on without waiting for the next second.
      world.slowness = Effect.void
      for (let i = 0; i < 20 && rowsOf(world, busy) > 0; i++) yield* pass(300)
      assert.strictEqual(rowsOf(world, busy), 0)
    })
  )

  it.effect("passes over rows that this version cannot read, however many, and says so of each once", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const said: Array<unknown> = []
      const logger = Logger.make(({ message }) => void said.push(...(Array.isArray(message) ? message : [message])))
      yield* Effect.gen(function* () {
        const a = yield* start(world)
        const [strange, mixed, other] = [yield* create(a), yield* create(a), yield* create(a)]
        for (let i = 0; i < 250; i++) yield* postStrange(a, strange)
        for (let i = 0; i < 70; i++) yield* postStrange(a, mixed)
        yield* postInput(a, mixed, "M")
        yield* postInput(a, other, "O")
        yield* pass(10_000)
        assert.deepStrictEqual([rowsOf(world, strange), rowsOf(world, mixed), rowsOf(world, other)], [250, 70, 0])
        assert.strictEqual(wordsOf(world, mixed), "user(M) assistant(M) turn_completed(M)")
        assert.strictEqual(said.filter((line) => line === "a row of the inbox cannot be read").length, 320)
      }).pipe(Effect.provide(Logger.layer([logger])))
    })
  )
})

describe("a takeover that takes long", () => {
  for (const many of [1, 25]) {
    it.effect(`holds up no other, were there ${many} of them`, () =>
      Effect.gen(function* () {
        const world = makeWorld()
        const [a, c] = [yield* start(world), yield* start(world)]
        const slow: Array<ActorRef> = []
        for (let i = 0; i < many; i++) slow.push(yield* create(a))
        for (const ref of slow) yield* a.deliver(ref, { request: submit("S\n/wait 3s") })
        const { load } = c.journal
        Object.assign(c.journal, {
          load: (claimed: Parameters<typeof load>[0]) =>
            slow.some(({ id }) => claimed.actor.id === id) ? Effect.never : load(claimed)
        })
        yield* a.kill
        yield* pass(2_000)
        for (const ref of slow) assert.strictEqual(rowOf(world, ref).owner, c.incarnation)
        const b = yield* start(world)
        const other = yield* create(b)
        yield* b.deliver(other, { request: submit("O\n/wait 3s") })
        yield* b.kill
        yield* pass(3_000)
        assert.strictEqual(rowOf(world, other).owner, c.incarnation)
        // Whoever watches the node sees that some are on their way still.
        assert.isAbove(c.lagMs(), 3_000)
      })
    )
  }
})

describe("what a node that lives and does nothing is to take", () => {
  for (const others of [1, 2, 4]) {
    it.effect(`is taken by one of ${others} others`, () =>
      Effect.gen(function* () {
        const world = makeWorld()
        yield* connect(world)
        const first = yield* start(world)
        const refs: Array<ActorRef> = []
        for (let i = 0; i < 24; i++) refs.push(yield* create(first))
        for (const ref of refs) yield* first.deliver(ref, { request: submit("A\n/wait 1s") })
        const status = { actors: 0, births: 0, shards: shardCount, draining: false, bus: "connected" }
        world.store.nodes.set(freshId("node"), { name: "wedged", deadline: Infinity, status })
        yield* first.kill
        const nodes: Array<Node> = []
        for (let i = 0; i < others; i++) nodes.push(yield* start(world))
        yield* settle
        yield* pass(14_000)
        for (const ref of refs) assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      })
    )
  }
})

describe("a dead node's turns", () => {
  it.effect("are taken up no faster than they can begin, and all end", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const [a, b] = [yield* start(world), yield* start(world)]
      const refs: Array<ActorRef> = []
      for (let i = 0; i < 2_000; i++) refs.push(yield* create(a))
      yield* Effect.forEach(refs, (ref) => a.deliver(ref, { request: submit("A\n/wait 30s") }), { discard: true })
      // Conversations are read one by one: 200 a second.
      const lane = Semaphore.makeUnsafe(1)
      let inLine = 0
      let most = 0
      world.reading = Effect.suspend(() => {
        most = Math.max(most, ++inLine)
        return Effect.ensuring(
          lane.withPermits(1)(Effect.sleep("5 millis")),
          Effect.sync(() => {
            inLine--
          })
        )
      })
      yield* a.kill
      yield* pass(20_000)
      assert.strictEqual(inLine, 0, "all have begun")
      for (const ref of refs) assert.strictEqual(rowOf(world, ref).owner, b.incarnation)
      // One look's worth, and what was on its way when there were so many.
      assert.isAtMost(most, 450)
      yield* pass(35_000)
      for (const ref of refs) assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("are taken up at a walk while none can begin: what needs no conversation does not wait for them", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const [a] = [yield* start(world), yield* start(world)]
      const refs: Array<ActorRef> = []
      for (let i = 0; i < 600; i++) refs.push(yield* create(a))
      yield* Effect.forEach(refs, (ref) => a.deliver(ref, { request: submit("A\n/wait 30s") }), { discard: true })
      world.reading = Effect.never
      yield* a.kill
      yield* pass(2_000)
      const taken = () => refs.filter((ref) => rowOf(world, ref).owner !== a.incarnation).length
      const before = taken()
      assert.isBelow(before, 600)
      yield* pass(4_000)
      assert.isAtLeast(taken(), Math.min(600, before + 100))
    })
  )
})

describe("a look that hangs", () => {
  it.effect("keeps no actor at rest in memory", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const node = yield* start(world, 1_000)
      yield* pass(1_500)
      Object.assign(node.journal, { due: () => Effect.never })
      for (let i = 0; i < 20; i++) yield* create(node)
      yield* pass(3_500)
      assert.strictEqual(node.registry.wakeable.size(), 0)
    })
  )
})

describe("moments", () => {
  /** A node whose actors leave it as soon as they rest, and so many bells, which ring until a moment in 20 s. */
  const ringing = Effect.fnUntraced(function* (world: World, count: number) {
    const made = addBells(world)
    const node = yield* start(world, 0)
    const [bells = assert.fail("no bells")] = made
    const refs = Array.from({ length: count }, (): ActorRef => ({ workspace, kind: "bell", id: freshId("operation") }))
    const until = (yield* Clock.currentTimeMillis) + 20_000
    for (const ref of refs)
      yield* bells.create(ref, { parent: null, attributes: "{}" }, { request: { type: "ring", ms: 20_000 } })
    const stored = () => refs.flatMap((ref) => world.store.actors.get(keyOf(ref)) ?? [])
    return {
      node,
      until,
      /** When those fell silent that have. */
      silent: () =>
        stored().flatMap(({ facts }) => facts.flatMap(({ at, type }) => (type === "fell_silent" ? [at] : []))),
      owners: () => new Set(stored().map(({ owner }) => owner))
    }
  })

  it.effect("that are near have their actors in memory before they come, and wait for no look", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const { node, owners, silent, until } = yield* ringing(world, 20)
      yield* pass(10_000)
      assert.deepStrictEqual([...owners()], [null], "they have left memory")
      yield* pass(8_000)
      assert.deepStrictEqual([...owners()], [node.incarnation])
      const { claims } = world
      yield* pass(3_000)
      assert.strictEqual(silent().length, 20)
      for (const at of silent()) assert.isTrue(at >= until && at <= until + 100, `${at - until} ms late`)
      assert.strictEqual(world.claims, claims, "they have stayed")
    })
  )

  it.effect("wait for a look where a node has as many actors as it is to hold", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      world.mostActors = 1
      const { node, owners, silent, until } = yield* ringing(world, 1)
      const busy = yield* create(node)
      yield* node.deliver(busy, { request: submit("B\n/wait 60s") })
      yield* pass(19_900)
      assert.deepStrictEqual([...owners(), silent()], [null, []])
      yield* pass(1_300)
      const [at = 0] = silent()
      assert.isTrue(at >= until && at <= until + 1_200, `${at - until} ms late`)
    })
  )

  it.effect("that come at once are told so many at a time", () =>
    Effect.gen(function* () {
      const world = makeWorld()
      const { silent } = yield* ringing(world, 1_200)
      yield* pass(19_900)
      world.slowness = Effect.sleep("1 second")
      const counts: Array<number> = []
      for (let i = 0; i < 4; i++) {
        yield* pass(1_150)
        counts.push(silent().length)
      }
      assert.deepStrictEqual(counts, [500, 1_000, 1_200, 1_200])
    })
  )
})
