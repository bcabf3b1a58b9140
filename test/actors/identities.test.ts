/**
 * Identities through their registry: whatever they are told, in any order, warm or loaded cold between,
 * they answer as a model of them does, and the stored row loads as what is live.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { identityKind, identityStateOf } from "../../actors/identity/kind.ts"
import { identityActorId } from "../../src/identities/actorId.ts"
import type { IdentityState } from "../../src/identities/Identities.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { asStored, type Node, startNode } from "./Node.ts"
import { connect } from "./Wire.ts"
import { makeWorld, pass, settle, workspace, type World } from "./World.ts"

const ways = Number(process.env.TROUPE_WALKS ?? 60)

const by = { type: "user", id: "ann" } as const
type What = "disable" | "enable"

const refOf = (identity: string): ActorRef => ({
  workspace,
  kind: "identity",
  id: identityActorId(workspace, identity)
})

const start = (world: World) => startNode(world, () => undefined, 0)

const tell = ({ identities }: Node, what: What, identity: string) => identities[what](workspace, identity, by)

/** The actor has left memory, with its node or by itself: whoever asks next loads it. */
const leave = {
  stays: (_: World, node: Node) => Effect.succeed(node),
  rests: Effect.fnUntraced(function* (_: World, node: Node) {
    for (let i = 0; i < 50 && node.identityActors.size() > 0; i++)
      yield* Effect.andThen(settle, node.identityActors.passivate)
    assert.strictEqual(node.identityActors.size(), 0)
    return node
  }),
  dies: (world: World, node: Node) => Effect.andThen(node.kill, start(world))
} as const

const onVirtualTime = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.runPromise(effect.pipe(Effect.provide(Layer.fresh(TestClock.layer()))))

/** Whoever waits for another node is given the time. */
const joined = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(effect)
  yield* settle
  for (let i = 0; i < 60 && fiber.pollUnsafe() === undefined; i++) yield* pass(500)
  return yield* Fiber.join(fiber)
})

const stored = (world: World, identity: string) =>
  identityStateOf(identityKind.load(asStored(world, refOf(identity)) ?? assert.fail("no such row")))

const what = fc.constantFrom<What>("disable", "enable")
const identity = fc.constantFrom("ann", "bob")

describe("an identity", () => {
  it("answers the same whatever came before, warm or loaded cold, and its row loads as it is", async () => {
    const move = fc.record({ what, identity, then: fc.constantFrom<keyof typeof leave>("stays", "rests", "dies") })
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 12, size: "max" }), (way) =>
        onVirtualTime(
          Effect.gen(function* () {
            const world = makeWorld()
            const expected = new Map<string, IdentityState>()
            let node = yield* start(world)
            for (const [n, { identity, then, what }] of way.entries()) {
              yield* pass(10)
              const before = expected.get(identity)
              const after: IdentityState =
                what === "enable"
                  ? { disabled: false }
                  : before?.disabled === true
                    ? before
                    : { disabled: true, at: 10 * (n + 1), by }
              expected.set(identity, after)
              assert.deepStrictEqual(yield* tell(node, what, identity), after)
              assert.deepStrictEqual(stored(world, identity), after)
              node = yield* leave[then](world, node)
            }
          })
        )
      ),
      { numRuns: ways }
    )
  })

  it("that was enabled before it was ever disabled is enabled when it is loaded, and can be disabled", () =>
    onVirtualTime(
      Effect.gen(function* () {
        const world = makeWorld()
        const first = yield* start(world)
        yield* tell(first, "enable", "ann")
        const second = yield* leave.dies(world, first)
        yield* pass(10)
        assert.deepStrictEqual(yield* tell(second, "disable", "ann"), { disabled: true, at: 10, by })
      })
    ))

  it("whose row was written with an empty carry is enabled, and can be disabled", () =>
    onVirtualTime(
      Effect.gen(function* () {
        const world = makeWorld()
        const first = yield* start(world)
        yield* tell(first, "enable", "ann")
        const actor = world.store.actors.get(keyOf(refOf("ann"))) ?? assert.fail("not born")
        actor.head = { ...actor.head, status: "idle", carry: "{}" }
        const second = yield* leave.dies(world, first)
        assert.deepStrictEqual(stored(world, "ann"), { disabled: false })
        yield* pass(10)
        assert.deepStrictEqual(yield* tell(second, "disable", "ann"), { disabled: true, at: 10, by })
        assert.deepStrictEqual(stored(world, "ann"), { disabled: true, at: 10, by })
      })
    ))
})

describe("commands that come at once for an identity that nobody has named before", () => {
  const asked = fc.record({ what, at: fc.nat({ max: 2 }) })

  it("all have their answer, from one node and from several, and one order explains them", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(asked, { minLength: 2, maxLength: 8, size: "max" }),
        fc.integer({ min: 1, max: 3 }),
        (commands, nodes) =>
          onVirtualTime(
            Effect.gen(function* () {
              const world = makeWorld()
              yield* connect(world)
              const all = yield* Effect.forEach(Array.from({ length: nodes }), () => start(world))
              const answers = yield* joined(
                Effect.forEach(commands, ({ at, what }) => tell(all[at % nodes] ?? assert.fail(), what, "new"), {
                  concurrency: "unbounded"
                })
              )
              for (const [i, { what }] of commands.entries())
                assert.strictEqual(answers[i]?.disabled, what === "disable")
              const actor = world.store.actors.get(keyOf(refOf("new"))) ?? assert.fail("not born")
              for (const [i, { type }] of actor.facts.entries())
                assert.strictEqual(type, i % 2 === 0 ? "identity_disabled" : "identity_enabled")
              assert.deepInclude(answers, stored(world, "new"))
            })
          )
      ),
      { numRuns: ways }
    )
  })
})
