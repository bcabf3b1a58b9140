/** The same where something is lost: the actor, the journal's answers, turns, the node. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { freshId } from "../../src/seed.ts"
import { openTurns } from "../invariants.ts"
import { toRest } from "./Node.ts"
import { pass, settle, threadOf, workspace } from "./World.ts"
import { next, setting, start } from "./oneNode.ts"
import { ann, birth, logOf, rowOf, submit, wordsOf } from "./threads.ts"

describe("an actor that another node has taken", () => {
  const taken = Effect.fnUntraced(function* (script = "A\n/wait 3s") {
    const { node, ref, world } = yield* setting()
    yield* node.deliver(ref, { request: submit(script) })
    // The first node does not know yet that its lease has lapsed.
    world.store.lapse(node.incarnation)
    const other = yield* start(world)
    yield* pass(1_000)
    assert.deepInclude(rowOf(world, ref), { owner: other.incarnation, epoch: 2 })
    return { node, other, ref, world }
  })

  it.effect("is dropped at the first refused append, with its jobs, and the command is not taken", () =>
    Effect.gen(function* () {
      const { node, other, ref, world } = yield* taken()
      const failure = yield* Effect.flip(node.deliver(ref, { request: submit("B") }))
      assert.deepInclude(failure, { _tag: "Unreachable", elsewhere: true })
      assert.isUndefined(node.registry.peek(ref.id))
      assert.strictEqual(node.registry.wakeable.jobs(), 0)
      yield* toRest(world, other, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("stops running its tools", () =>
    Effect.gen(function* () {
      const { node, other, ref, world } = yield* taken("A\n/call often {}")
      yield* Effect.flip(node.deliver(ref, { request: submit("B") }))
      yield* toRest(world, other, ref)
      assert.deepStrictEqual([...world.runs.values()], [2])
      assert.strictEqual(world.finished, 1)
    })
  )

  it.effect("is dropped also when a job's outcome is what is refused, and the outcome is forgotten", () =>
    Effect.gen(function* () {
      const { node, other, ref, world } = yield* taken()
      yield* toRest(world, other, ref)
      yield* pass(30_000)
      assert.isUndefined(node.registry.peek(ref.id))
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      // Nobody keeps asking for an actor that lives elsewhere.
      const { claims } = world
      yield* pass(30_000)
      assert.strictEqual(world.claims, claims)
    })
  )

  it.effect("takes what waited in its mailbox once it is free again", () =>
    Effect.gen(function* () {
      const { node, other, ref, world } = yield* taken()
      yield* toRest(world, other, ref)
      // The first node is back, and the other one has left in order.
      yield* other.registry.wakeable.drain(0)
      const answers = yield* Effect.all(
        ["B", "C"].map((name) => node.deliver(ref, { request: submit(name) })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers.map(({ kind }) => kind),
        ["created", "created"]
      )
      yield* toRest(world, node, ref)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B) user(C) assistant(C) turn_completed(C)"
      )
      assert.deepInclude(rowOf(world, ref), { owner: node.incarnation, epoch: 3 })
    })
  )
})

describe("a journal that does not answer", () => {
  it.effect("makes the actor unreachable, with nothing changed, and works again later", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      next(world, "unavailable")
      const failure = yield* Effect.flip(node.deliver(ref, { request: submit("A") }))
      assert.strictEqual(failure._tag, "Unreachable")
      assert.deepStrictEqual(logOf(world, ref), [])
      yield* node.deliver(ref, { request: submit("B") })
      yield* toRest(world, node, ref)
      assert.strictEqual(wordsOf(world, ref), "user(B) assistant(B) turn_completed(B)")
    })
  )

  it.effect("costs no outcome: the turn goes on when it is back", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      next(world, "unavailable")
      yield* pass(10_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("poisons no turn that gets on between its failures, however many there are", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const script = Array.from({ length: 6 }, (_, i) => `/call nope {"i":${i}}\n/wait 1s`).join("\n/then\n")
      yield* node.deliver(ref, { request: submit(`A\n${script}`) })
      for (let i = 0; i < 5; i++) {
        next(world, "unavailable")
        yield* pass(3_000)
      }
      yield* toRest(world, node, ref)
      assert.match(wordsOf(world, ref), /assistant\(A\) turn_completed\(A\)$/)
    })
  )

  it.effect("and whose last answer was lost is believed to have written when it has", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      next(world, "lost after")
      const answer = yield* node.deliver(ref, { request: submit("A") })
      assert.strictEqual(answer.kind, "created")
      yield* toRest(world, node, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )
})

describe("an idempotency key", () => {
  const key = { scope: "s", fingerprint: "one" }

  it.effect("gets the same answer again, also from another node, and the effect happens once", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const first = yield* node.deliver(ref, { request: submit("A\n/wait 3s"), key })
      const again = yield* node.deliver(ref, { request: submit("A\n/wait 3s"), key })
      assert.deepStrictEqual(again, { ...first, replayed: true })
      yield* node.kill
      const other = yield* start(world)
      assert.deepStrictEqual(yield* other.deliver(ref, { request: submit("A\n/wait 3s"), key }), {
        ...first,
        replayed: true
      })
      yield* toRest(world, other, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("is refused with another body", () =>
    Effect.gen(function* () {
      const { node, ref } = yield* setting()
      yield* node.deliver(ref, { request: submit("A"), key })
      const reused = yield* Effect.flip(
        node.deliver(ref, { request: submit("B"), key: { ...key, fingerprint: "two" } })
      )
      assert.strictEqual(reused._tag, "KeyReused")
    })
  )

  it.effect("makes a second request wait for the first", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const answers = yield* Effect.all(
        Array.from({ length: 5 }, () => node.deliver(ref, { request: submit("A"), key })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(answers.map(({ body }) => body)).size, 1)
      assert.deepStrictEqual(
        answers.map(({ replayed }) => replayed ?? false),
        [false, true, true, true, true]
      )
      yield* toRest(world, node, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("creates one thread, whoever comes first", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting()
      const made = yield* Effect.all(
        Array.from({ length: 5 }, () =>
          node.registry.create(threadOf(freshId("thread")), birth, { request: submit("A"), key })
        ),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(made.map(({ body }) => body)).size, 1)
      assert.strictEqual(world.store.actors.size, 2, "the one of the setting, and one more")
      assert.strictEqual(node.registry.wakeable.size(), 2)
    })
  )

  it.effect("keeps no refusal", () =>
    Effect.gen(function* () {
      const { node, ref } = yield* setting()
      const request: ThreadRequest = { type: "retry", inputId: freshId("input"), principal: ann }
      assert.deepInclude(yield* Effect.flip(node.deliver(ref, { request, key })), {
        _tag: "Refused",
        reason: "nothing_to_retry"
      })
      yield* node.deliver(ref, { request: submit("A\n/fail model_error no") })
      yield* settle
      assert.strictEqual((yield* node.deliver(ref, { request, key })).kind, "created")
    })
  )
})

describe("a turn that is taken over again and again", () => {
  it.effect("is given up at the third claim without progress, and the next input runs", () =>
    Effect.gen(function* () {
      const { node: first, ref, world } = yield* setting()
      yield* first.deliver(ref, { request: submit("A\n/wait 1000s") })
      yield* first.deliver(ref, { request: submit("Q") })
      let node = first
      for (const fruitless of [1, 2]) {
        yield* node.kill
        node = yield* start(world)
        yield* pass(2_000)
        assert.strictEqual(rowOf(world, ref).fruitless, fruitless)
        assert.lengthOf(openTurns(logOf(world, ref)), 1)
      }
      yield* node.kill
      node = yield* start(world)
      yield* pass(2_000)
      yield* toRest(world, node, ref)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) turn_failed(A: turn_poisoned) user(Q) assistant(Q) turn_completed(Q)"
      )
    })
  )

  it.effect("is not given up when it gets on between the claims", () =>
    Effect.gen(function* () {
      const { node: first, ref, world } = yield* setting()
      const script = Array.from({ length: 6 }, (_, i) => `/call nope {"i":${i}}\n/wait 2s`).join("\n/then\n")
      yield* first.deliver(ref, { request: submit(`A\n${script}`) })
      let node = first
      for (let i = 0; i < 5; i++) {
        yield* pass(3_000)
        yield* node.kill
        node = yield* start(world)
      }
      yield* pass(2_000)
      yield* toRest(world, node, ref)
      assert.match(wordsOf(world, ref), /assistant\(A\) turn_completed\(A\)$/)
    })
  )
})

describe("a node", () => {
  it.effect("that leaves takes nothing more, and another one goes on at once", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      const leaving = yield* Effect.forkChild(node.registry.wakeable.drain(0))
      yield* pass(100)
      yield* Fiber.join(leaving)
      assert.isNull(rowOf(world, ref).owner)
      assert.strictEqual((yield* Effect.flip(node.deliver(ref, { request: submit("B") })))._tag, "Draining")
      const other = yield* start(world)
      yield* pass(1_000)
      yield* toRest(world, other, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.strictEqual(rowOf(world, ref).fruitless, 0)
    })
  )

  it.effect("finds no actor of another workspace, whether it lives here or not", () =>
    Effect.gen(function* () {
      const { node, ref } = yield* setting()
      const foreign = { ...ref, workspace: freshId("workspace") }
      for (const place of [foreign, threadOf(freshId("thread"))]) {
        const failure = yield* Effect.flip(node.deliver(place, { request: submit("A") }))
        assert.deepInclude(failure, { _tag: "Refused", reason: "not_found" })
      }
      assert.strictEqual(ref.workspace, workspace)
    })
  )
})

describe("a command that breaks the journal's rules", () => {
  it.effect("is a defect of that command alone", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const inputId = freshId("input")
      world.store.once.add(inputId.slice(-26))
      const broken = yield* Effect.exit(node.deliver(ref, { request: submit("A", { inputId }) }))
      assert.strictEqual(broken._tag, "Failure")
      const answer = yield* Effect.result(node.deliver(ref, { request: submit("B") }))
      assert.isTrue(Result.isSuccess(answer))
      yield* toRest(world, node, ref)
      assert.strictEqual(wordsOf(world, ref), "user(B) assistant(B) turn_completed(B)")
    })
  )
})
