/** Commands that have gathered behind one, and are decided with it (H3), where one breaks or the actor is lost. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { freshId } from "../../src/seed.ts"
import { type Node, toRest } from "./Node.ts"
import { pass, settle, type World } from "./World.ts"
import { cancel } from "./bulkheadFixture.ts"
import { reachable, whenPreparing } from "./oneNode.ts"
import { submit, wordsOf } from "./threads.ts"

/** Asks for them in this order while the node's next append hangs, which `go` ends. */
const behind = Effect.fnUntraced(function* (
  { node, ref, world }: { readonly node: Node; readonly ref: ActorRef; readonly world: World },
  ...requests: ReadonlyArray<ThreadRequest>
) {
  const gate = yield* Deferred.make<void>()
  let appends = 0
  world.slowness = Effect.suspend(() => (appends++ === 0 ? Deferred.await(gate) : Effect.void))
  const asked = []
  for (const request of requests) {
    asked.push(yield* Effect.forkChild(Effect.exit(node.deliver(ref, { request })), { startImmediately: true }))
    yield* settle
  }
  return { asked, go: Deferred.succeed(gate, undefined) }
})

describe("a command that breaks while it is decided", () => {
  it.effect("breaks alone: those that have gathered with it are taken", () =>
    Effect.gen(function* () {
      const setting = yield* reachable()
      const { node, ref, world } = setting
      const { decide } = node.kind
      Object.assign(node.kind, {
        decide: (...given: Parameters<typeof decide>) => {
          if (given[1].command?.type === "remove") throw new Error("a chart's bug")
          return decide(...given)
        }
      })
      const { asked, go } = yield* behind(setting, submit("A"), submit("B"), submit("C"), {
        type: "remove",
        inputId: freshId("input")
      })
      yield* go
      yield* pass(60_000)
      const answered = asked.map((fiber) => {
        const exit = fiber.pollUnsafe()
        return exit === undefined ? "waits" : Exit.isSuccess(exit) && Exit.isSuccess(exit.value) ? "taken" : "failed"
      })
      assert.deepStrictEqual(answered, ["taken", "taken", "taken", "failed"])
      yield* toRest(world, node, ref)
      assert.strictEqual(
        wordsOf(world, ref),
        "user(A) assistant(A) turn_completed(A) user(B) assistant(B) turn_completed(B) user(C) assistant(C) turn_completed(C)"
      )
    })
  )
})

describe("a command that is being prepared when its actor leaves memory", () => {
  it.effect("is carried out once: a cancel does not cancel the next turn as well", () =>
    Effect.gen(function* () {
      const setting = yield* reachable()
      const { node, ref, world } = setting
      const { perform } = node.kind
      const breaks = yield* Deferred.make<void>()
      let performed = 0
      Object.assign(node.kind, {
        perform: (...given: Parameters<typeof perform>) =>
          performed++ === 0
            ? Effect.andThen(Deferred.await(breaks), Effect.die(new Error("a job's bug")))
            : perform(...given)
      })
      yield* node.deliver(ref, { request: submit("A\n/wait 60s") })
      yield* node.deliver(ref, { request: submit("B\n/wait 3s") })
      const prepared = yield* Deferred.make<void>()
      let preparing = 0
      whenPreparing(node, "cancel", () => (preparing++ === 0 ? Deferred.await(prepared) : undefined))
      const { asked, go } = yield* behind(setting, submit("C"), submit("D"), cancel)
      yield* go
      yield* settle
      assert.strictEqual(preparing, 1)
      yield* Deferred.succeed(breaks, undefined)
      yield* settle
      assert.isUndefined(node.registry.peek(ref.id))
      yield* Deferred.succeed(prepared, undefined)
      for (const fiber of asked) assert.isTrue(Exit.isSuccess(yield* Fiber.join(fiber)))
      yield* toRest(world, node, ref)
      assert.match(wordsOf(world, ref), /^user\(A\) turn_cancelled\(A\) user\(B\) assistant\(B\) turn_completed\(B\)/)
    })
  )
})
