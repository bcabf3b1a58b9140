/**
 * What happens where two things meet: a loss and an append, a birth and a caller who leaves, a sweep and what it cannot
 * read.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { Principal } from "../../src/domain/principal.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"
import { recorded, violations } from "../invariants.ts"
import { type Node, startNode, toRest } from "./Node.ts"
import { agentId, makeWorld, pass, settle, threadOf, type World } from "./World.ts"

const ann: Principal = { type: "user", id: "ann" }

const submit = (text: string): ThreadRequest => ({
  type: "submit",
  input: { inputId: freshId("input"), mode: "queue", content: [{ type: "text", text }], principal: ann }
})

const birth = { parent: agentId, attributes: JSON.stringify({ createdBy: ann, updatedBy: ann }) }

const setting = Effect.fnUntraced(function* () {
  const world = makeWorld()
  const node = yield* startNode(world, () => undefined)
  return { world, node }
})

const create = Effect.fnUntraced(function* (node: Node) {
  const ref = threadOf(freshId("thread"))
  yield* node.registry.create(ref, birth, { request: { type: "create" } })
  return ref
})

/** Runs once, right before the next commit. */
const beforeNext = ({ store }: World, act: () => void) => {
  store.fault = () => {
    store.fault = () => undefined
    act()
    return undefined
  }
}

const factsOf = ({ store }: World, ref: ActorRef) => {
  const log = (store.actors.get(keyOf(ref))?.facts ?? []).map(recorded)
  assert.deepStrictEqual(violations(log), [])
  return log.map(({ type }) => type)
}

describe("a command whose actor is lost while its append is under way", () => {
  it.effect("is answered by whoever holds the actor then, when the append is refused", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting()
      const ref = yield* create(node)
      beforeNext(world, () => {
        const row = world.store.actors.get(keyOf(ref))
        if (row !== undefined) row.owner = null
        node.registry.wakeable.dropAll()
      })
      const asked = yield* Effect.forkChild(node.deliver(ref, { request: submit("hello") }))
      yield* toRest(world, node, ref)
      yield* settle
      assert.isDefined(asked.pollUnsafe(), "nobody answers")
      assert.strictEqual((yield* Fiber.join(asked)).kind, "created")
      assert.deepStrictEqual(factsOf(world, ref), ["user_message", "assistant_message", "turn_completed"])
    })
  )

  it.effect("is told that the node leaves, when it was given back meanwhile", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting()
      const ref = yield* create(node)
      beforeNext(world, () => {
        Effect.runFork(node.registry.wakeable.drain(0))
        const row = world.store.actors.get(keyOf(ref))
        if (row !== undefined) row.owner = null
      })
      const asked = yield* Effect.forkChild(Effect.flip(node.deliver(ref, { request: submit("hello") })))
      yield* pass(100)
      assert.isDefined(asked.pollUnsafe(), "nobody answers")
      assert.strictEqual((yield* Fiber.join(asked))._tag, "Draining")
    })
  )
})

describe("a birth", () => {
  it.effect("is no orphan when its caller leaves before the commit", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting()
      const ref = threadOf(freshId("thread"))
      const asked = yield* Effect.forkChild(node.registry.create(ref, birth, { request: submit("/wait 3s\nhello") }))
      beforeNext(world, () => asked.interruptUnsafe())
      yield* settle
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(asked)))
      assert.isTrue(node.registry.wakeable.isLive(ref), "it was born, and this node does not know it")
      const before = world.claims
      yield* toRest(world, node, ref)
      assert.strictEqual(world.claims, before, "it lives twice")
      assert.deepStrictEqual(factsOf(world, ref), ["user_message", "assistant_message", "turn_completed"])
    })
  )
})

describe("a sweep", () => {
  it.effect("delivers what stands behind a row that nobody can read", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting()
      const ref = yield* create(node)
      const post = (id: string, command: string) =>
        world.store.inbox.set(ref.workspace + id, { id, actor: ref, command })
      post("a", "{ not JSON")
      post("b", JSON.stringify(submit("hello")))
      yield* pass(1_500)
      yield* toRest(world, node, ref)
      assert.deepStrictEqual(factsOf(world, ref), ["user_message", "assistant_message", "turn_completed"])
    })
  )

  it.effect("resumes its other actors when one cannot be loaded", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting()
      const broken = yield* create(node)
      const sound = yield* create(node)
      for (const ref of [broken, sound]) yield* node.deliver(ref, { request: submit("/wait 3s\nhello") })
      yield* node.kill
      const row = world.store.actors.get(keyOf(broken))
      if (row !== undefined) row.head = { ...row.head, carry: "{ not JSON" }
      const other = yield* startNode(world, () => undefined)
      world.store.inbox.set(`${sound.workspace}c`, { id: "c", actor: sound, command: JSON.stringify(submit("more")) })
      yield* pass(1_500)
      yield* toRest(world, other, sound)
      assert.deepStrictEqual(factsOf(world, sound), [
        "user_message",
        "assistant_message",
        "turn_completed",
        "user_message",
        "assistant_message",
        "turn_completed"
      ])
    })
  )
})
