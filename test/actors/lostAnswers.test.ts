/** Nodes that ask each other: a command whose answer was lost is sent again, and takes effect once. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Result } from "effect"
import type { ActorError, Reply } from "../../actors/Actor.ts"
import { cameAnotherWay, mayBeKnown } from "../../actors/deciding.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { type ActorRef, JournalUnavailable } from "../../src/journal/Journal.ts"
import { freshId } from "../../src/seed.ts"
import { toRest } from "./Node.ts"
import { pass, settle } from "./World.ts"
import { setting } from "./nodes.ts"
import { reachable, whenPreparing } from "./oneNode.ts"
import { ann, bodyOf, post, rowOf, submit, wordsOf } from "./threads.ts"

describe("a command whose answer was lost", () => {
  /**
   * The owner takes it, and dies before it has answered: whoever asked takes the actor over, and it comes a second
   * time.
   */
  const lost = Effect.fnUntraced(function* (
    request: ThreadRequest,
    first: ReadonlyArray<ThreadRequest> = [],
    then: ReadonlyArray<ThreadRequest> = []
  ) {
    const { a, b, ref, wire, world } = yield* setting(2)
    for (const one of first) yield* a.deliver(ref, { request: one })
    yield* pass(100)
    wire.fate = "unanswered"
    wire.meanwhile = Effect.orDie(
      Effect.andThen(
        Effect.forEach(then, (one) => a.deliver(ref, { request: one })),
        a.kill
      )
    )
    const answer = bodyOf(yield* b.deliver(ref, { request }))
    assert.strictEqual(rowOf(world, ref).owner, b.incarnation)
    yield* toRest(world, b, ref)
    return { answer, log: wordsOf(world, ref), row: rowOf(world, ref) }
  })

  it.effect("is not taken again when it has opened a turn", () =>
    Effect.gen(function* () {
      const request = submit("A\n/wait 3s")
      const { answer, log } = yield* lost(request)
      assert.deepInclude(answer, {
        id: request.input.inputId,
        turnId: request.input.inputId.replace("inp_", "trn_"),
        state: "admitted",
        seq: 1,
        submitMode: "queue"
      })
      assert.strictEqual(log, "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("is not taken again when it waits", () =>
    Effect.gen(function* () {
      const request = submit("B")
      const { answer, log } = yield* lost(request, [submit("A\n/wait 3s")])
      assert.deepInclude(answer, { id: request.input.inputId, state: "queued" })
      assert.strictEqual(log, "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B)")
    })
  )

  it.effect("is not taken again when it was cancelled since", () =>
    Effect.gen(function* () {
      const request = submit("B")
      const { answer, log, row } = yield* lost(
        request,
        [submit("A\n/wait 3s")],
        [{ type: "remove", inputId: request.input.inputId }]
      )
      assert.deepInclude(answer, { id: request.input.inputId, state: "queued" })
      assert.strictEqual(log, "user(A) assistant(A) turn_completed(A)")
      assert.deepStrictEqual(
        [...row.inputs.values()].map(({ state }) => state),
        ["cancelled"]
      )
    })
  )

  it.effect("is not taken again when its turn is long over", () =>
    Effect.gen(function* () {
      const request = submit("A")
      const { answer, log } = yield* lost(request, [], [submit("B"), submit("C")])
      assert.deepInclude(answer, { id: request.input.inputId, state: "admitted", seq: 1 })
      assert.strictEqual(
        log,
        "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B) user(C) assistant(C) turn_completed(C)"
      )
    })
  )

  it.effect("and retried a turn has retried it once", () =>
    Effect.gen(function* () {
      const { log } = yield* lost({ type: "retry", inputId: freshId("input"), principal: ann }, [
        submit("A\n/fail model_error no")
      ])
      assert.strictEqual(log.match(/user/g)?.length, 2)
    })
  )

  it.effect(
    "and cancelled a turn does not cancel the one that came after it: nobody can tell, and that is said; a key tells",
    () =>
      Effect.gen(function* () {
        for (const key of [undefined, { scope: "s", fingerprint: "f" }]) {
          const { a, b, ref, wire, world } = yield* setting(2)
          for (const name of ["A", "B"]) yield* a.deliver(ref, { request: submit(`${name}\n/wait 3s`) })
          wire.fate = "unanswered"
          wire.meanwhile = a.kill
          const answer = yield* Effect.result(
            b.deliver(ref, {
              request: { type: "cancel", principal: ann, clearQueue: false },
              ...(key === undefined ? {} : { key })
            })
          )
          if (Result.isSuccess(answer)) assert.strictEqual(answer.success.replayed, true)
          else assert.deepInclude(answer.failure, { _tag: "Unreachable" })
          assert.strictEqual(Result.isSuccess(answer), key !== undefined)
          yield* toRest(world, b, ref)
          assert.strictEqual(wordsOf(world, ref), "user(A) turn_cancelled(A) user(B) assistant(B) turn_completed(B)")
        }
      })
  )

  it.effect("and that did not arrive at all is taken", () =>
    Effect.gen(function* () {
      for (const request of [submit("B"), { type: "cancel", principal: ann, clearQueue: false, turnId: "" } as const]) {
        const { a, b, ref, wire, world } = yield* setting(2)
        const turnId = String(bodyOf(yield* a.deliver(ref, { request: submit("A\n/wait 30s") })).turnId)
        yield* pass(100)
        wire.fate = "unheard"
        const asked = yield* Effect.forkChild(
          b.deliver(ref, { request: request.type === "cancel" ? { ...request, turnId } : request })
        )
        yield* settle
        yield* a.kill
        yield* pass(2_500)
        yield* Fiber.join(asked)
        yield* toRest(world, b, ref)
        assert.strictEqual(
          wordsOf(world, ref),
          request.type === "cancel"
            ? "user(A) turn_cancelled(A)"
            : "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B)"
        )
      }
    })
  )

  it.effect("is taken once when it was also stored in the inbox, whichever comes first", () =>
    Effect.gen(function* () {
      const { a, b, ref, wire, world } = yield* setting(2)
      yield* a.deliver(ref, { request: submit("A\n/wait 3s") })
      const [first, second] = [submit("B"), submit("C")]
      wire.fate = "unanswered"
      assert.deepInclude(yield* Effect.flip(b.deliver(ref, { request: first })), {
        _tag: "Unreachable",
        elsewhere: true
      })
      yield* post(b, ref, first)
      // And one that was on its way for so long that the inbox was faster.
      yield* post(b, ref, second)
      yield* pass(1_100)
      assert.strictEqual(world.store.inbox.size, 0)
      const late = yield* b.deliver(ref, { request: second })
      assert.deepInclude(bodyOf(late), { id: second.input.inputId, state: "queued" })
      yield* toRest(world, a, ref)
      assert.strictEqual(
        wordsOf(world, ref),
        ["A", "B", "C"].map((x) => `user(${x}) assistant(${x}) turn_completed(${x})`).join(" ")
      )
    })
  )

  it.effect("is taken once when its row in the inbox goes first, also where its actor is lost in between", () =>
    Effect.gen(function* () {
      for (const isLost of [false, true]) {
        const { a, b, ref, world } = yield* setting(2)
        const gate = Deferred.makeUnsafe<void>()
        let appends = 0
        let lost = 0
        world.slowness = Effect.suspend(() => (appends++ === 0 ? Deferred.await(gate) : Effect.void))
        // In the step that commits the rows: what waits finds its actor anew behind that.
        world.store.fault = () => {
          if (isLost && appends === 2) {
            a.registry.wakeable.dropAll()
            lost++
          }
          return undefined
        }
        const request = submit("A\n/wait 3s")
        // As one whose id was made for it, which nobody has to look for.
        const asked = yield* Effect.forkChild(b.deliver(ref, { request: { ...request, fresh: true } }))
        yield* settle
        yield* post(b, ref, request)
        // By its end the turn of A is over, and its thread knows nothing of it.
        yield* post(b, ref, submit("B", { mode: "interrupt" }))
        yield* Deferred.succeed(gate, undefined)
        assert.deepInclude(bodyOf(yield* Fiber.join(asked)), { id: request.input.inputId, state: "admitted", seq: 1 })
        assert.strictEqual(lost, isLost ? 1 : 0)
        yield* toRest(world, a, ref)
        assert.strictEqual(wordsOf(world, ref), "user(A) turn_cancelled(A) user(B) assistant(B) turn_completed(B)")
      }
    })
  )
})

describe("a message that waits for a slow read while its actor is lost", () => {
  for (const mode of ["queue", "steer", "interrupt"] as const)
    it.effect(`is taken once, though its row in the inbox went to the actor's next stay in memory: ${mode}`, () =>
      Effect.gen(function* () {
        const { a, b, ref, world } = yield* setting(2, 1_000)
        yield* a.deliver(ref, { request: submit("zero\n/wait 1500ms") })
        const gate = Deferred.makeUnsafe<void>()
        const request = submit("X", { mode })
        let reads = 0
        whenPreparing(a, "submit", ({ input }) =>
          input.inputId === request.input.inputId && reads++ === 0 ? Deferred.await(gate) : undefined
        )
        const asked = yield* Effect.forkChild(Effect.exit(b.deliver(ref, { request: { ...request, fresh: true } })))
        yield* settle
        // Its beat is 0.9 s late: nobody takes anything from it, and nobody waits any more for what it was asked.
        world.fencedUntil.set(a.incarnation, (yield* Clock.currentTimeMillis) + 900)
        yield* pass(1_000)
        assert.isTrue(Exit.isFailure(yield* Fiber.join(asked)))
        yield* post(b, ref, request)
        yield* pass(4_000)
        assert.isUndefined(a.registry.peek(ref.id))
        yield* a.deliver(ref, { request: submit("Y\n/wait 3s") })
        yield* Deferred.succeed(gate, undefined)
        yield* pass(1_000)
        yield* a.deliver(ref, { request: submit("Z") })
        yield* toRest(world, a, ref)
        const events = wordsOf(world, ref).split(" ")
        assert.lengthOf(
          events.filter((event) => event.startsWith("user(X")),
          1
        )
        assert.deepStrictEqual(events.slice(-6), [
          "user(Y)",
          "assistant(Y)",
          "turn_completed(Y)",
          "user(Z)",
          "assistant(Z)",
          "turn_completed(Z)"
        ])
      })
    )
})

describe("a command for an actor that is owed, and that the journal knows to be at rest", () => {
  it.effect("is taken, also while that is being found out", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/wait 1s") })
      const { append, claim } = node.journal
      let isLost = false
      Object.assign(node.journal, {
        append: (given: Parameters<typeof append>[0]) => {
          if (given.head.runnableAt !== null || isLost) return append(given)
          isLost = true
          return Effect.andThen(append(given), Effect.fail(new JournalUnavailable({ cause: "no answer" })))
        },
        claim: (ref: ActorRef) => Effect.delay(claim(ref), "400 millis")
      })
      for (let i = 0; i < 60 && node.registry.wakeable.owed() === 0; i++) yield* pass(50)
      assert.strictEqual(rowOf(world, ref).head.runnableAt, null)
      yield* pass(300)
      const asked: Array<Fiber.Fiber<Reply, ActorError>> = []
      for (let i = 0; i < 16; i++) {
        const request = submit(`B${i}`)
        asked.push(yield* Effect.forkChild(node.deliver(ref, { request }), { startImmediately: true }))
        yield* pass(50)
      }
      yield* pass(3_000)
      for (const fiber of asked) assert.strictEqual((yield* Fiber.join(fiber)).kind, "created")
    })
  )
})

describe("commands that came another way", () => {
  it("are remembered for a minute by an actor that stays in memory, however many", () => {
    const live: Parameters<typeof cameAnotherWay>[0] = {}
    const sent = (i: number) => ({ request: undefined, sent: { id: `inp_${i}`, at: 0, redelivered: false } })
    for (let i = 0; i < 5_000; i++) cameAnotherWay(live, sent(i), i * 20)
    assert.isFalse(mayBeKnown(live, sent(1_900)))
    assert.isTrue(mayBeKnown(live, sent(2_100)))
    assert.isTrue(mayBeKnown(live, sent(4_999)))
    assert.isAtMost(live.seen?.size ?? 0, 3_000)
  })

  it("count from when they came last", () => {
    const live: Parameters<typeof cameAnotherWay>[0] = {}
    const sent = (id: string) => ({ request: undefined, sent: { id, at: 0, redelivered: false } })
    cameAnotherWay(live, sent("a"), 0)
    cameAnotherWay(live, sent("b"), 1_000)
    cameAnotherWay(live, sent("a"), 50_000)
    cameAnotherWay(live, sent("c"), 61_500)
    assert.deepStrictEqual(
      ["a", "b", "c"].map((id) => mayBeKnown(live, sent(id))),
      [true, false, true]
    )
  })
})
