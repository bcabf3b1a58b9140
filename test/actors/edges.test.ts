/** Ways in which a living node could forget what it owes, and does not. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { Unreachable } from "../../actors/Actor.ts"
import type { Start } from "../../actors/Kind.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { type ActorRef, JournalUnavailable } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { freshId } from "../../src/seed.ts"
import { type Node, startNode } from "./Node.ts"
import { pass, settle, threadOf, type World } from "./World.ts"
import { failRelease, reachable, runsOf, unavailable, whenPreparing } from "./oneNode.ts"
import { birth, create, rowOf, submit, wordsOf } from "./threads.ts"

/** The tool `once` begins at once, and takes so many milliseconds. */
const slowOnce = (node: Node, ms: number) => {
  const { perform } = node.kind
  Object.assign(node.kind, {
    perform: (being: Parameters<typeof perform>[0], job: Parameters<typeof perform>[1], start: Start) => {
      const isSlow = job.type === "runTool" && job.params.name === "once"
      if (isSlow) start.begun()
      return isSlow ? Effect.delay(perform(being, job, start), ms) : perform(being, job, start)
    }
  })
}

describe("an outcome that could not be prepared for one moment", () => {
  it.effect("is told again while its actor stays in memory", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      let times = 0
      // As roles or a profile that cannot be read for one moment.
      whenPreparing(node, "model.replied", () =>
        ++times === 1 ? Effect.fail(new Unreachable({ retryAfterSeconds: 2 })) : undefined
      )
      yield* node.deliver(ref, { request: submit("A\n/wait 1s") })
      yield* pass(30_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )
})

describe("an outcome whose append was refused after its actor was taken up again", () => {
  it.effect("is told to the actor that is in memory now", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      slowOnce(node, 10_000)
      yield* node.deliver(ref, { request: submit("A\n/call often {}\n/call once {}") })
      yield* pass(500)
      // The append with the first result hangs,
      const gate = yield* Deferred.make<void>()
      let hanging = 0
      world.slowness = Effect.suspend(() => (hanging++ === 0 ? Deferred.await(gate) : Effect.void))
      yield* pass(2_500)
      assert.strictEqual(hanging, 1)
      // no beat is answered for a second, and then all is well again: the actor is taken up anew.
      world.fenced.add(node.incarnation)
      yield* pass(1_000)
      world.fenced.delete(node.incarnation)
      yield* pass(1_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) intent(A) intent(A) result(A: tool_outcome_unknown)")
      yield* Deferred.succeed(gate, undefined)
      yield* pass(40_000)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) intent(A) intent(A) result(A: tool_outcome_unknown) result(A) assistant(A) turn_completed(A)"
      )
    })
  )
})

describe("a job that must not run twice, of an actor that this node still remembers to owe", () => {
  it.effect(
    "does not, when another node had the actor meanwhile and was killed, and one load after the takeover gets no answer",
    () =>
      Effect.gen(function* () {
        const { node: a, world } = yield* reachable({ idleMs: 0 })
        const b = yield* startNode(world, () => undefined)
        const ref = threadOf(b.registry.freshId("thread"))
        yield* a.registry.create(ref, birth, { request: { type: "create" } })
        yield* a.deliver(ref, { request: submit("A\n/call risky {}") })
        yield* settle
        // It awaits an approval, leaves memory, and the answer to its release is lost, as are those to A's claims for a
        // while.
        world.store.readFault = (read, _, owner) =>
          owner !== a.incarnation
            ? undefined
            : read === "release"
              ? "unanswered"
              : read === "claim"
                ? "unasked"
                : undefined
        yield* pass(4_000)
        assert.isNull(rowOf(world, ref).owner)
        const wait = [...rowOf(world, ref).waits.values()][0] ?? assert.fail("no wait")
        yield* b.deliver(ref, {
          request: {
            type: "answer",
            waitId: wait.id,
            principal: { type: "user", id: "bob" },
            answer: { type: "decision", decision: "allow" }
          } as ThreadRequest
        })
        yield* settle
        assert.strictEqual(rowOf(world, ref).owner, b.incarnation)
        assert.strictEqual(runsOf(world), 1)
        yield* b.kill
        // A's claims are answered again; one load is not.
        let loads = 0
        world.store.readFault = (read, _, owner) =>
          owner === a.incarnation && read === "load" && ++loads === 1 ? "unasked" : undefined
        yield* pass(30_000)
        assert.deepStrictEqual(world.complaints, [])
        assert.strictEqual(runsOf(world), 1)
      })
  )
})

describe("a question about an owed thread from another workspace", () => {
  it.effect("leaves it owed", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/wait 3s") })
      const from = world.store.commits
      world.store.fault = (commit) => (commit <= from + 1 ? "unavailable" : undefined)
      yield* Effect.ignore(node.deliver(ref, { request: submit("lost") }))
      yield* settle
      assert.strictEqual(node.registry.wakeable.owed(), 1)
      const stranger = { ...ref, workspace: freshId("workspace") }
      assert.strictEqual((yield* Effect.flip(node.deliver(stranger, { request: submit("S") })))._tag, "Refused")
      yield* pass(60_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )
})

describe("a birth in doubt that is tried again", () => {
  it.effect("runs, when the first one has come through meanwhile", () =>
    Effect.gen(function* () {
      const { node, world } = yield* reachable()
      const ref = threadOf(freshId("thread"))
      const request: ThreadRequest = { ...submit("A"), creating: true }
      let births = 0
      world.store.fault = (_, append) => {
        if (append.birth === undefined || append.actor.id !== ref.id) return undefined
        if (++births === 1) return "late"
        // The first is written while the second is on its way.
        world.store.arrive(0)
        return undefined
      }
      assert.strictEqual((yield* Effect.flip(node.registry.ensure(ref, birth, { request })))._tag, "Unreachable")
      yield* settle
      assert.strictEqual(node.registry.wakeable.owed(), 1)
      yield* Effect.ignore(node.registry.ensure(ref, birth, { request }))
      assert.strictEqual(rowOf(world, ref).owner, node.incarnation)
      yield* pass(60_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) assistant(A) turn_completed(A)")
    })
  )
})

describe("a release that fails after its actor came back", () => {
  it.effect("leaves nothing owed: the node can leave at once", () =>
    Effect.gen(function* () {
      const { node, ref } = yield* reachable({ idleMs: 0 })
      yield* node.deliver(ref, { request: submit("A\n/call ask {}") })
      let releases = 0
      Object.assign(node.journal, {
        release: () => {
          if (++releases > 1) return Effect.void
          // A command comes while the release is under way, and brings the actor back; then the release fails.
          return Effect.andThen(
            Effect.ignore(node.deliver(ref, { request: submit("B") })),
            Effect.fail(new JournalUnavailable({ cause: "release" }))
          )
        }
      })
      for (let i = 0; i < 100 && releases === 0; i++) yield* pass(100)
      assert.strictEqual(releases, 1)
      assert.strictEqual(node.registry.wakeable.size(), 1)
      assert.strictEqual(node.registry.wakeable.owed(), 0)
      yield* pass(300)
      assert.strictEqual(node.registry.wakeable.owed(), 0)
    })
  )

  it.effect("leaves to what is owed since the jobs that run for it", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable({ idleMs: 0 })
      slowOnce(node, 5_000)
      const failing = yield* Deferred.make<never, JournalUnavailable>()
      const releases = failRelease(node, Deferred.await(failing))
      yield* node.deliver(ref, { request: submit("A\n/call ask {}") })
      for (let i = 0; i < 100 && releases() === 0; i++) yield* pass(100)
      // While it is being given back it comes back, and a tool begins that must not run twice;
      yield* node.deliver(ref, { request: submit("B\n/call once {}", { mode: "interrupt" }) })
      yield* pass(500)
      // then an append of it has no answer, so that it is owed, and the release fails.
      yield* lostOnce(world, node, ref)
      assert.strictEqual(node.registry.wakeable.owed(), 1)
      yield* Deferred.fail(failing, new JournalUnavailable({ cause: "release" }))
      yield* pass(60_000)
      assert.match(wordsOf(world, ref), /user\(B\) intent\(B\) result\(B\) assistant\(B\) turn_completed\(B\)/)
      assert.strictEqual(runsOf(world), 1)
    })
  )
})

const lostOnce = Effect.fnUntraced(function* (world: World, node: Node, ref: ActorRef) {
  unavailable(world)
  yield* Effect.ignore(node.deliver(ref, { request: submit("lost") }))
  yield* settle
})

describe("what a node owes", () => {
  it.effect("is served beside an actor whose load takes long", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      const other = yield* create(node)
      for (const each of [ref, other]) yield* node.deliver(each, { request: submit("A\n/wait 3s") })
      const { load } = node.journal
      Object.assign(node.journal, {
        // As one of many facts that waits for its turn to read a whole log.
        load: (claimed: Parameters<typeof load>[0]) =>
          claimed.actor.id === ref.id ? Effect.delay(load(claimed), 60_000) : load(claimed)
      })
      yield* lostOnce(world, node, ref)
      yield* pass(1_000)
      yield* lostOnce(world, node, other)
      yield* pass(20_000)
      assert.strictEqual(wordsOf(world, other), "user(A) assistant(A) turn_completed(A)")
    })
  )
})

describe("a tool whose job could not begin yet", () => {
  it.effect("has not run when the lease comes back: nobody says that it may have", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      const { perform } = node.kind
      Object.assign(node.kind, {
        // As `needed` does in perform.ts while the turn's tools or roles cannot be read.
        perform: (being: Parameters<typeof perform>[0], job: Parameters<typeof perform>[1], start: Start) =>
          job.type === "runTool" ? Effect.delay(perform(being, job, start), 3_000) : perform(being, job, start)
      })
      yield* node.deliver(ref, { request: submit("A\n/call once {}") })
      yield* pass(1_000)
      world.fenced.add(node.incarnation)
      yield* pass(1_000)
      world.fenced.delete(node.incarnation)
      yield* pass(30_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) intent(A) result(A) assistant(A) turn_completed(A)")
      assert.strictEqual(runsOf(world), 1)
    })
  )
})

describe("a birth that is being prepared while the lease lapses", () => {
  it.effect("is not written, and whoever asked for it is told so", () =>
    Effect.gen(function* () {
      const { node, world } = yield* reachable()
      const ref = threadOf(freshId("thread"))
      const { prepare } = node.kind
      Object.assign(node.kind, {
        // As what an agent has spent, read from a database that is slow.
        prepare: (being: Parameters<typeof prepare>[0], request: ThreadRequest, at: number) =>
          request.type === "submit" && request.creating === true
            ? Effect.delay(prepare(being, request, at), 1_000)
            : prepare(being, request, at)
      })
      const asked = yield* Effect.forkChild(
        Effect.exit(node.registry.create(ref, birth, { request: { ...submit("A"), creating: true } })),
        { startImmediately: true }
      )
      yield* pass(500)
      node.registry.wakeable.dropAll()
      yield* pass(2_000)
      const exit = yield* Fiber.join(asked)
      yield* pass(60_000)
      assert.isTrue(Exit.isFailure(exit))
      assert.isUndefined(world.store.actors.get(keyOf(ref)))
    })
  )
})

describe("an outcome in one append with an input that has to wait for the inbox twice", () => {
  it.effect("is told again", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/wait 1s") })
      const post = (text: string) => {
        const request = submit(text)
        return node.journal.post({
          id: request.input.inputId,
          actor: ref,
          command: JSON.stringify({ ...request, acknowledged: true })
        })
      }
      // A first append is under way while the outcome and a client's input gather behind it.
      const gate = yield* Deferred.make<void>()
      let n = 0
      world.slowness = Effect.suspend(() => {
        n++
        return n === 1
          ? Deferred.await(gate)
          : n === 2
            ? Effect.ignore(post("R1"))
            : n === 3
              ? Effect.void
              : n === 4
                ? Effect.ignore(post("R2"))
                : Effect.void
      })
      yield* pass(900)
      yield* Effect.forkChild(Effect.exit(node.deliver(ref, { request: submit("B") })), { startImmediately: true })
      yield* pass(300)
      yield* Effect.forkChild(Effect.exit(node.deliver(ref, { request: submit("C") })), { startImmediately: true })
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      yield* pass(40_000)
      assert.match(wordsOf(world, ref), /turn_completed\(A\)/)
    })
  )
})
