/** Rows of the inbox that break their actor, or whose actor is broken: H9 of Host.ts, I2 and I3 of inboxDrain.ts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { type Node, toRest } from "./Node.ts"
import { pass } from "./World.ts"
import { reachable, unloadable, whenPreparing } from "./oneNode.ts"
import { post, submit, wordsOf } from "./threads.ts"

describe("rows of the inbox that break their actor", () => {
  type Breaks = (inputId: string) => Effect.Effect<never> | undefined
  const whenPrepared = (node: Node, breaks: Breaks) =>
    whenPreparing(node, "submit", ({ input }) => breaks(input.inputId))
  const whenLookedFor = (node: Node, breaks: Breaks) => {
    const { priorReply } = node.kind
    Object.assign(node.kind, {
      priorReply: (being: Parameters<typeof priorReply>[0], request: ThreadRequest) =>
        Effect.andThen(
          (request.type === "submit" ? breaks(request.input.inputId) : undefined) ?? Effect.void,
          priorReply(being, request)
        )
    })
  }

  for (const [title, spoilWith] of [
    ["when they are decided", whenPrepared],
    ["when it is asked whether they were taken before", whenLookedFor]
  ] as const)
    it.effect(`${title} hold up neither those behind them, nor a client, nor a turn, however many they are`, () =>
      Effect.gen(function* () {
        const { node, ref, world } = yield* reachable()
        const bad = Array.from({ length: 150 }, (_, i) => submit(`bad${i}`))
        const ids = new Set(bad.map(({ input }) => input.inputId))
        let breaks = 0
        spoilWith(node, (id) =>
          ids.has(id) ? Effect.die(new Error(`it breaks for the ${++breaks}. time`)) : undefined
        )
        yield* node.deliver(ref, { request: submit("A\n/wait 2s") })
        for (const request of bad) yield* post(node, ref, request)
        yield* post(node, ref, submit("B"))
        const { claims } = world
        yield* pass(3_500)
        assert.include(wordsOf(world, ref), "turn_completed(A) user(B)")
        for (let i = 0; i < 20; i++) {
          const asked = yield* Effect.forkChild(node.deliver(ref, { request: submit(`C${i}`) }), {
            startImmediately: true
          })
          yield* pass(17_000)
          assert.strictEqual((yield* Fiber.join(asked)).kind, "created")
        }
        yield* toRest(world, node, ref)
        assert.match(wordsOf(world, ref), /turn_completed\(C19\)$/)
        assert.strictEqual(world.store.inbox.size, 150)
        assert.strictEqual(world.claims, claims, "it stays in memory")
        assert.isBelow(breaks, 150 * 12, "they are tried less and less often")
      })
    )

  it.effect("in one append break it alone from then on, and hold up neither those beside them nor a client", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      const bad = Array.from({ length: 5 }, (_, i) => submit(`bad${i}`))
      const ids = new Set(bad.map(({ input }) => input.inputId))
      const { append } = node.journal
      let breaks = 0
      Object.assign(node.journal, {
        append: (given: Parameters<typeof append>[0]) =>
          given.accepted?.some((id) => ids.has(id)) === true
            ? Effect.die(new Error(`it breaks for the ${++breaks}. time`))
            : append(given)
      })
      for (const request of bad) yield* post(node, ref, request)
      for (let i = 0; i < 20; i++) yield* post(node, ref, submit(`m${i}`))
      yield* pass(20_000)
      yield* toRest(world, node, ref)
      assert.strictEqual(world.store.inbox.size, 5)
      assert.strictEqual(wordsOf(world, ref).split(" ").length, 60)
      assert.strictEqual((yield* node.deliver(ref, { request: submit("C") })).kind, "created")
      yield* pass(600_000)
      assert.isBelow(breaks, 60, "they are tried less and less often")
      ids.clear()
      yield* pass(300_000)
      yield* toRest(world, node, ref)
      assert.strictEqual(world.store.inbox.size, 0)
    })
  )
})

describe("an inbox row for a thread that was set aside, and that breaks over being given up", () => {
  it.effect("is tried less and less often, and stays", () =>
    Effect.gen(function* () {
      const { mend, node, ref, world } = yield* unloadable()
      yield* pass(120_000)
      mend()
      whenPreparing(node, "poison", () => Effect.die(new Error("it breaks")))
      yield* post(node, ref, submit("B"))
      yield* pass(300_000)
      const before = world.claims
      yield* pass(600_000)
      assert.isBelow(world.claims - before, 30)
      assert.strictEqual(world.store.inbox.size, 1)
    })
  )
})

describe("an inbox row for a thread that cannot be loaded", () => {
  for (const aside of [false, true])
    it.effect(`is tried less and less often${aside ? ", also where the thread was set aside before" : ""}`, () =>
      Effect.gen(function* () {
        const { node, ref, world } = yield* unloadable()
        if (aside) yield* pass(120_000)
        yield* post(node, ref, submit("B"))
        yield* pass(300_000)
        const before = world.claims
        yield* pass(600_000)
        assert.isBelow(world.claims - before, 30)
        assert.strictEqual(world.store.inbox.size, 1)
      })
    )
})
