/** Turns of workspaces at connections that all share (T1, T2 of tenants.ts). */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, References } from "effect"
import { TestClock } from "effect/testing"
import { Tenant, Turns } from "../../src/database/tenants.ts"

const of =
  (workspace: string | undefined) =>
  <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.provideService(effect, Tenant, workspace)

/** Three connections, and work that goes on until it is let go. */
const busy = Effect.gen(function* () {
  const turns = new Turns(3, 2_000, () => "late" as const)
  const gate = yield* Deferred.make<void>()
  let inside = 0
  const work = turns.within(
    Effect.andThen(
      Effect.sync(() => {
        inside++
      }),
      Deferred.await(gate)
    )
  )
  return { turns, gate, work, inside: () => inside }
})

describe("of three connections a workspace", () => {
  it.effect("has two at once, and the third is another's", () =>
    Effect.gen(function* () {
      const { gate, inside, turns, work } = yield* busy
      const mine = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(of("mine")(work)))
      yield* Effect.yieldNow
      assert.strictEqual(inside(), 2)
      const other = yield* Effect.forkChild(of("other")(work))
      yield* Effect.yieldNow
      assert.strictEqual(inside(), 3)
      yield* Deferred.succeed(gate, undefined)
      for (const fiber of [...mine, other]) yield* Fiber.join(fiber)
      assert.strictEqual(inside(), 5)
      assert.strictEqual(turns.size, 0)
    })
  )

  it.effect("is told after two seconds that it has asked for too much, and nothing is left of that", () =>
    Effect.gen(function* () {
      const { gate, turns, work } = yield* busy
      const [one, two, three] = [
        yield* Effect.forkChild(of("mine")(work)),
        yield* Effect.forkChild(of("mine")(work)),
        yield* Effect.forkChild(Effect.flip(of("mine")(work)))
      ]
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* Fiber.join(three), "late")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(one)
      yield* Fiber.join(two)
      assert.strictEqual(turns.size, 0)
    })
  )

  it.effect("is told so wherever its fiber made way for others before it stood in line", () =>
    Effect.gen(function* () {
      for (let operations = 5; operations <= 40; operations++) {
        const turns = new Turns(2, 2_000, () => "late" as const)
        const gate = yield* Deferred.make<void>()
        const work = Effect.flip(of("mine")(turns.within(Effect.andThen(Deferred.await(gate), Effect.fail("held")))))
        const first = yield* Effect.forkChild(Effect.provideService(work, References.MaxOpsBeforeYield, operations))
        const second = yield* Effect.forkChild(work)
        yield* Effect.repeat(Effect.yieldNow, { times: 200 })
        yield* TestClock.adjust("2 seconds")
        yield* Deferred.succeed(gate, undefined)
        const ends = [yield* Fiber.join(first), yield* Fiber.join(second)]
        assert.deepStrictEqual(ends.toSorted(), ["held", "late"], `${operations} operations at a time`)
      }
    })
  )

  it.effect("gives its turn back when whoever had it is interrupted", () =>
    Effect.gen(function* () {
      const { gate, inside, turns, work } = yield* busy
      const first = yield* Effect.forEach([1, 2], () => Effect.forkChild(of("mine")(work)))
      yield* Effect.yieldNow
      for (const fiber of first) yield* Fiber.interrupt(fiber)
      assert.strictEqual(turns.size, 0)
      const next = yield* Effect.forkChild(of("mine")(work))
      yield* Effect.yieldNow
      assert.strictEqual(inside(), 3)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(next)
    })
  )
})

it.effect("what the node does by itself stands in no line", () =>
  Effect.gen(function* () {
    const { gate, inside, turns, work } = yield* busy
    const own = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(of(undefined)(work)))
    yield* Effect.yieldNow
    assert.strictEqual(inside(), 4)
    assert.strictEqual(turns.size, 0)
    yield* Deferred.succeed(gate, undefined)
    for (const fiber of own) yield* Fiber.join(fiber)
  })
)
