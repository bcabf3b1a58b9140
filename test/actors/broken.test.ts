/**
 * What breaks whatever is tried: an actor, its load, its poison, its release. It is tried less and less often, then set
 * aside, and holds up nothing else.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { toRest } from "./Node.ts"
import { pass, settle } from "./World.ts"
import { failRelease, reachable, spoil, start, unloadable, whenPreparing } from "./oneNode.ts"
import { rowOf, submit, wordsOf } from "./threads.ts"

describe("an actor that breaks whatever is tried", () => {
  const broken = Effect.fnUntraced(function* () {
    const given = yield* unloadable()
    yield* pass(120_000)
    return given
  })

  it.effect("is set aside: it failed, nothing of it is due, no fact was written, and nobody tries again", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* broken()
      const { head } = rowOf(world, ref)
      assert.deepInclude(head, { status: "failed", runnableAt: null })
      assert.isNotNull(head.since)
      assert.strictEqual(wordsOf(world, ref), "user(A)")
      const { claims } = world
      yield* pass(600_000)
      assert.strictEqual(world.claims, claims)
      assert.strictEqual(node.registry.wakeable.owed(), 0)
    })
  )

  it.effect("is tried less and less often before that", () =>
    Effect.gen(function* () {
      const { world } = yield* broken()
      assert.isBelow(world.claims, 12)
    })
  )

  it.effect("wakes for a command: its turn is given up, and the next one runs", () =>
    Effect.gen(function* () {
      const { mend, node, ref, world } = yield* broken()
      mend()
      assert.strictEqual((yield* node.deliver(ref, { request: submit("B") })).kind, "created")
      yield* toRest(world, node, ref)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) turn_failed(A: turn_poisoned) user(B) assistant(B) turn_completed(B)"
      )
    })
  )

  it.effect(
    "by a row of its inbox does not hold up the client's next command, and takes the row once it no longer breaks",
    () =>
      Effect.gen(function* () {
        const { node, ref, world } = yield* reachable()
        const bad = submit("bad")
        const id = bad.input.inputId
        let breaks = 0
        let mended = false
        whenPreparing(node, "submit", ({ input }) =>
          input.inputId === id && !mended ? Effect.die(new Error(`it breaks for the ${++breaks}. time`)) : undefined
        )
        yield* node.journal.post({ id, actor: ref, command: JSON.stringify(bad) })
        const answers = yield* Effect.forkChild(
          Effect.all(
            ["A", "B"].map((text) => node.deliver(ref, { request: submit(text) })),
            { concurrency: 2 }
          ),
          { startImmediately: true }
        )
        yield* settle
        yield* pass(5_000)
        assert.deepStrictEqual(
          (yield* Fiber.join(answers)).map(({ kind }) => kind),
          ["created", "created"]
        )
        yield* toRest(world, node, ref)
        assert.strictEqual(
          wordsOf(world, ref),
          "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B)"
        )
        assert.strictEqual(world.store.inbox.size, 1)
        yield* pass(600_000)
        assert.isBelow(breaks, 12, "it is tried less and less often")
        mended = true
        yield* pass(300_000)
        yield* toRest(world, node, ref)
        assert.match(wordsOf(world, ref), /user\(bad\) assistant\(bad\) turn_completed\(bad\)$/)
      })
  )
})

describe("a job that breaks after six minutes", () => {
  it.effect("breaks its turn three times, not more", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      let begun = 0
      Object.assign(world, { plan: { ...world.plan, maxTurnMs: 24 * 3_600_000 } })
      const { perform } = node.kind
      Object.assign(node.kind, {
        perform: (...[being, job, start]: Parameters<typeof perform>) =>
          job.type === "sample"
            ? Effect.suspend(() => {
                begun++
                return Effect.andThen(Effect.sleep("6 minutes"), Effect.die(new Error("it breaks")))
              })
            : perform(being, job, start)
      })
      yield* node.deliver(ref, { request: submit("A") })
      for (let i = 0; i < 40; i++) yield* pass(60_000)
      assert.strictEqual(begun, 3)
      assert.strictEqual(wordsOf(world, ref), "user(A) turn_failed(A: turn_poisoned)")
    })
  )
})

describe("a turn that breaks its actor", () => {
  it.effect("is set aside when its poison breaks, too: nobody tries for ever", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      const breaks = () => Effect.die(new Error("it breaks"))
      whenPreparing(node, "model.replied", breaks)
      whenPreparing(node, "poison", breaks)
      yield* node.deliver(ref, { request: submit("A\n/wait 1s") })
      const { claims: before } = world
      yield* pass(120_000)
      const { claims } = world
      assert.isBelow(claims - before, 12)
      assert.deepInclude(rowOf(world, ref).head, { status: "failed", runnableAt: null })
      yield* pass(600_000)
      assert.strictEqual(world.claims, claims)
      assert.strictEqual(wordsOf(world, ref), "user(A)")
    })
  )

  it.effect("is given up though it breaks over the input that comes next: giving up admits nothing", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      yield* node.deliver(ref, { request: submit("A\n/wait 1s") })
      const waiting = submit("B")
      yield* node.deliver(ref, { request: waiting })
      // The journal holds that it was admitted long ago.
      world.store.once.add(waiting.input.inputId.slice(-26))
      const { claims: before } = world
      yield* pass(120_000)
      assert.strictEqual(wordsOf(world, ref), "user(A) turn_failed(A: turn_poisoned)")
      const { claims } = world
      assert.isBelow(claims - before, 12)
      yield* pass(600_000)
      assert.strictEqual(world.claims, claims)
      yield* node.deliver(ref, { request: { type: "remove", inputId: waiting.input.inputId } })
      yield* node.deliver(ref, { request: submit("C") })
      yield* toRest(world, node, ref)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) turn_failed(A: turn_poisoned) user(C) assistant(C) turn_completed(C)"
      )
    })
  )
})

describe("a command behind a poison that breaks", () => {
  it.effect("is not delivered again and again without a pause", () =>
    Effect.gen(function* () {
      const { mend, node, ref, world } = yield* unloadable()
      yield* pass(120_000)
      mend()
      let poisons = 0
      whenPreparing(node, "poison", () => {
        poisons++
        if (poisons > 100) return undefined
        return Effect.die(new Error("it breaks"))
      })
      const before = world.claims
      const asked = yield* Effect.forkChild(Effect.exit(node.deliver(ref, { request: submit("B") })), {
        startImmediately: true
      })
      for (let i = 0; i < 50; i++) yield* settle
      const claims = world.claims - before
      yield* Fiber.interrupt(asked)
      assert.isBelow(claims, 10)
    })
  )
})

describe("a turn that cannot be taken up again, though its thread can be loaded", () => {
  it.effect("is given up, and its thread set aside when that breaks as well", () =>
    Effect.gen(function* () {
      const { node: first, ref, world } = yield* reachable()
      yield* first.deliver(ref, { request: submit("A\n/wait 3s") })
      yield* first.kill
      const node = yield* start(world)
      Object.assign(node.kind, {
        resume: () => {
          throw new Error("it cannot be resumed")
        }
      })
      whenPreparing(node, "poison", () => Effect.die(new Error("nor given up")))
      yield* pass(120_000)
      assert.deepInclude(rowOf(world, ref).head, { status: "failed", runnableAt: null })
      assert.strictEqual(wordsOf(world, ref), "user(A)")
      assert.isBelow(world.claims, 12)
      assert.strictEqual(node.registry.wakeable.owed(), 0)
    })
  )
})

describe("a thread at rest that cannot be loaded", () => {
  it.effect("is owed nothing, and whoever asks again and again is told to wait", () =>
    Effect.gen(function* () {
      const { node: first, ref, world } = yield* reachable()
      yield* first.deliver(ref, { request: submit("A") })
      yield* toRest(world, first, ref)
      yield* first.kill
      spoil(world, ref)
      const node = yield* start(world)
      const ask = Effect.exit(node.deliver(ref, { request: submit("B") }))
      yield* ask
      yield* pass(3_000)
      assert.strictEqual(node.registry.wakeable.owed(), 0)
      const before = world.claims
      for (let second = 0; second < 600; second++) {
        yield* Effect.forkChild(ask, { startImmediately: true })
        yield* pass(1_000)
      }
      // Each break is a claim, and one more that finds nothing to be owed.
      assert.isBelow(world.claims - before, 25)
    })
  )
})

describe("an outcome in hand", () => {
  it.effect("that breaks its actor while a client asks does not use up all attempts in one moment", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable()
      let breaks = 0
      let lastBad = 0
      // Broken for a moment: a defect that is over a second later.
      whenPreparing(node, "model.replied", (_, at) => {
        if (at >= lastBad) return undefined
        breaks++
        return Effect.die(new Error("it breaks"))
      })
      yield* node.deliver(ref, { request: submit("A\n/wait 1s") })
      lastBad = rowOf(world, ref).head.updatedAt + 2_500
      yield* pass(900)
      const slow = yield* Deferred.make<void>()
      let n = 0
      world.slowness = Effect.suspend(() => (n++ === 0 ? Deferred.await(slow) : Effect.void))
      // One that is being written while the outcome comes, and one behind it.
      const asked = yield* Effect.forkChild(Effect.exit(node.deliver(ref, { request: submit("B") })), {
        startImmediately: true
      })
      yield* settle
      yield* pass(200)
      const keyed = yield* Effect.forkChild(
        Effect.exit(node.deliver(ref, { request: submit("C"), key: { scope: "s", fingerprint: "f" } })),
        { startImmediately: true }
      )
      yield* settle
      yield* Deferred.succeed(slow, undefined)
      yield* pass(60_000)
      yield* Fiber.interrupt(asked)
      yield* Fiber.interrupt(keyed)
      assert.isAtLeast(breaks, 1)
      assert.match(wordsOf(world, ref), /turn_completed\(A\)/)
    })
  )
})

describe("a release that breaks", () => {
  it.effect("leaves its actors owed, as one without an answer does", () =>
    Effect.gen(function* () {
      const { node, ref, world } = yield* reachable({ idleMs: 0 })
      // As 25006 does, a database that is read-only for the moment of a failover: no JournalUnavailable, but a defect.
      const readOnly = new Error("cannot execute UPDATE in a read-only transaction")
      const releases = failRelease(node, Effect.die(readOnly))
      yield* node.deliver(ref, { request: submit("A\n/call ask {}") })
      yield* pass(60_000)
      assert.isAtLeast(releases(), 1)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) intent(A) wait_created(A) wait_resolved(A: expired) result(A: tool_timeout) assistant(A) turn_completed(A)"
      )
    })
  )
})
