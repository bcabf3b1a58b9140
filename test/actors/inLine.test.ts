/** Turns that stand in line for a slot of their workspace (K1 to K5 of actors/Bulkheads.ts). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"
import { startNode, toRest } from "./Node.ts"
import { agentId, pass, plan, settle, threadOf } from "./World.ts"
import { begin, free, isOver, over, setting, slots } from "./bulkheadFixture.ts"
import { birth, message, submit, wordsOf } from "./threads.ts"

describe("time in line", () => {
  it.effect(
    "is no running time: a turn that waits for longer than it may run does not time out, and one that runs longer does",
    () =>
      Effect.gen(function* () {
        const { node, world } = yield* setting({ slots: { turns: 1, calls: 1 }, plan: { ...plan, maxTurnMs: 5_000 } })
        const names = ["A", "B", "C", "D", "E"]
        const refs = yield* Effect.forEach(names, (name) => begin(node, `${name}\n/wait 4s`))
        const long = yield* begin(node, "L\n/wait 8s")
        const last = yield* begin(node, "Z\n/wait 4s")
        yield* pass(24_500)
        assert.isFalse(isOver(world, long))
        yield* pass(1_500)
        assert.strictEqual(wordsOf(world, long), "user(L) turn_failed(L: turn_timeout)")
        yield* pass(5_000)
        for (const [i, ref] of [...refs, last].entries())
          assert.match(wordsOf(world, ref), /turn_completed\(\w\)$/, names[i] ?? "Z")
      })
  )

  it.effect("is none of it between steps either", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 0, calls: 1 }, plan: { ...plan, maxTurnMs: 12_000 } })
      // Steps of two seconds, which wait for each other.
      const script = (name: string) => `${name}\n/call often {}\n/then\n/call often {}\n/then\n/call often {}`
      const refs = yield* Effect.forEach(["A", "B", "C"], (name) => begin(node, script(name)))
      yield* pass(22_000)
      assert.deepStrictEqual(over(world, refs), [true, true, true])
      for (const ref of refs) assert.match(wordsOf(world, ref), /turn_completed/)
    })
  )
})

describe("turns in line", () => {
  it.effect(
    "are so many at most: a client that would begin one more is refused, and nothing that was taken, or that an agent asks",
    () =>
      Effect.gen(function* () {
        const { node, world } = yield* setting({ slots: { turns: 1, calls: 0, line: 2 } })
        const resting = yield* begin(node, "R")
        yield* pass(1_000)
        const refs = yield* Effect.forEach(["A", "B", "C"], (name) => begin(node, `${name}\n/wait 4s`))
        yield* settle
        const full = { reason: "rate_limited", code: "turns_waiting", retryAfterSeconds: 5 } as const
        const unborn = threadOf(freshId("thread"))
        assert.deepInclude(yield* Effect.flip(begin(node, "D\n/wait 4s", unborn)), full)
        assert.isUndefined(world.store.actors.get(keyOf(unborn)))
        assert.deepInclude(yield* Effect.flip(node.deliver(resting, { request: submit("D") })), full)

        const [running = assert.fail(), ...others] = refs
        yield* node.deliver(running, { request: submit("E\n/wait 4s") })
        const asked = threadOf(freshId("thread"))
        yield* node.registry.create(asked, birth, {
          request: {
            type: "submit",
            creating: true,
            input: { ...message("F\n/wait 4s"), principal: { type: "agent", id: agentId } }
          }
        })
        yield* node.deliver(resting, { request: { type: "submit", input: message("P\n/wait 4s"), acknowledged: true } })
        for (const ref of [...others, asked, resting, running]) yield* toRest(world, node, ref)
        assert.match(wordsOf(world, running), /turn_completed\(E\)$/)
        assert.match(wordsOf(world, resting), /turn_completed\(P\)$/)
        yield* begin(node, "G")
        assert.deepStrictEqual(world.complaints, [])
      })
  )

  it.effect(
    "whose node dies go on elsewhere within the heir's slots, and what they waited is not held against them",
    () =>
      Effect.gen(function* () {
        const { node, world } = yield* setting({ slots: { turns: 2, calls: 0 }, plan: { ...plan, maxTurnMs: 20_000 } })
        const refs = yield* Effect.forEach(
          Array.from({ length: 6 }, (_, i) => `T${i}`),
          (name) => begin(node, `${name}\n/wait 8s`)
        )
        yield* pass(18_000)
        assert.deepStrictEqual(over(world, refs), [true, true, true, true, false, false])
        const more = yield* Effect.forEach(
          Array.from({ length: 4 }, (_, i) => `U${i}`),
          (name) => begin(node, `${name}\n/wait 8s`)
        )
        yield* pass(4_000)
        yield* node.kill
        const heir = yield* startNode(world, () => undefined)
        let most = 0
        const all = [...refs, ...more]
        for (let i = 0; i < 100 && !all.every((ref) => isOver(world, ref)); i++) {
          yield* pass(500)
          most = Math.max(most, slots(heir).turn.used)
        }
        assert.strictEqual(most, 2)
        for (const ref of all) assert.match(wordsOf(world, ref), /^user\((\w+)\) assistant\(\1\) turn_completed\(\1\)$/)
        assert.deepStrictEqual(slots(heir), free)
      })
  )

  it.effect("are given back at once by a node that leaves", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 1, calls: 1 } })
      const runs = yield* begin(node, "A\n/wait 10s")
      const waits = yield* Effect.forEach(["B", "C", "D"], (name) => begin(node, `${name}\n/wait 1s`))
      const heir = yield* startNode(world, () => undefined)
      const draining = yield* Effect.forkChild(node.registry.wakeable.drain(20_000), { startImmediately: true })
      yield* pass(6_000)
      assert.deepStrictEqual(over(world, waits), [true, true, true])
      assert.isFalse(isOver(world, runs))
      yield* pass(16_000)
      yield* Fiber.join(draining)
      assert.deepStrictEqual(slots(node), free)
      yield* toRest(world, heir, runs)
      assert.strictEqual(wordsOf(world, runs), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("are given back by a node that leaves also when they come into the line after that", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 1, calls: 1 } })
      yield* begin(node, "A\n/wait 15s")
      const { perform } = node.kind
      Object.assign(node.kind, {
        perform: (...asked: Parameters<typeof perform>) =>
          Effect.delay(
            Effect.suspend(() => perform(...asked)),
            500
          )
      })
      const late = yield* begin(node, "B\n/wait 1s")
      yield* pass(100)
      yield* startNode(world, () => undefined)
      const draining = yield* Effect.forkChild(node.registry.wakeable.drain(20_000), { startImmediately: true })
      yield* pass(6_000)
      assert.isTrue(isOver(world, late))
      assert.isUndefined(draining.pollUnsafe())
      yield* pass(15_000)
      yield* Fiber.join(draining)
    })
  )

  it.effect("keep their place while the journal does not answer, and hold no slot that they do not need", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ slots: { turns: 1, calls: 1 } })
      const refs = yield* Effect.forEach(["A", "B", "C"], (name) => begin(node, `${name}\n/wait 2s`))
      const from = world.store.commits
      world.store.fault = (commit) => (commit - from <= 2 ? "unavailable" : undefined)
      for (const ref of refs) yield* toRest(world, node, ref)
      for (const ref of refs) assert.match(wordsOf(world, ref), /^user\((\w+)\) assistant\(\1\) turn_completed\(\1\)$/)
      assert.deepStrictEqual(slots(node), free)
    })
  )
})
