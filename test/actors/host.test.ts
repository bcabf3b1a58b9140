/** What the host and its registry promise of any actor (H1 to H4, R1, R2, G1), shown on threads. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { freshId } from "../../src/seed.ts"
import { type Node, toRest } from "./Node.ts"
import { pass, settle } from "./World.ts"
import { next, setting, start } from "./oneNode.ts"
import { ann, bodyOf, logOf, rowOf, submit, wordsOf } from "./threads.ts"

describe("a mailbox", () => {
  it.effect("is worked off in the order in which commands arrived", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const names = Array.from({ length: 30 }, (_, i) => `m${i}`)
      yield* Effect.all(
        [
          node.deliver(ref, { request: submit("A\n/wait 3s") }),
          ...names.map((name) => node.deliver(ref, { request: submit(name) }))
        ],
        {
          concurrency: "unbounded"
        }
      )
      yield* toRest(world, node, ref)
      const texts = logOf(world, ref)
        .filter(({ type }) => type === "user_message")
        .map(({ event }) => JSON.stringify(event.content))
      assert.deepStrictEqual(
        texts.map((text) => /"text":"(\w+)/.exec(text)?.[1]),
        ["A", ...names]
      )
    })
  )

  it.effect("answers only what is committed", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const answer = bodyOf(yield* node.deliver(ref, { request: submit("A\n/wait 3s") }))
      assert.strictEqual(answer.state, "admitted")
      assert.deepInclude(logOf(world, ref)[0] ?? {}, { type: "user_message", seq: 1, turn: answer.turnId })
      const waiting = bodyOf(yield* node.deliver(ref, { request: submit("B") }))
      assert.strictEqual(rowOf(world, ref).inputs.get(String(waiting.id))?.state, "pending")
    })
  )

  it.effect("changes nothing and answers why when the thread refuses", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const commits = world.store.commits
      const refused = yield* Effect.flip(node.deliver(ref, { request: { type: "remove", inputId: freshId("input") } }))
      assert.deepInclude(refused, { _tag: "Refused", reason: "input_not_pending" })
      assert.strictEqual(world.store.commits, commits)
    })
  )
})

describe("outcomes of jobs that run at once", () => {
  it.effect("wait a moment for each other, and are one commit", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const before = world.store.commits
      yield* node.deliver(ref, { request: submit("/call often {}\n/call often {}") })
      yield* toRest(world, node, ref)
      assert.deepStrictEqual(
        logOf(world, ref).map(({ type }) => type),
        [
          "user_message",
          "tool_intent",
          "tool_intent",
          "tool_result",
          "tool_result",
          "assistant_message",
          "turn_completed"
        ]
      )
      // The message, the calls, their results, the answer.
      assert.strictEqual(world.store.commits - before, 4)
    })
  )
})

describe("what gathers in a mailbox while an append is under way", () => {
  const names = Array.from({ length: 20 }, (_, i) => `m${i}`)
  const all = (node: Node, ref: ActorRef, ...more: ReadonlyArray<ThreadRequest>) =>
    Effect.all(
      [submit("A\n/wait 3s"), ...names.map((name) => submit(name)), ...more].map((request) =>
        Effect.result(node.deliver(ref, { request }))
      ),
      {
        concurrency: "unbounded"
      }
    )

  it.effect("is one commit, and every one of them has its own answer", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const before = world.store.commits
      const answers = yield* all(node, ref)
      assert.isAtMost(world.store.commits - before, 2)
      const states = answers.map((answer) =>
        Result.isSuccess(answer) ? bodyOf(answer.success).state : answer.failure._tag
      )
      assert.deepStrictEqual(states, ["admitted", ...names.map(() => "queued")])
      assert.strictEqual(
        [...rowOf(world, ref).inputs.values()].filter(({ state }) => state === "pending").length,
        names.length
      )
    })
  )

  it.effect("is refused one by one", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const answers = yield* all(node, ref, { type: "remove", inputId: freshId("input") }, submit("last"))
      const tags = answers.map((answer) => (Result.isSuccess(answer) ? "done" : answer.failure._tag))
      assert.deepStrictEqual(tags, [...Array.from({ length: 21 }, () => "done"), "Refused", "done"])
      assert.strictEqual(rowOf(world, ref).inputs.size, 21)
    })
  )

  it.effect(
    "writes of a row that several touch its last state, and starts nothing that is stopped in the same breath",
    () =>
      Effect.gen(function* () {
        const { node, ref, world } = yield* setting()
        const [inputId, gone] = [freshId("input"), freshId("input")]
        yield* Effect.all(
          [
            submit("A\n/wait 3s"),
            submit("first", { inputId }),
            { type: "edit" as const, inputId, content: [{ type: "text" as const, text: "second" }] },
            submit("gone", { inputId: gone }),
            { type: "remove" as const, inputId: gone },
            { type: "cancel" as const, principal: ann, clearQueue: false }
          ].map((request) => node.deliver(ref, { request })),
          { concurrency: "unbounded" }
        )
        yield* toRest(world, node, ref)
        const texts = logOf(world, ref)
          .filter(({ type }) => type === "user_message")
          .map(({ event }) => JSON.stringify(event.content))
        assert.deepStrictEqual(
          texts.map((text) => /"text":"(\w+)/.exec(text)?.[1]),
          ["A", "second"]
        )
        assert.deepStrictEqual(
          [...rowOf(world, ref).inputs].map(([id, { state }]) => [id, state]),
          [[gone, "cancelled"]]
        )
      })
  )

  it.effect("is lost together when the journal does not answer, and nobody is told otherwise", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      next(world, "unavailable", "unavailable")
      const answers = yield* all(node, ref)
      const stored = logOf(world, ref).length + rowOf(world, ref).inputs.size
      const done = answers.filter(Result.isSuccess).length
      assert.strictEqual(stored, done)
      assert.isBelow(done, answers.length)
    })
  )

  it.effect("leaves no trace when the actor is another's by now", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const other = yield* start(world)
      world.store.lapse(node.incarnation)
      yield* other.deliver(ref, { request: submit("B\n/wait 3s") })
      const answers = yield* all(node, ref)
      assert.deepStrictEqual(
        answers.map((answer) => (Result.isSuccess(answer) ? "done" : answer.failure._tag)),
        Array.from({ length: 21 }, () => "Unreachable")
      )
      yield* toRest(world, other, ref)
      assert.strictEqual(rowOf(world, ref).inputs.size, 0)
      assert.strictEqual(logOf(world, ref).filter(({ type }) => type === "user_message").length, 1)
    })
  )
})

describe("a reader", () => {
  it.effect("waits for what is being written, and for nothing else", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      assert.strictEqual((yield* node.registry.settled(ref))?.context.seq, 0)
      const submitting = yield* Effect.forkChild(node.deliver(ref, { request: submit("A\n/wait 3s") }), {
        startImmediately: true
      })
      assert.strictEqual(node.registry.current(ref)?.context.seq, 0, "the append is under way")
      assert.strictEqual((yield* node.registry.settled(ref))?.context.seq, 1)
      yield* Fiber.join(submitting)
      assert.strictEqual((yield* node.registry.settled(ref))?.context.seq, 1, "a model that answers is not waited for")
      yield* toRest(world, node, ref)
      assert.isUndefined(yield* node.registry.settled({ ...ref, workspace: freshId("workspace") }))
    })
  )

  it.effect("gets nothing from memory while an append takes its time: it may be in the database by now", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting()
      const slow = yield* Deferred.make<void>()
      world.slowness = Deferred.await(slow)
      const submitting = yield* Effect.forkChild(node.deliver(ref, { request: submit("A\n/wait 3s") }), {
        startImmediately: true
      })
      assert.isUndefined(yield* node.registry.settled(ref))
      assert.strictEqual(node.registry.current(ref)?.context.seq, 0)
      yield* Deferred.succeed(slow, undefined)
      yield* Fiber.join(submitting)
      assert.strictEqual((yield* node.registry.settled(ref))?.context.seq, 1)
    })
  )
})

describe("an actor at rest", () => {
  it.effect("leaves when it has rested for as long as it is to, though the calendar's clock was set back", () =>
    Effect.gen(function* () {
      const { node, ref } = yield* setting(3_500)
      const passivate = Effect.andThen(node.registry.wakeable.passivate, settle)
      yield* pass(10_000)
      yield* node.deliver(ref, { request: submit("A") })
      yield* settle
      yield* TestClock.setTime(2_000)
      yield* pass(3_499)
      yield* passivate
      assert.isDefined(node.registry.peek(ref.id))
      yield* pass(1)
      yield* passivate
      assert.isUndefined(node.registry.peek(ref.id))
    })
  )

  it.effect("leaves memory, keeps its owner, and comes back as it was", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting(0)
      yield* node.deliver(ref, { request: submit("A") })
      yield* settle
      yield* pass(1_000)
      assert.isUndefined(node.registry.peek(ref.id))
      assert.deepInclude(rowOf(world, ref), { owner: node.incarnation, epoch: 1 })
      yield* node.deliver(ref, { request: submit("B") })
      yield* settle
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B)"
      )
      assert.strictEqual(rowOf(world, ref).epoch, 2)
    })
  )

  it.effect("that waits for a client is given back, and is found when the wait expires", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting(0)
      yield* node.deliver(ref, { request: submit("A\n/call ask {}") })
      yield* settle
      yield* pass(1_000)
      assert.isNull(rowOf(world, ref).owner)
      assert.isUndefined(node.registry.peek(ref.id))
      yield* pass(12_000)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) intent(A) wait_created(A) wait_resolved(A: expired) result(A: tool_timeout) assistant(A) turn_completed(A)"
      )
    })
  )

  it.effect("that could not be given back is found all the same when its wait expires", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting(0)
      let releases = 0
      world.store.readFault = (read, n) => {
        if (read !== "release") return undefined
        releases = n
        return n === 1 ? "unasked" : undefined
      }
      yield* node.deliver(ref, { request: submit("A\n/call ask {}") })
      yield* settle
      yield* pass(20_000)
      assert.isAbove(releases, 0, "nothing was released")
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) intent(A) wait_created(A) wait_resolved(A: expired) result(A: tool_timeout) assistant(A) turn_completed(A)"
      )
    })
  )

  it.effect("does not leave while a model answers", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* setting(0)
      yield* node.deliver(ref, { request: submit("A\n/wait 30s") })
      yield* pass(20_000)
      assert.isDefined(node.registry.peek(ref.id))
      yield* pass(11_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )
})
