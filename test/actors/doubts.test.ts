/**
 * What happens where two things meet: a loss and an append, a birth and a caller who leaves, a sweep and what it cannot
 * read.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { freshId } from "../../src/seed.ts"
import { toRest } from "./Node.ts"
import { pass, settle, threadOf, type World } from "./World.ts"
import { misreport, setting, spoil, start } from "./oneNode.ts"
import { birth, bodyOf, create, rowOf, submit, wordsOf } from "./threads.ts"

/** Runs once, right before the next commit. */
const beforeNext = ({ store }: World, act: () => void) => {
  store.fault = () => {
    store.fault = () => undefined
    act()
    return undefined
  }
}

describe("a command whose actor is lost while its append is under way", () => {
  it.effect("is answered by whoever holds the actor then, when the append is refused", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      beforeNext(world, () => {
        rowOf(world, ref).owner = null
        node.registry.wakeable.dropAll()
      })
      const asked = yield* Effect.forkChild(node.deliver(ref, { request: submit("A") }))
      yield* toRest(world, node, ref)
      yield* settle
      assert.isDefined(asked.pollUnsafe(), "nobody answers")
      assert.strictEqual((yield* Fiber.join(asked)).kind, "created")
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("is told that the node leaves, when it was given back meanwhile", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      beforeNext(world, () => {
        Effect.runFork(node.registry.wakeable.drain(0))
        rowOf(world, ref).owner = null
      })
      const asked = yield* Effect.forkChild(Effect.flip(node.deliver(ref, { request: submit("A") })))
      yield* pass(100)
      assert.isDefined(asked.pollUnsafe(), "nobody answers")
      assert.strictEqual((yield* Fiber.join(asked))._tag, "Draining")
    })
  )
})

describe("a command whose append was committed and is told as refused", () => {
  it.effect("is decided again, and taken once", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      misreport(node)
      const answer = yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      assert.strictEqual(bodyOf(answer).state, "admitted")
      assert.strictEqual(rowOf(world, ref).inputs.size, 0)
      yield* toRest(world, node, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )
})

describe("a birth", () => {
  it.effect("is no orphan when its caller leaves before the commit", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting()
      const ref = threadOf(freshId("thread"))
      const asked = yield* Effect.forkChild(node.registry.create(ref, birth, { request: submit("A\n/wait 3s") }))
      beforeNext(world, () => asked.interruptUnsafe())
      yield* settle
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(asked)))
      assert.isTrue(node.registry.wakeable.isLive(ref), "it was born, and this node does not know it")
      const before = world.claims
      yield* toRest(world, node, ref)
      assert.strictEqual(world.claims, before, "it lives twice")
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )
})

describe("a sweep", () => {
  it.effect("delivers what stands behind a row that nobody can read", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const post = (id: string, command: string) =>
        world.store.inbox.set(ref.workspace + id, { id, actor: ref, command })
      post("a", "{ not JSON")
      post("b", JSON.stringify(submit("A")))
      yield* pass(1_500)
      yield* toRest(world, node, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("resumes its other actors when one cannot be loaded", () =>
    Effect.gen(function* () {
      const { node, ref: broken, world } = yield* setting()
      const sound = yield* create(node)
      for (const ref of [broken, sound]) yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* node.kill
      spoil(world, broken)
      const other = yield* start(world)
      world.store.inbox.set(`${sound.workspace}c`, { id: "c", actor: sound, command: JSON.stringify(submit("B")) })
      yield* pass(1_500)
      yield* toRest(world, other, sound)
      assert.strictEqual(
        wordsOf(world, sound),
        "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B)"
      )
    })
  )
})
