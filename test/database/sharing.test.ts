/** Reads that many ask for at once (Q1, Q2 of src/database/sharing.ts). */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { makeSharing } from "../../src/database/sharing.ts"

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe("a read that many ask for", () => {
  const asked = () => {
    const sharing = makeSharing<string, "lost">()
    const answer = Deferred.makeUnsafe<string, "lost">()
    const kept: Array<string> = []
    let reads = 0
    const read = Effect.suspend(() => {
      reads++
      return Deferred.await(answer)
    })
    const ask = (key = "k") => sharing.ask(key, read, (value) => kept.push(value))
    return { answer, ask, kept, reads: () => reads, sharing }
  }

  it.effect("is one read, also when the first of them has left", () =>
    Effect.gen(function* () {
      const { answer, ask, kept, reads } = asked()
      const first = yield* Effect.forkChild(ask(), { startImmediately: true })
      const others = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 100 }, () => ask()),
          { concurrency: "unbounded" }
        ),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(answer, "A")
      assert.deepStrictEqual(new Set(yield* Fiber.join(others)), new Set(["A"]))
      assert.deepStrictEqual([reads(), kept], [1, ["A"]])
      yield* ask()
      assert.strictEqual(reads(), 2, "what is kept is its caller's affair")
    })
  )

  it.effect("fails for all of them alike, and the next asks anew", () =>
    Effect.gen(function* () {
      const { answer, ask, kept, reads } = asked()
      const both = yield* Effect.forkChild(Effect.all([Effect.exit(ask()), Effect.exit(ask())], { concurrency: 2 }), {
        startImmediately: true
      })
      yield* Deferred.fail(answer, "lost")
      const lost = Exit.fail<"lost">("lost")
      assert.deepStrictEqual(yield* Fiber.join(both), [lost, lost])
      yield* Effect.exit(ask())
      assert.deepStrictEqual([reads(), kept], [2, []])
    })
  )

  it.effect("is told and not kept when it was forgotten meanwhile", () =>
    Effect.gen(function* () {
      const { answer, ask, kept, reads, sharing } = asked()
      const before = yield* Effect.forkChild(ask(), { startImmediately: true })
      sharing.forget("k")
      const after = yield* Effect.forkChild(ask(), { startImmediately: true })
      sharing.forgetAll()
      yield* Deferred.succeed(answer, "A")
      assert.deepStrictEqual([yield* Fiber.join(before), yield* Fiber.join(after)], ["A", "A"])
      assert.deepStrictEqual([reads(), kept], [2, []])
    })
  )

  it("leaves nothing behind when whoever asks is interrupted, wherever its fiber pauses", async () => {
    const sharing = makeSharing<string, never>()
    // A fiber pauses after some 2,000 steps.
    for (let steps = 1_900; steps < 2_100; steps++) {
      const key = `k${steps}`
      const fiber = Effect.runFork(
        Effect.gen(function* () {
          for (let i = 0; i < steps; i++) yield* Effect.sync(() => {})
          return yield* sharing.ask(key, Effect.succeed("first"), () => {})
        })
      )
      fiber.interruptUnsafe()
      await Effect.runPromise(Fiber.await(fiber))
      await turn()
      assert.strictEqual(await Effect.runPromise(sharing.ask(key, Effect.succeed("second"), () => {})), "second")
    }
  })
})
