/**
 * Whoever asks a thread the same twice: an input is taken once and answered as the first was, and so is what was asked
 * of it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Reply } from "../../actors/Actor.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { freshId } from "../../src/seed.ts"
import { openTurns } from "../invariants.ts"
import { type Node, startNode, toRest } from "./Node.ts"
import { connect } from "./Wire.ts"
import { makeWorld, pass, settle, threadOf, type World } from "./World.ts"
import { setting } from "./oneNode.ts"
import { ann, birth, logOf, submit } from "./threads.ts"

const admissions = (world: World, ref: ActorRef) =>
  logOf(world, ref).flatMap(({ event, type }) => (type === "user_message" ? [event.inputId] : []))

const read = ({ body, kind }: Reply) => ({
  kind,
  ...(JSON.parse(body) as {
    readonly id: string
    readonly state: string
    readonly turnId: string
    readonly seq?: number
    readonly queuedAt: string
  })
})

const ask = (node: Node, ref: ActorRef, request: ThreadRequest) => Effect.map(node.deliver(ref, { request }), read)

describe("an input that is sent twice", () => {
  it.effect("gets the first answer while it waits", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      yield* ask(node, ref, submit("/wait 60s\nA"))
      const queued = submit("B")
      const first = yield* ask(node, ref, queued)
      assert.deepStrictEqual(yield* ask(node, ref, queued), first)
      assert.deepStrictEqual(yield* ask(node, ref, { ...queued, fresh: true }), first)
      yield* toRest(world, node, ref)
      assert.lengthOf(admissions(world, ref), 2)
    })
  )

  it.effect.each(["queue", "interrupt"] as const)(
    "gets the first answer while its turn runs, and does not stop it, with mode %s",
    (mode) =>
      Effect.gen(function* () {
        const { node, ref, world } = yield* setting()
        const request = submit("/wait 30s\nA", { mode })
        const first = yield* ask(node, ref, request)
        yield* pass(2_000)
        assert.deepStrictEqual(yield* ask(node, ref, request), first)
        assert.deepStrictEqual(yield* ask(node, ref, { ...request, fresh: true }), first)
        yield* toRest(world, node, ref)
        assert.deepStrictEqual(
          logOf(world, ref).map(({ type }) => type),
          ["user_message", "assistant_message", "turn_completed"]
        )
      })
  )

  it.effect("gets the first answer though both are decided in one append", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      world.slowness = Effect.sleep(1_000)
      const busy = yield* Effect.forkChild(ask(node, ref, submit("/wait 5s\nA")))
      yield* settle
      const request = { ...submit("B", { mode: "interrupt" }), fresh: true as const }
      const twice = yield* Effect.forkChild(
        Effect.all([ask(node, ref, request), ask(node, ref, request)], { concurrency: 2 })
      )
      yield* pass(5_000)
      yield* Fiber.join(busy)
      const [first, second] = yield* Fiber.join(twice)
      assert.deepStrictEqual(second, first)
      world.slowness = Effect.void
      yield* toRest(world, node, ref)
      assert.lengthOf(admissions(world, ref), 2)
    })
  )

  it.effect("gets its answer long after its turn, here, on a node that takes over, and where it was cancelled", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const request = submit("A")
      const first = yield* ask(node, ref, request)
      yield* toRest(world, node, ref)
      yield* ask(node, ref, submit("/wait 20s\nB"))
      const removed = submit("C")
      yield* ask(node, ref, removed)
      yield* node.deliver(ref, { request: { type: "remove", inputId: removed.input.inputId } })
      assert.deepStrictEqual(yield* ask(node, ref, request), first)
      assert.deepInclude(yield* ask(node, ref, removed), { kind: "created", state: "queued" })
      yield* toRest(world, node, ref)
      yield* node.kill
      const other = yield* startNode(world, () => undefined)
      assert.deepStrictEqual(yield* ask(other, ref, request), first)
      assert.deepInclude(yield* ask(other, ref, removed), { kind: "created", state: "queued" })
      yield* toRest(world, other, ref)
      assert.lengthOf(admissions(world, ref), 2)
      assert.deepStrictEqual(openTurns(logOf(world, ref)), [])
    })
  )

  it.effect("gets its answer as a retry, too", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      yield* ask(node, ref, submit("/fail content_refused\nA"))
      yield* toRest(world, node, ref)
      const retry: ThreadRequest = { type: "retry", inputId: freshId("input"), principal: ann }
      const first = yield* ask(node, ref, retry)
      assert.deepInclude(yield* ask(node, ref, retry), { id: first.id, turnId: first.turnId, state: "admitted" })
      yield* toRest(world, node, ref)
      assert.deepInclude(yield* ask(node, ref, retry), { id: first.id, turnId: first.turnId, state: "admitted" })
      assert.lengthOf(admissions(world, ref), 2)
    })
  )

  it.effect("costs the journal nothing where its id was made for it", () =>
    Effect.gen(function* () {
      const { node, ref } = yield* setting()
      const asked: Array<string> = []
      const { input } = node.journal
      Object.assign(node.journal, {
        input: (...args: Parameters<typeof input>) => {
          asked.push(args[1])
          return input(...args)
        }
      })
      yield* ask(node, ref, { ...submit("A"), fresh: true })
      assert.deepStrictEqual(asked, [])
      const derived = submit("B")
      yield* ask(node, ref, derived)
      assert.deepStrictEqual(asked, [derived.input.inputId])
    })
  )
})

describe("what was asked of a node that took it and died is answered as taken:", () => {
  type Made = (first: string, second: string) => ThreadRequest
  const cases: ReadonlyArray<readonly [string, Made, string]> = [
    ["a promote", (_, inputId) => ({ type: "promote", inputId, mode: "interrupt", principal: ann }), "admitted"],
    ["a removal", (_, inputId) => ({ type: "remove", inputId }), ""],
    ["an edit", (_, inputId) => ({ type: "edit", inputId, content: [{ type: "text", text: "other" }] }), "other"],
    [
      "a cancel that names its turn",
      (first) => ({ type: "cancel", principal: ann, clearQueue: false, turnId: first }),
      "running"
    ]
  ]
  for (const [what, make, tells] of cases) {
    it.effect(what, () =>
      Effect.gen(function* () {
        const world = makeWorld()
        const wire = yield* connect(world)
        const nodes = [yield* startNode(world, () => undefined), yield* startNode(world, () => undefined)] as const
        yield* pass(1_500)
        const [owner, asker] = nodes
        const ref = threadOf(owner.registry.freshId("thread"))
        yield* owner.registry.create(ref, birth, { request: { type: "create" } })
        const first = yield* ask(owner, ref, submit("/wait 30s\nA"))
        const second = yield* ask(owner, ref, submit("/wait 30s\nB"))
        wire.fate = "unanswered"
        wire.meanwhile = Effect.asVoid(owner.kill)
        const asked = yield* Effect.forkChild(
          Effect.exit(asker.deliver(ref, { request: make(first.turnId, second.id) }))
        )
        for (let i = 0; i < 40 && asked.pollUnsafe() === undefined; i++) yield* pass(250)
        const exit = yield* Fiber.join(asked)
        assert.strictEqual(exit._tag, "Success", JSON.stringify(exit))
        if (exit._tag === "Success") {
          assert.strictEqual(exit.value.kind, tells === "" ? "done" : "found")
          assert.include(exit.value.body, tells)
        }
        yield* toRest(world, asker, ref)
        assert.isAtMost(logOf(world, ref).filter(({ type }) => type === "turn_cancelled").length, 1)
      })
    )
  }
})
