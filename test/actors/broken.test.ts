/**
 * What breaks whatever is tried: an actor, its load, its poison, its release. It is tried less and less often, then set
 * aside, and holds up nothing else.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { freshId } from "../../src/seed.ts"
import { startNode, toRest } from "./Node.ts"
import { pass, settle, type World } from "./World.ts"
import { reachable, rowOf, submit, whenPreparing, wordsOf } from "./oneNode.ts"

describe("an actor that breaks whatever is tried", () => {
  /** Its facts cannot be read any more. */
  const spoil = (world: World, ref: ActorRef) => {
    const row = rowOf(world, ref)
    const { carry } = row.head
    row.head = { ...row.head, carry: "{ not JSON" }
    return () => {
      row.head = { ...row.head, carry }
    }
  }
  const broken = Effect.fnUntraced(function* () {
    const { node, ref, world } = yield* reachable()
    yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
    yield* node.kill
    const mend = spoil(world, ref)
    const other = yield* startNode(world, () => undefined)
    yield* pass(120_000)
    return { world, ref, mend, node: other }
  })

  it.effect("is set aside: it failed, nothing of it is due, no fact was written, and nobody tries again", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* broken()
      const { head } = rowOf(world, ref)
      assert.deepInclude(head, { status: "failed", runnableAt: null })
      assert.isNotNull(head.since)
      assert.strictEqual(wordsOf(world, ref), "user(A)")
      const { claims } = world
      yield* pass(600_000)
      assert.strictEqual(world.claims, claims)
      assert.strictEqual(node.registry.wakeable.owed(), 0)
    })
  )

  it.effect("is tried less and less often before that", () =>
    Effect.gen(function* () {
      const { world } = yield* broken()
      assert.isBelow(world.claims, 12)
    })
  )

  it.effect("wakes for a command: its turn is given up, and the next one runs", () =>
    Effect.gen(function* () {
      const { mend, node, ref, world } = yield* broken()
      mend()
      assert.strictEqual((yield* node.deliver(ref, { request: submit("B") })).kind, "created")
      yield* toRest(world, node, ref)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) turn_failed(A: turn_poisoned) user(B) assistant(B) turn_completed(B)"
      )
    })
  )

  it.effect("does not hold up the client's next command when it is a row of the inbox that breaks it", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      const bad = submit("bad")
      const id = bad.type === "submit" ? bad.input.inputId : assert.fail("no submit")
      const { prepare } = node.kind
      let breaks = 0
      Object.assign(node.kind, {
        prepare: (being: Parameters<typeof prepare>[0], request: ThreadRequest, at: number) =>
          request.type === "submit" && request.input.inputId === id
            ? Effect.sync(() => {
                throw new Error(`it breaks for the ${++breaks}. time`)
              })
            : prepare(being, request, at)
      })
      yield* node.journal.post({ id, actor: ref, command: JSON.stringify(bad) })
      const answers = yield* Effect.forkChild(
        Effect.all(
          ["A", "B"].map((text) => node.deliver(ref, { request: submit(text) })),
          { concurrency: 2 }
        ),
        { startImmediately: true }
      )
      yield* settle
      yield* pass(5_000)
      assert.deepStrictEqual(
        (yield* Fiber.join(answers)).map(({ kind }) => kind),
        ["created", "created"]
      )
      yield* toRest(world, node, ref)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B)"
      )
      assert.strictEqual(breaks, 1)
      assert.strictEqual(world.store.inbox.size, 1)
    })
  )
})
describe("a command behind a poison that breaks", () => {
  it.effect("is not delivered again and again without a pause", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* node.kill
      const row = rowOf(world, ref)
      const { carry } = row.head
      row.head = { ...row.head, carry: "{ not JSON" }
      const other = yield* startNode(world, () => undefined)
      yield* pass(120_000)
      row.head = { ...row.head, carry }
      let poisons = 0
      whenPreparing(other, "poison", () => {
        poisons++
        if (poisons > 100) return undefined
        return Effect.die(new Error("it breaks"))
      })
      const before = world.claims
      const asked = yield* Effect.forkChild(Effect.exit(other.deliver(ref, { request: submit("B") })), {
        startImmediately: true
      })
      for (let i = 0; i < 50; i++) yield* settle
      const claims = world.claims - before
      yield* Fiber.interrupt(asked)
      assert.isBelow(claims, 10)
    })
  )
})
describe("an inbox row for a thread that cannot be loaded", () => {
  it.effect("is tried less and less often", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* node.kill
      const row = rowOf(world, ref)
      row.head = { ...row.head, carry: "{ not JSON" }
      const other = yield* startNode(world, () => undefined)
      const id = freshId("input")
      yield* other.journal.post({
        id,
        actor: ref,
        command: JSON.stringify({ ...submit("B", "queue", id), acknowledged: true })
      })
      yield* pass(300_000)
      const before = world.claims
      yield* pass(600_000)
      assert.isBelow(world.claims - before, 30)
    })
  )
})
describe("an outcome in hand", () => {
  it.effect("that breaks its actor while a client asks does not use up all attempts in one moment", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      let breaks = 0
      const { prepare } = node.kind
      Object.assign(node.kind, {
        // Broken for a moment: a defect that is over a second later.
        prepare: (being: Parameters<typeof prepare>[0], request: ThreadRequest, at: number) =>
          request.type === "model.replied" && at < lastBad
            ? Effect.sync(() => {
                breaks++
                throw new Error("it breaks")
              })
            : prepare(being, request, at)
      })
      let lastBad = 0
      yield* node.deliver(ref, { request: submit("A\n/wait 1s") })
      lastBad = rowOf(world, ref).head.updatedAt + 2_500
      yield* pass(900)
      const slow = yield* Deferred.make<void>()
      let n = 0
      world.slowness = Effect.suspend(() => (n++ === 0 ? Deferred.await(slow) : Effect.void))
      // One that is being written while the outcome comes, and one behind it.
      const asked = yield* Effect.forkChild(Effect.exit(node.deliver(ref, { request: submit("B") })), {
        startImmediately: true
      })
      yield* settle
      yield* pass(200)
      const keyed = yield* Effect.forkChild(
        Effect.exit(node.deliver(ref, { request: submit("C"), key: { scope: "s", fingerprint: "f" } })),
        { startImmediately: true }
      )
      yield* settle
      yield* Deferred.succeed(slow, undefined)
      yield* pass(60_000)
      yield* Fiber.interrupt(asked)
      yield* Fiber.interrupt(keyed)
      assert.isAtLeast(breaks, 1)
      assert.match(wordsOf(world, ref), /turn_completed\(A\)/)
    })
  )
})
describe("a release that breaks", () => {
  it.effect("leaves its actors owed, as one without an answer does", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable({ idleMs: 0 })
      const { release } = node.journal
      let releases = 0
      // As 25006 does, a database that is read-only for the moment of a failover: no DatabaseUnavailable, but a defect.
      Object.assign(node.journal, {
        release: (actors: Parameters<typeof release>[0]) =>
          ++releases === 1 ? Effect.die(new Error("cannot execute UPDATE in a read-only transaction")) : release(actors)
      })
      yield* node.deliver(ref, { request: submit("A\n/call ask {}") })
      yield* pass(60_000)
      assert.isAtLeast(releases, 1)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) intent(A) wait_created(A) wait_resolved(A: expired) result(A: tool_timeout) assistant(A) turn_completed(A)"
      )
    })
  )
})
