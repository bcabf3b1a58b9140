/**
 * What a living node owes and must not forget: an actor that it lost, a load that broke, an outcome in hand (O1 to O3
 * of actors/obligations.ts, D1 to D5 of actors/Jobs.ts, R1 of actors/Registry.ts).
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Logger } from "effect"
import { Unreachable } from "../../actors/Actor.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { type ActorRef, JournalUnavailable } from "../../src/journal/Journal.ts"
import type { Read } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"
import { toRest } from "./Node.ts"
import { pass, settle, threadOf, type World } from "./World.ts"
import { Obligations } from "../../actors/obligations.ts"
import { hook } from "./Toolbox.ts"
import {
  failRelease,
  modelCalls,
  reachable,
  runsOf,
  setting,
  start,
  unavailable,
  unloadable,
  whenPreparing
} from "./oneNode.ts"
import { ann, create, rowOf, submit, wordsOf } from "./threads.ts"

/** Reads of these kinds get no answer until the effect is over. */
const without = <A, E>({ store }: World, reads: ReadonlyArray<Read>, during: Effect.Effect<A, E>) =>
  Effect.andThen(
    Effect.sync(() => {
      store.readFault = (read) => (reads.includes(read) ? "unasked" : undefined)
    }),
    during
  ).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        store.readFault = () => undefined
      })
    )
  )

const done = "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B)"

describe("a running turn whose actor was lost", () => {
  it.effect("goes on though the sweep cannot read what is due", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      unavailable(world)
      yield* without(
        world,
        ["due"],
        Effect.gen(function* () {
          assert.strictEqual((yield* Effect.flip(node.deliver(ref, { request: submit("lost") })))._tag, "Unreachable")
          yield* pass(30_000)
        })
      )
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect("goes on when the journal answers again, whatever it did not answer before", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      unavailable(world)
      yield* without(
        world,
        ["due", "claim", "load", "log", "inbox", "release"],
        Effect.gen(function* () {
          yield* Effect.ignore(node.deliver(ref, { request: submit("lost") }))
          yield* pass(60_000)
        })
      )
      yield* pass(5_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )

  it.effect(
    "goes on with a hundred and twenty others, of which a fence closed over most while they were taken up",
    () =>
      Effect.gen(function* () {
        const { node, world } = yield* reachable()
        const refs: Array<ActorRef> = []
        for (let i = 0; i < 120; i++) refs.push(yield* create(node))
        for (const ref of refs) yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
        world.fenced.add(node.incarnation)
        yield* pass(1_000)
        world.fenced.delete(node.incarnation)
        let claims = 0
        const { claims: before } = world
        world.store.readFault = (read) => {
          // After some fifty of them.
          if (read === "claim" && ++claims === 50) world.fencedUntil.set(node.incarnation, Number.MAX_SAFE_INTEGER)
          return undefined
        }
        yield* pass(1_000)
        world.fencedUntil.clear()
        world.store.readFault = () => undefined
        yield* pass(60_000)
        assert.isAbove(world.claims, before)
        for (const ref of refs) assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      })
  )

  it.effect("keeps the model call that it had paid for", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* pass(1_000)
      unavailable(world)
      yield* Effect.ignore(node.deliver(ref, { request: submit("lost") }))
      // Begun anew it would take until the fourth second.
      yield* pass(2_500)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.strictEqual(node.registry.wakeable.jobs(), 0)
    })
  )
})

describe("a load that breaks after its claim", () => {
  it.effect("is owed, and met once it no longer breaks", () =>
    Effect.gen(function* () {
      const { mend, node, ref, world } = yield* unloadable()
      yield* pass(500)
      mend()
      yield* pass(5_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.strictEqual(node.registry.wakeable.owed(), 0)
    })
  )
})

describe("an outcome in hand", () => {
  it.effect("of a tool that must not run twice is told before anybody says that the tool was lost", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/call once {}") })
      yield* pass(1_000)
      unavailable(world, 3)
      yield* pass(30_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) intent(A) result(A) assistant(A) turn_completed(A)")
      assert.strictEqual(runsOf(world), 1)
    })
  )

  it.effect("of a model is not asked for a second time, and nothing runs on when the turn is over", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      const calls = modelCalls(node)
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* pass(2_900)
      unavailable(world, 2)
      for (let i = 0; i < 40 && wordsOf(world, ref) === "user(A)"; i++) yield* pass(100)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.strictEqual(node.registry.wakeable.jobs(), 0)
      assert.deepStrictEqual(calls, { begun: 1, underWay: 0 })
    })
  )

  it.effect("of a model leaves no call beside that of the next step: a cancel stops whatever runs", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      const calls = modelCalls(node)
      yield* node.deliver(ref, { request: submit("A\n/wait 3s\n/call nope {}\n/then\n/wait 30s") })
      yield* pass(2_900)
      unavailable(world)
      for (let i = 0; i < 40 && wordsOf(world, ref) === "user(A)"; i++) yield* pass(100)
      assert.deepStrictEqual(calls, { begun: 2, underWay: 1 })
      yield* node.deliver(ref, { request: { type: "cancel", principal: ann, clearQueue: false } })
      yield* pass(100)
      assert.strictEqual(wordsOf(world, ref), "user(A) intent(A) result(A: tool_not_found) turn_cancelled(A)")
      assert.deepStrictEqual(calls, { begun: 2, underWay: 0 })
    })
  )
})

describe("a job that is asked for twice", () => {
  it.effect("runs once, and a cancel stops it", () =>
    Effect.gen(function* () {
      const { node, ref } = yield* reachable()
      const calls = modelCalls(node)
      const { decide } = node.kind
      Object.assign(node.kind, {
        decide: (...given: Parameters<typeof decide>) => {
          const decision = decide(...given)
          return "jobs" in decision ? { ...decision, jobs: decision.jobs.flatMap((job) => [job, job]) } : decision
        }
      })
      yield* node.deliver(ref, { request: submit("A\n/wait 30s") })
      yield* pass(100)
      assert.deepStrictEqual(calls, { begun: 1, underWay: 1 })
      yield* node.deliver(ref, { request: { type: "cancel", principal: ann, clearQueue: false } })
      yield* pass(100)
      assert.deepStrictEqual(calls, { begun: 1, underWay: 0 })
    })
  )
})

describe("an outcome that could not be taken because the node could not read what it needs", () => {
  it.effect("is told again though its actor never left memory", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      let failed = 0
      whenPreparing(node, "model.replied", () =>
        failed++ < 3 ? Effect.fail(new Unreachable({ retryAfterSeconds: 2 })) : undefined
      )
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* pass(5_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )
})

describe("an outcome that is being appended while its actor is lost and taken up again", () => {
  it.effect("is told again, since that append is refused", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable({
        hooks: [hook("allow", "before_tool_call", { match: { conditions: [{ path: "/n", op: "eq", value: 1 }] } })]
      })
      yield* node.deliver(ref, { request: submit('A\n/call once {"n":1}\n/call often {"n":2}') })
      yield* pass(900)
      // The hook's answer is on its way for three seconds.
      world.slowness = Effect.sleep("3 seconds")
      yield* pass(300)
      world.slowness = Effect.void
      world.fenced.add(node.incarnation)
      yield* pass(1_000)
      world.fenced.delete(node.incarnation)
      yield* pass(20_000)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) intent(A) intent(A) hook(A: 0 allow) result(A) result(A) assistant(A) turn_completed(A)"
      )
    })
  )
})

describe("an append that hangs while a fence closes over its actor", () => {
  // The command comes to a running turn, or begins one: then nothing was due of the head that was known when the fence
  // closed.
  for (const before of ["a running turn", "rest"]) {
    for (const arrives of ["while the fence is closed", "after it"]) {
      it.effect(`leaves nothing undone when it arrives ${arrives}: from ${before}`, () =>
        Effect.gen(function* () {
          const { node, ref, world } = yield* reachable()
          yield* node.deliver(ref, { request: submit(before === "rest" ? "A" : "A\n/wait 20s") })
          yield* pass(500)
          const gate = yield* Deferred.make<void>()
          let hanging = 0
          world.slowness = Effect.suspend(() => (hanging++ === 0 ? Deferred.await(gate) : Effect.void))
          yield* Effect.forkScoped(node.deliver(ref, { request: submit("B") }))
          yield* pass(100)
          world.fenced.add(node.incarnation)
          yield* pass(600)
          if (arrives !== "after it") {
            yield* Deferred.succeed(gate, undefined)
            yield* settle
          }
          world.fenced.delete(node.incarnation)
          if (arrives === "after it") {
            yield* settle
            yield* Deferred.succeed(gate, undefined)
          }
          yield* pass(60_000)
          assert.strictEqual(wordsOf(world, ref), done)
        })
      )
    }
  }
})

describe("what is owed to an actor", () => {
  it("is not met, nor hidden, by what another workspace asks with its id", () => {
    const obligations = new Obligations<ThreadRequest>(() => 0)
    const ref = threadOf(freshId("thread"))
    const foreign = { ...ref, workspace: freshId("workspace") }
    obligations.failed(foreign, "broken", 1)
    obligations.failed(ref, "unanswered")
    assert.deepStrictEqual(obligations.get(ref)?.ref, ref)
    assert.strictEqual(obligations.brokenFor(ref), 0)
    obligations.met(foreign)
    assert.strictEqual(obligations.size, 1)
  })
})

describe("an actor that waits and could not be given back", () => {
  for (const [how, failing] of [
    ["got no answer", Effect.fail(new JournalUnavailable({ cause: "no answer" }))],
    ["broke", Effect.die(new Error("corrupt"))]
  ] as const) {
    it.effect(`is owed when the release ${how}`, () =>
      Effect.gen(function* () {
        const { node, ref, world } = yield* setting(0)
        const releases = failRelease(node, failing)
        yield* node.deliver(ref, { request: submit("A\n/call ask {}") })
        yield* settle
        yield* pass(20_000)
        assert.isAbove(releases(), 0)
        assert.strictEqual(
          wordsOf(world, ref),
          "user(A) intent(A) wait_created(A) wait_resolved(A: expired) result(A: tool_timeout) assistant(A) turn_completed(A)"
        )
      })
    )
  }
})

describe("a job that ends without an outcome, and that nobody has stopped", () => {
  it.effect("is begun anew long before its turn would time out, and told of in the log", () => {
    const said: Array<unknown> = []
    const logger = Logger.make(({ message }) => void said.push(...(Array.isArray(message) ? message : [message])))
    return Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      const { perform } = node.kind
      let begun = 0
      Object.assign(node.kind, {
        perform: (...given: Parameters<typeof perform>) => (begun++ === 0 ? Effect.interrupt : perform(...given))
      })
      yield* node.deliver(ref, { request: submit("A") })
      yield* pass(3_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
      assert.strictEqual(said.filter((line) => line === "a job broke").length, 1)
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})

describe("a node that leaves", () => {
  it.effect("gives its actors back though the first try is not answered", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      const releases = failRelease(node, Effect.fail(new JournalUnavailable({ cause: "no answer" })))
      yield* node.deliver(ref, { request: submit("A\n/call ask {}") })
      yield* Effect.forkChild(node.registry.wakeable.drain(20_000), { startImmediately: true })
      yield* pass(3_000)
      assert.isAtLeast(releases(), 2)
      assert.isNull(rowOf(world, ref).owner)
    })
  )

  it.effect("runs the tool that a response asked for while it left: nobody has to say that it may have run", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/wait 1s\n/call once {}") })
      yield* settle
      const leaving = yield* Effect.forkChild(node.registry.wakeable.drain(20_000), { startImmediately: true })
      const other = yield* start(world)
      yield* pass(10_000)
      yield* Fiber.join(leaving)
      yield* node.kill
      yield* toRest(world, other, ref)
      assert.strictEqual(wordsOf(world, ref), "user(A) intent(A) result(A) assistant(A) turn_completed(A)")
      assert.strictEqual(runsOf(world), 1)
    })
  )

  it.effect("withholds the model call that its last commit asks for: who takes over makes it", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/call often {}") })
      yield* Effect.forkChild(node.registry.wakeable.drain(20_000), { startImmediately: true })
      yield* pass(3_000)
      assert.strictEqual(node.registry.wakeable.size(), 0)
      assert.isNull(rowOf(world, ref).owner)
    })
  )

  it.effect("serves what it owes before it goes", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/call once {}") })
      yield* pass(1_000)
      unavailable(world, 2)
      const leaving = yield* Effect.forkChild(node.registry.wakeable.drain(20_000), { startImmediately: true })
      yield* pass(15_000)
      yield* Fiber.join(leaving)
      assert.strictEqual(wordsOf(world, ref), "user(A) intent(A) result(A)")
      assert.isNull(rowOf(world, ref).owner)
    })
  )
})
