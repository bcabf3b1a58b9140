/** What a mailbox and a node's memory hold (H7, G4). */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Metric, Result } from "effect"
import type { ActorError, Reply } from "../../actors/Actor.ts"
import type { Envelope } from "../../actors/envelope.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { freshId } from "../../src/seed.ts"
import { toRest } from "./Node.ts"
import { pass, settle } from "./World.ts"
import { begin, isOver, setting } from "./bulkheadFixture.ts"
import { message, submit, wordsOf } from "./threads.ts"

describe("a mailbox that is full", () => {
  const refusals = Effect.map(Metric.snapshot, (all) =>
    all.reduce(
      (sum, { attributes, id, state, type }) =>
        sum +
        (id === "troupe_mailbox_full_total" && type === "Counter" && attributes?.kind === "thread"
          ? Number(state.count)
          : 0),
      0
    )
  )

  it.effect("refuses commands of clients, and nothing else; what it took is worked off", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({})
      const ref = yield* begin(node, "A\n/wait 2s")
      yield* settle
      const gate = yield* Deferred.make<void>()
      world.slowness = Deferred.await(gate)
      const asked: Array<Fiber.Fiber<Result.Result<Reply, ActorError>>> = []
      const ask = (envelope: Envelope<ThreadRequest>) =>
        Effect.map(
          Effect.forkChild(Effect.result(node.deliver(ref, envelope)), { startImmediately: true }),
          (fiber) => {
            asked.push(fiber)
          }
        )
      const remove = (): Envelope<ThreadRequest> => ({ request: { type: "remove", inputId: freshId("input") } })
      const answered = () => asked.map((fiber) => fiber.pollUnsafe() !== undefined)
      // Its append hangs; what comes now waits.
      yield* ask({ request: submit("B") })
      yield* settle
      for (let i = 0; i < 256; i++) yield* ask(remove())
      yield* settle
      assert.notInclude(answered(), true)

      const before = yield* refusals
      const refused = yield* Effect.flip(node.deliver(ref, remove()))
      assert.deepInclude(refused, {
        _tag: "Refused",
        reason: "rate_limited",
        code: "mailbox_full",
        retryAfterSeconds: 1
      })
      assert.deepInclude(yield* Effect.flip(node.deliver(ref, { request: submit("C") })), { code: "mailbox_full" })
      assert.strictEqual((yield* refusals) - before, 2)

      // It may have been taken before: told so, its sender would send it anew.
      yield* ask({ ...remove(), sent: { id: "x", at: 0, redelivered: true } })
      const posted = message("P")
      yield* node.journal.post(
        {
          id: posted.inputId,
          actor: ref,
          command: JSON.stringify({ type: "submit", input: posted, acknowledged: true })
        },
        undefined
      )
      // The model answers meanwhile, and the sweep finds the row.
      yield* pass(4_000)
      assert.notInclude(answered(), true)
      world.slowness = Effect.void
      yield* Deferred.succeed(gate, undefined)
      yield* toRest(world, node, ref)
      assert.notInclude(answered(), false)
      for (const fiber of asked.slice(1)) {
        const result = yield* Fiber.join(fiber)
        assert.deepInclude(Result.isFailure(result) ? result.failure : {}, { reason: "input_not_pending" })
      }
      assert.deepStrictEqual([...wordsOf(world, ref).matchAll(/user\((\w)\)/g)].map(([, name]) => name).sort(), [
        "A",
        "B",
        "P"
      ])
      yield* node.deliver(ref, { request: submit("Z") })
      yield* toRest(world, node, ref)
      assert.match(wordsOf(world, ref), /turn_completed\(Z\)$/)
    })
  )
})

describe("a node's memory", () => {
  it.effect("holds no more actors at rest than it is to hold, the longest at rest leaving first; births go on", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ mostActors: 20 })
      const runs = yield* begin(node, "R\n/wait 30s")
      const refs = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, i) => `T${i}`),
        (name) => begin(node, name)
      )
      yield* pass(1_000)
      assert.isAtMost(node.registry.wakeable.size(), 20)
      assert.isTrue(node.registry.wakeable.isLive(runs))
      assert.isTrue(node.registry.wakeable.isLive(refs.at(-1) ?? assert.fail()))
      assert.isFalse(node.registry.wakeable.isLive(refs[0] ?? assert.fail()))
      for (const ref of refs) assert.isTrue(isOver(world, ref))
      yield* node.deliver(refs[0] ?? assert.fail(), { request: submit("again") })
      yield* toRest(world, node, refs[0] ?? assert.fail())
      assert.match(wordsOf(world, refs[0] ?? assert.fail()), /turn_completed\(again\)$/)
    })
  )

  it.effect("lets go of those that await somebody, who are woken when their time is over", () =>
    Effect.gen(function* () {
      const { node, world } = yield* setting({ mostActors: 4 })
      const refs = yield* Effect.forEach(
        Array.from({ length: 10 }, (_, i) => `T${i}`),
        (name) => begin(node, `${name}\n/call ask {}`)
      )
      yield* pass(1_000)
      assert.isAtMost(node.registry.wakeable.size(), 4)
      yield* pass(15_000)
      for (const ref of refs)
        assert.match(wordsOf(world, ref), /result\((\w+): tool_timeout\) assistant\(\1\) turn_completed\(\1\)$/)
    })
  )
})
