/** What every bus must keep (buses.ts) of what it carries between nodes: questions and answers, wakes, and news. */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { coarseOf } from "../../src/journal/shard.ts"
import { everyBus, until } from "./buses.ts"

const [node1, node2] = [`node_${"1".padStart(26, "0")}`, `node_${"2".padStart(26, "0")}`] as const

await everyBus((test) => {
  test(
    "asks a node and gets its answer, whatever the text",
    Effect.fnUntraced(function* ({ here, there }) {
      const texts = ["", "hello", "\n\u0000grüß 🎈", "x".repeat(900_000)]
      yield* there.serve(node1, (message) => Effect.succeed(`you said ${message}`))
      const answers = yield* Effect.forEach(texts, (text) => here.request(node1, text, 5_000))
      assert.deepStrictEqual(
        answers,
        texts.map((text) => `you said ${text}`)
      )
    })
  )

  test(
    "answers many requests at once, each with its own",
    Effect.fnUntraced(function* ({ here, there }) {
      const gate = yield* Deferred.make<void>()
      yield* there.serve(node1, (message) => Effect.as(Deferred.await(gate), message))
      const asked = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, i) => String(i)),
        (text) => Effect.forkChild(here.request(node1, text, 10_000))
      )
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(
        yield* Effect.forEach(asked, Fiber.join),
        asked.map((_, i) => String(i))
      )
    })
  )

  test(
    "says at once that nobody answers for an incarnation",
    Effect.fnUntraced(function* ({ here, there }) {
      yield* there.serve(node1, Effect.succeed)
      const since = performance.now()
      const failed = yield* Effect.flip(here.request(node2, "hello", 5_000))
      assert.strictEqual(failed.reason, "nobody")
      assert.isFalse(failed.mayHaveTakenEffect)
      assert.isBelow(performance.now() - since, 1_000)
    })
  )

  test(
    "does not wait longer than it was told, and the work goes on all the same",
    Effect.fnUntraced(function* ({ here, there }) {
      const gate = yield* Deferred.make<void>()
      let done = false
      yield* there.serve(node1, (message) =>
        Effect.andThen(
          Deferred.await(gate),
          Effect.sync(() => {
            done = true
            return message
          })
        )
      )
      const failed = yield* Effect.flip(here.request(node1, "hello", 50))
      assert.strictEqual(failed.reason, "timeout")
      assert.isTrue(failed.mayHaveTakenEffect)
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => done)
    })
  )

  test(
    "says that an answer was not found where whoever should find it breaks",
    Effect.fnUntraced(function* ({ here, there }) {
      yield* there.serve(node1, () => Effect.die(new Error("a bug behind the bus")))
      const failed = yield* Effect.flip(here.request(node1, "hello", 5_000))
      assert.strictEqual(failed.reason, "failed")
      assert.isTrue(failed.mayHaveTakenEffect)
    })
  )

  test(
    "answers for an incarnation until the scope closes, and for the next one then",
    Effect.fnUntraced(function* ({ here, there }) {
      const scope = yield* Scope.make()
      yield* Scope.provide(
        there.serve(node1, () => Effect.succeed("first")),
        scope
      )
      assert.strictEqual(yield* here.request(node1, "", 5_000), "first")
      yield* Scope.close(scope, Exit.void)
      yield* there.serve(node2, () => Effect.succeed("second"))
      assert.strictEqual((yield* Effect.flip(here.request(node1, "", 5_000))).reason, "nobody")
      assert.strictEqual(yield* here.request(node2, "", 5_000), "second")
    })
  )

  test(
    "wakes a shard on all nodes, the one that calls too",
    Effect.fnUntraced(function* ({ here, there }) {
      const woken: Array<number> = []
      const own: Array<number> = []
      const scope = yield* Scope.make()
      yield* Scope.provide(
        there.onWake((shard) => woken.push(shard)),
        scope
      )
      yield* here.onWake((shard) => own.push(shard))
      for (const shard of [0, 700, 4095]) here.wake(shard)
      yield* until(() => [0, 700, 4095].every((shard) => woken.includes(shard)) && own.length === 3)
      assert.deepStrictEqual(own, [0, 700, 4095])
      // Between nodes a wake is of sixteen shards.
      for (const shard of woken) assert.include([0, 700, 4095].map(coarseOf), coarseOf(shard))
      yield* Scope.close(scope, Exit.void)
      here.wake(80)
      yield* until(() => own.length === 4)
      assert.notInclude(woken, 80)
    })
  )

  test(
    "tells all nodes that keys or identities changed, the one that calls too",
    Effect.fnUntraced(function* ({ here, there }) {
      let heard = 0
      let own = 0
      yield* there.onAuthChanged(() => {
        throw new Error("a listener's bug")
      })
      yield* there.onAuthChanged(() => {
        heard++
      })
      yield* here.onAuthChanged(() => {
        own++
      })
      here.authChanged()
      yield* until(() => heard === 1 && own === 1)
    })
  )

  test(
    "tells all nodes that the list of nodes has changed, the one that calls too",
    Effect.fnUntraced(function* ({ here, there }) {
      const heard: Array<string> = []
      yield* there.onNodesChanged(() => {
        throw new Error("a listener's bug")
      })
      yield* there.onNodesChanged(() => heard.push("there"))
      yield* here.onNodesChanged(() => heard.push("here"))
      here.nodesChanged()
      yield* until(() => heard.length === 2)
      assert.sameMembers(heard, ["here", "there"])
    })
  )
})
