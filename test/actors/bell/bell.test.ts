/**
 * A third kind, in this folder alone: nothing elsewhere names it. Its chart is walked, and its actors live through
 * every crash that threads live through.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { transition } from "xstate"
import { isUnknown, makeRegistry } from "../../../actors/Registry.ts"
import type { ActorRef } from "../../../src/journal/Journal.ts"
import { keyOf } from "../../../src/journal/MemoryStore.ts"
import { freshId } from "../../../src/seed.ts"
import { asStored, type Node, startNode } from "../Node.ts"
import { connect } from "../Wire.ts"
import { makeWorld, type Misfortune, pass, settle, workspace } from "../World.ts"
import { chart, type Command, type Context, decide, type Fact, restore, start } from "./chart.ts"
import { bellKind } from "./kind.ts"

const walk = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("ring" as const), ms: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ type: fc.constant("due" as const) }),
    fc.record({ type: fc.constant("heard" as const), round: fc.integer({ min: 0, max: 4 }) })
  ),
  { maxLength: 30 }
)

/** What the facts leave: what a load makes of a whole log. */
const folded = (facts: ReadonlyArray<Fact>): Context => {
  const rang = facts.filter((fact) => fact.type === "rang")
  const heard = facts.filter((fact) => fact.type === "was_heard")
  const last = facts.filter(({ type }) => type !== "was_heard").at(-1)
  return { rounds: rang.length, until: last?.type === "rang" ? last.until : null, heard: heard.at(-1)?.round ?? 0 }
}

describe("the chart of a bell", () => {
  it("is after any walk what its facts say, and what a load makes of them", () => {
    fc.assert(
      fc.property(walk, (commands) => {
        let snapshot = start()
        const facts: Array<Fact> = []
        for (const [i, told] of commands.entries()) {
          const command: Command = { ...told, at: i + 1 }
          const step = decide(snapshot, command)
          assert.deepStrictEqual(step.next.context, transition(chart, snapshot, command)[0].context)
          facts.push(...step.facts)
          snapshot = step.next
          const context = folded(facts)
          assert.deepStrictEqual(snapshot.context, context)
          assert.deepStrictEqual(restore(context).value, snapshot.value)
        }
      })
    )
  })
})

/** One bell that rings twice: the second time once the first is over. Whatever dies is replaced. */
const scenario = (...misfortunes: ReadonlyArray<Misfortune>) =>
  Effect.gen(function* () {
    const world = makeWorld(...misfortunes)
    yield* connect(world)
    const bell: ActorRef = { workspace, kind: "bell", id: freshId("operation") }
    const listened = new Set<number>()
    const bells = new Map<string, Effect.Success<ReturnType<typeof registry>>>()
    const registry = Effect.fnUntraced(function* (options: Parameters<(typeof world.kinds)[number]>[0]) {
      return yield* makeRegistry(
        bellKind((round) => listened.add(round)),
        options
      )
    })
    let made: Effect.Success<ReturnType<typeof registry>> | undefined
    world.kinds.push((options) =>
      Effect.map(registry(options), (one) => {
        made = one
      })
    )
    const begin: () => Effect.Effect<Node> = Effect.fnUntraced(function* () {
      const node = yield* startNode(world, () => undefined)
      bells.set(node.incarnation, made ?? assert.fail("the bells have no registry"))
      yield* Effect.forkDetach(Effect.andThen(node.told, leave(node)), { startImmediately: true })
      return node
    })
    let leaving = 0
    const leave: (left: Node) => Effect.Effect<void> = Effect.fnUntraced(function* (left: Node) {
      leaving++
      node = yield* begin()
      yield* bellsOf(left).wakeable.drain(20_000)
      yield* left.drain(20_000)
      yield* left.kill
      leaving--
    })
    const bellsOf = (node: Node) => bells.get(node.incarnation) ?? assert.fail("no such node")
    let node: Node = yield* begin()
    const look = Effect.fnUntraced(function* (ms: number) {
      yield* pass(ms)
      if (!node.isDead()) return
      yield* node.kill
      node = yield* begin()
      yield* pass(1_000)
    })
    const ring = Effect.fnUntraced(function* (key: string) {
      for (let i = 0; i < 100; i++) {
        const { create, tell } = bellsOf(node)
        const envelope = { request: { type: "ring" as const, ms: 3_000 }, key: { scope: key, fingerprint: "f" } }
        const asked = yield* Effect.forkChild(
          Effect.result(
            node.ask(
              Effect.catchIf(tell(bell, envelope), isUnknown, () =>
                create(bell, { parent: null, attributes: "{}" }, envelope)
              )
            )
          ),
          { startImmediately: true }
        )
        yield* settle
        for (let waited = 0; asked.pollUnsafe() === undefined && waited < 200; waited++) yield* pass(50)
        const exit = asked.pollUnsafe()
        yield* look(100)
        if (exit?._tag === "Success" && Result.isSuccess(exit.value) && exit.value.success !== "died") return
      }
      assert.fail("nobody rings")
    })
    const stored = () => world.store.actors.get(keyOf(bell))
    const untilAtRest = Effect.fnUntraced(function* () {
      for (let i = 0; stored()?.head.runnableAt !== null || leaving > 0; i++) {
        if (i > 400) assert.fail(`the bell does not come to rest: ${JSON.stringify(stored()?.head)}`)
        yield* look(250)
      }
    })
    yield* ring("first")
    yield* untilAtRest()
    yield* ring("second")
    yield* untilAtRest()
    yield* node.kill
    const facts = stored()?.facts ?? []
    assert.deepStrictEqual([...listened], [1, 2])
    const loaded = bellKind(() => {}).load(asStored(world, bell) ?? assert.fail("no such bell"))
    assert.deepStrictEqual(loaded.context, { rounds: 2, until: null, heard: 2 })
    assert.deepStrictEqual(
      facts.map(({ pos }) => pos),
      facts.map((_, i) => i + 1)
    )
    const rang = facts.filter(({ type }) => type === "rang")
    const silent = facts.filter(({ type }) => type === "fell_silent")
    for (const [i, { at }] of silent.entries())
      assert.isAtLeast(at, JSON.parse(rang[i]?.event ?? "{}").until, "a bell falls silent too early")
    return {
      log: facts.filter((fact) => fact.public).map(({ type, seq }) => `${type} ${seq}`),
      commits: world.store.commits
    }
  }).pipe(Effect.provide(Layer.fresh(TestClock.layer())), Effect.scoped)

describe("a bell", () => {
  const log = ["rang 1", "fell_silent 2", "rang 3", "fell_silent 4"]

  it.effect("rings, is heard, and falls silent when its moment comes", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* scenario()).log, log)
    })
  )

  it.effect(
    "does so whatever crashes, is lost, fenced or told to leave at whichever commit",
    () =>
      Effect.gen(function* () {
        const { commits } = yield* scenario()
        assert.isAtLeast(commits, 6)
        for (let commit = 1; commit <= commits; commit++) {
          for (const fault of [
            "crash before",
            "crash after",
            "lost before",
            "lost after",
            "unavailable",
            "late",
            "too late",
            "leave",
            "short fence",
            "long fence"
          ] as const) {
            assert.deepStrictEqual(
              (yield* scenario({ commit, fault })).log,
              log,
              `${fault}, commit ${commit} of ${commits}`
            )
          }
        }
      }),
    60_000
  )
})
