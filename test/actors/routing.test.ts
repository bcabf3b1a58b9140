/** Nodes that ask each other: who has an actor, who is to have it, and what becomes of a command on its way. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Result } from "effect"
import type { Declined } from "../../actors/Actor.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { hasShard, shardOf } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { startNode, toRest } from "./Node.ts"
import { connect } from "./Wire.ts"
import { makeWorld, pass, threadOf, workspace } from "./World.ts"
import { join, setting } from "./nodes.ts"
import { ann, bodyOf, create, rowOf, submit, wordsOf } from "./threads.ts"

describe("a command to an actor of another node", () => {
  it.effect("is taken by that node, and answered as if it had been asked itself", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* setting()
      const request = submit("A\n/wait 3s")
      const answer = yield* b.deliver(ref, { request })
      assert.deepInclude(bodyOf(answer), { id: request.input.inputId, state: "admitted", seq: 1 })
      assert.strictEqual(bodyOf(yield* b.deliver(ref, { request: submit("B") })).state, "queued")
      assert.strictEqual(
        (yield* b.deliver(ref, { request: { type: "cancel", principal: ann, clearQueue: true } })).kind,
        "found"
      )
      assert.deepInclude(rowOf(world, ref), { owner: a.incarnation, epoch: 1 })
      assert.deepStrictEqual(
        wire.asked.map(({ from, to }) => [from, to]),
        Array.from({ length: 3 }, () => [b.incarnation, a.incarnation])
      )
      yield* toRest(world, a, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) turn_cancelled(A)")
    })
  )

  it.effect("is refused there in the same words", () =>
    Effect.gen(function* () {
      const { b, ref, wire } = yield* setting()
      const requests: ReadonlyArray<readonly [ThreadRequest, Declined["reason"]]> = [
        [{ type: "remove", inputId: freshId("input") }, "input_not_pending"],
        [{ type: "cancel", principal: ann, clearQueue: false, turnId: freshId("turn") }, "turn_conflict"],
        [{ type: "retry", inputId: freshId("input"), principal: ann }, "nothing_to_retry"],
        [
          { type: "answer", waitId: freshId("wait"), principal: ann, answer: { type: "tool_result", output: 1 } },
          "wait_not_open"
        ],
        [{ type: "edit", inputId: freshId("input"), content: [{ type: "text", text: "x" }] }, "input_not_pending"],
        [{ type: "promote", inputId: freshId("input"), principal: ann, mode: "steer" }, "input_not_pending"]
      ]
      for (const [request, reason] of requests)
        assert.deepInclude(yield* Effect.flip(b.deliver(ref, { request })), { _tag: "Refused", reason })
      assert.strictEqual(wire.asked.length, requests.length)
      const nobody = threadOf(freshId("thread"))
      assert.deepInclude(yield* Effect.flip(b.deliver(nobody, { request: submit("A") })), {
        _tag: "Refused",
        reason: "not_found"
      })
      const foreign = { ...ref, workspace: freshId("workspace") }
      assert.deepInclude(yield* Effect.flip(b.deliver(foreign, { request: submit("A") })), {
        _tag: "Refused",
        reason: "not_found"
      })
    })
  )

  it.effect("brings its idempotency key along: the effect happens once, whichever nodes are asked", () =>
    Effect.gen(function* () {
      const { a, b, c, ref, world } = yield* setting()
      const key = { scope: "s", fingerprint: "one" }
      const first = yield* b.deliver(ref, { request: submit("A"), key })
      for (const node of [c, a, b])
        assert.deepStrictEqual(yield* node.deliver(ref, { request: submit("A"), key }), { ...first, replayed: true })
      assert.strictEqual(
        (yield* Effect.flip(c.deliver(ref, { request: submit("B"), key: { ...key, fingerprint: "two" } })))._tag,
        "KeyReused"
      )
      yield* toRest(world, a, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("breaks there, and says so here", () =>
    Effect.gen(function* () {
      const { b, ref, world } = yield* setting()
      const inputId = freshId("input")
      world.store.once.add(inputId.slice(-26))
      assert.strictEqual((yield* Effect.exit(b.deliver(ref, { request: submit("A", { inputId }) })))._tag, "Failure")
      assert.isTrue(Result.isSuccess(yield* Effect.result(b.deliver(ref, { request: submit("B") }))))
    })
  )
})

describe("an actor that nobody has", () => {
  it.effect("is claimed by the node of its shard, whoever is asked", () =>
    Effect.gen(function* () {
      const { a, b, c, ref, wire, world } = yield* setting(3, 0)
      yield* pass(2_000)
      rowOf(world, ref).owner = null
      wire.asked.length = 0
      yield* c.deliver(ref, { request: submit("A") })
      assert.deepInclude(rowOf(world, ref), { owner: a.incarnation, epoch: 2 })
      yield* toRest(world, a, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.isTrue(wire.asked.every(({ to }) => to === a.incarnation))
      assert.isUndefined(b.registry.peek(ref.id))
    })
  )

  it.effect("is claimed by whoever was asked when that node does not answer", () =>
    Effect.gen(function* () {
      const { a, c, ref, wire, world } = yield* setting(3, 0)
      yield* pass(2_000)
      rowOf(world, ref).owner = null
      wire.cut.add(a.incarnation)
      yield* c.deliver(ref, { request: submit("A\n/wait 30s") })
      assert.strictEqual(rowOf(world, ref).owner, c.incarnation)
      // And the one that was to have it finds out where it is.
      wire.cut.delete(a.incarnation)
      assert.strictEqual(bodyOf(yield* a.deliver(ref, { request: submit("B") })).state, "queued")
      assert.strictEqual(rowOf(world, ref).owner, c.incarnation)
    })
  )
})

describe("a node that joins", () => {
  /** A thread of the first node that is the newcomer's to have. */
  const moving = Effect.fnUntraced(function* (idleMs?: number, script = "A\n/wait 30s") {
    const world = makeWorld()
    const wire = yield* connect(world)
    const a = yield* startNode(world, () => undefined, idleMs)
    const refs: Array<ActorRef> = []
    for (let i = 0; i < 12; i++) refs.push(yield* create(a))
    for (const ref of refs) yield* a.deliver(ref, { request: submit(script) })
    const b = yield* join(world, idleMs)
    const [ref] = refs.filter(({ id }) => hasShard(b.placement.mine(), shardOf(id)))
    return { world, wire, a, b, ref: ref ?? assert.fail("nothing moves") }
  })

  it.effect("takes nothing from those who live, and finds what they have", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* moving()
      yield* pass(5_000)
      assert.deepInclude(rowOf(world, ref), { owner: a.incarnation, epoch: 1 })
      assert.strictEqual(bodyOf(yield* b.deliver(ref, { request: submit("B") })).state, "queued")
      const c = yield* join(world)
      wire.asked.length = 0
      assert.strictEqual(bodyOf(yield* c.deliver(ref, { request: submit("C") })).state, "queued")
      // Whoever has found an actor asks there at once for a while.
      const first = wire.asked.length
      assert.strictEqual(bodyOf(yield* c.deliver(ref, { request: submit("D") })).state, "queued")
      assert.strictEqual(wire.asked.length, first + 1)
      yield* pass(60_000)
      assert.strictEqual(
        wordsOf(world, ref),
        ["A", "B", "C", "D"].map((x) => `user(${x}) assistant(${x}) turn_completed(${x})`).join(" ")
      )
    })
  )

  it.effect("gets its actors once they rest", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* moving(1_000)
      yield* pass(30_000)
      assert.deepInclude(rowOf(world, ref), { owner: a.incarnation })
      yield* pass(3_000)
      assert.isNull(rowOf(world, ref).owner)
      assert.isUndefined(a.registry.peek(ref.id))
      yield* a.deliver(ref, { request: submit("B") })
      assert.deepInclude(rowOf(world, ref), { owner: b.incarnation, epoch: 2 })
    })
  )

  it.effect(
    "leaves alone what another owns and has not in memory: it comes back there, and moves when it has rested",
    () =>
      Effect.gen(function* () {
        const world = makeWorld()
        yield* connect(world)
        const a = yield* startNode(world, () => undefined, 0)
        const refs: Array<ActorRef> = []
        for (let i = 0; i < 12; i++) refs.push(yield* create(a))
        yield* pass(2_000)
        const b = yield* join(world, 0)
        const ref = refs.find(({ id }) => hasShard(b.placement.mine(), shardOf(id))) ?? assert.fail("nothing moves")
        assert.deepInclude(rowOf(world, ref), { owner: a.incarnation })
        assert.isUndefined(a.registry.peek(ref.id))
        yield* b.deliver(ref, { request: submit("A") })
        assert.deepInclude(rowOf(world, ref), { owner: a.incarnation, epoch: 2 })
        yield* pass(5_000)
        assert.isNull(rowOf(world, ref).owner)
        yield* a.deliver(ref, { request: submit("B") })
        assert.deepInclude(rowOf(world, ref), { owner: b.incarnation, epoch: 3 })
      })
  )
})

describe("a node that does not answer", () => {
  it.effect("keeps its actors while it has its lease: the command has nobody to go to", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* setting()
      for (const harm of [
        () => {
          wire.cut.add(a.incarnation)
        },
        () => {
          wire.cut.clear()
          wire.fate = "unheard"
        }
      ]) {
        harm()
        const asked = yield* Effect.forkChild(Effect.flip(b.deliver(ref, { request: submit("A") })))
        yield* pass(2_500)
        assert.deepInclude(yield* Fiber.join(asked), { _tag: "Unreachable", elsewhere: true })
      }
      assert.deepInclude(rowOf(world, ref), { owner: a.incarnation, epoch: 1 })
      assert.strictEqual(wordsOf(world, ref), "")
    })
  )

  it.effect("and has lapsed has lost them to whoever is asked", () =>
    Effect.gen(function* () {
      const { a, b, ref, world } = yield* setting(2)
      yield* a.kill
      const answer = yield* b.deliver(ref, { request: submit("A") })
      assert.strictEqual(bodyOf(answer).state, "admitted")
      assert.deepInclude(rowOf(world, ref), { owner: b.incarnation, epoch: 2 })
    })
  )

  it.effect("is not asked what only its neighbour may ask: outcomes and moments stay where they are", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* setting()
      yield* a.deliver(ref, { request: submit("A\n/wait 3s") })
      for (const request of [{ type: "due" }, { type: "poison" }] as const) {
        assert.deepInclude(yield* Effect.flip(b.deliver(ref, { request })), { _tag: "Unreachable", elsewhere: true })
      }
      assert.deepStrictEqual(wire.asked, [])
      yield* toRest(world, a, ref)
    })
  )
})

describe("a question", () => {
  const ask = (
    wire: {
      readonly shared: { readonly request: (to: string, message: string, ms: number) => Effect.Effect<string, unknown> }
    },
    to: string,
    message: unknown
  ) =>
    Effect.map(
      wire.shared.request(to, typeof message === "string" ? message : JSON.stringify(message), 2_000),
      (text): unknown => JSON.parse(text)
    )
  const question = (to: string, ref: ActorRef, more: object = {}) => ({
    v: 1,
    to,
    at: 0,
    until: 2_000,
    kind: "thread",
    workspace,
    id: ref.id,
    command: "c",
    request: submit("A"),
    ...more
  })

  it.effect(
    "is taken by nobody but the incarnation that it names, and only while that has its lease and somebody waits",
    () =>
      Effect.gen(function* () {
        const { a, b, ref, wire, world } = yield* setting()
        assert.deepStrictEqual(yield* ask(wire, a.incarnation, question(b.incarnation, ref)), {
          v: 1,
          unwilling: "stranger"
        })
        assert.deepStrictEqual(yield* ask(wire, a.incarnation, question(a.incarnation, ref, { until: 50 })), {
          v: 1,
          unwilling: "late"
        })
        world.fenced.add(a.incarnation)
        assert.deepStrictEqual(yield* ask(wire, a.incarnation, question(a.incarnation, ref)), {
          v: 1,
          unwilling: "fenced"
        })
        world.fenced.delete(a.incarnation)
        assert.strictEqual(wordsOf(world, ref), "")
        assert.property(yield* ask(wire, a.incarnation, question(a.incarnation, ref)), "answer")
      })
  )

  it.effect("that is none is refused, and one line says so, however many come", () => {
    const lines: Array<unknown> = []
    return Effect.gen(function* () {
      const { a, ref, wire, world } = yield* setting()
      const good = question(a.incarnation, ref)
      const bad: ReadonlyArray<unknown> = [
        "",
        "{",
        "null",
        "[]",
        `"x"`,
        "\u0000".repeat(100),
        { ...good, v: 2 },
        { ...good, v: "1" },
        { ...good, kind: "schedule" },
        { ...good, kind: "identity" },
        { ...good, id: "thr_1" },
        { ...good, id: freshId("agent") },
        { ...good, workspace: "*" },
        { ...good, workspace: `${workspace}'` },
        { ...good, to: undefined },
        { ...good, at: "now" },
        { ...good, command: "" },
        { ...good, command: "c".repeat(65) },
        { ...good, key: { scope: "s" } },
        { ...good, owned: "yes" },
        { ...good, request: undefined },
        { ...good, request: { type: "poison" } },
        { ...good, request: { type: "due" } },
        { ...good, request: { type: "create" } },
        { ...good, request: { type: "model.replied", turnId: freshId("turn") } },
        { ...good, request: { type: "submit" } },
        { ...good, request: { ...submit("A"), input: { ...submit("A").input, inputId: "inp_1" } } }
      ]
      for (const message of bad)
        assert.deepStrictEqual(
          yield* ask(wire, a.incarnation, message),
          { v: 1, unwilling: "malformed" },
          JSON.stringify(message)
        )
      assert.strictEqual(wordsOf(world, ref), "")
      assert.strictEqual(lines.length, 1)
    }).pipe(
      Effect.provide(
        Logger.layer([
          Logger.make(({ message }) => {
            lines.push(message)
          })
        ])
      )
    )
  })

  it.effect("whose reply nobody understands has no answer", () =>
    Effect.gen(function* () {
      const { b, ref, world, wire } = yield* setting(2)
      const strange = freshId("node")
      world.store.nodes.set(strange, {
        name: "strange",
        deadline: Infinity,
        status: { actors: 0, births: 0, draining: false, bus: "connected" }
      })
      yield* wire.shared.serve(strange, () => Effect.succeed(`{"v":9,"answer":"yes"}`))
      rowOf(world, ref).owner = strange
      assert.deepInclude(yield* Effect.flip(b.deliver(ref, { request: submit("A") })), {
        _tag: "Unreachable",
        elsewhere: true
      })
    }).pipe(Effect.scoped)
  )
})
