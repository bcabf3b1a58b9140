/** A node of a test's world: the real host, registry, sweep and thread kind, and the real scripted models. */
import { assert } from "@effect/vitest"
import { Clock, Context, Deferred, Effect, Exit, Layer, Scope, Stream } from "effect"
import type { ActorError, Reply } from "../../actors/Actor.ts"
import { Bulkheads } from "../../actors/Bulkheads.ts"
import type { Envelope } from "../../actors/envelope.ts"
import { layer as identitiesLayer } from "../../actors/identity/layer.ts"
import { makeRegistry } from "../../actors/Registry.ts"
import { Sweep } from "../../actors/Sweep.ts"
import { TurnEnds } from "../../actors/thread/memory/turnEnds.ts"
import { makeThreadKind } from "../../actors/thread/kind.ts"
import { Tails } from "../../actors/thread/replies/tails.ts"
import { makePerform } from "../../actors/thread/perform.ts"
import { Prompts } from "../../actors/thread/memory/prompts.ts"
import type { ThreadRequest } from "../../actors/thread/requests.ts"
import { Placement } from "../../actors/Placement.ts"
import { Registries } from "../../actors/Registries.ts"
import { Router } from "../../actors/Router.ts"
import { Bus } from "../../src/bus/Bus.ts"
import { Identities } from "../../src/identities/Identities.ts"
import { type ActorRef, Journal, type Loaded } from "../../src/journal/Journal.ts"
import { Lease, type NodeStatus } from "../../src/journal/Lease.ts"
import { layerMemory } from "../../src/journal/memory.ts"
import { keyOf } from "../../src/journal/MemoryStore.ts"
import { layerScripted } from "../../src/models/layer.ts"
import { Models } from "../../src/models/Model.ts"
import { Quotas } from "../../src/quotas/Quotas.ts"
import { freshId } from "../../src/seed.ts"
import { admissionIn, evaluateIn, toolsOf } from "./Toolbox.ts"
import { watchedModels } from "./watchedModels.ts"
import { pass, settle, type World } from "./World.ts"

/** What a node's beat says of it. */
export const said: NodeStatus = { actors: 0, births: 0, draining: false, bus: "in-process" }

const leaseOf = (
  { beatEvery, beats, fenced, fencedUntil, statuses, store }: World,
  incarnation: string,
  now: () => number
): Lease["Service"] =>
  Lease.of({
    incarnation: () => incarnation,
    now,
    fenced: () =>
      store.crashed.has(incarnation) || fenced.has(incarnation) || (fencedUntil.get(incarnation) ?? 0) > now(),
    nodes: () =>
      [...store.nodes]
        .filter(([other]) => store.alive(other, now()))
        .map(([other, { name }]) => ({ ...(statuses.get(other)?.() ?? said), incarnation: other, name })),
    describe: (status) => {
      statuses.set(incarnation, status)
    },
    beat: Effect.sync(() => {
      beats.push(incarnation)
    }),
    beatEvery,
    onLapse: () => Effect.void,
    authRevision: () => 0,
    authChanges: Stream.empty,
    knowWebhooks: () => Effect.void,
    rejoined: Stream.never,
    leave: Effect.void
  })

/** The store as one more owner uses it, whose lease lasts until it is taken away. */
const journalOf = Effect.fnUntraced(function* (world: World) {
  const { store } = world
  const clock = yield* Clock.Clock
  const lease = leaseOf(world, freshId("node"), () => clock.currentTimeMillisUnsafe())
  store.nodes.set(lease.incarnation(), { name: lease.incarnation(), deadline: Infinity, status: said })
  const memory = yield* Journal.pipe(Effect.provide(layerMemory(store)), Effect.provideService(Lease, lease))
  const journal = Journal.of({
    ...memory,
    append: (append) =>
      Effect.andThen(
        Effect.suspend(() => world.slowness),
        memory.append(append)
      ),
    log: (...asked) =>
      Effect.andThen(
        Effect.suspend(() => world.reading),
        memory.log(...asked)
      ),
    claim: (...asked) => {
      world.claims++
      return memory.claim(...asked)
    }
  })
  return { journal, lease }
})

/** Starts a node. `ref` names the thread whose prompts are watched; actors leave memory after an hour unless told. */
export const startNode = Effect.fnUntraced(function* (
  world: World,
  ref: () => ActorRef | undefined,
  idleMs = 3_600_000
) {
  const { store } = world
  const { journal, lease } = yield* journalOf(world)
  const incarnation = lease.incarnation()
  const scope = yield* Scope.make()
  const died = yield* Deferred.make<"died">()
  world.deaths.set(incarnation, () => Deferred.doneUnsafe(died, Exit.succeed("died")))
  const told = yield* Deferred.make<void>()
  world.leaves.set(incarnation, () => Deferred.doneUnsafe(told, Exit.void))
  const ground = Layer.mergeAll(
    Layer.succeed(Journal, journal),
    Layer.succeed(Lease, lease),
    Layer.effect(Bus, world.busOf(incarnation)),
    Quotas.layerMemory(),
    layerScripted
  )
  const routes = yield* Layer.buildWithScope(
    Layer.provideMerge(Layer.mergeAll(Placement.layer, Registries.layer, Router.layer), ground),
    scope
  )
  const options = { idleMs, takeoverLimit: 3, mostActors: world.mostActors, bulkheads: new Bulkheads(world.slots) }

  return yield* Effect.gen(function* () {
    const bus = yield* Bus
    const tools = toolsOf(world)
    const prompts = new Prompts({ keptBytes: 10_000_000, underWayBytes: 10_000_000 }, journal.log)
    const models = watchedModels(world, yield* Models, ref)
    const kind = makeThreadKind({
      webhooks: { has: () => false, due: () => {} },
      tails: new Tails(0),
      turnEnds: new TurnEnds(),
      bus,
      journal,
      prompts,
      tools,
      perform: makePerform({
        budgets: { reserve: () => Effect.succeed("reserved"), during: (_, __, work) => work },
        isCapped: () => Effect.succeed(false),
        bus,
        images: { bytesOf: () => Effect.succeed(0), load: () => Effect.succeed(new Map()) },
        models,
        prompts,
        tools,
        random: () => 0.5,
        hooks: { evaluate: evaluateIn(world) }
      }),
      compactable: () => Effect.succeed(true),
      spendOf: () => Effect.succeed({ spent: 0, window: "24h", at: 0 }),
      selects: () => Effect.succeed(true),
      payable: () => Effect.void,
      booked: () => {},
      used: () => {},
      isLineFull: (workspace) => options.bulkheads.isLineFull(workspace),
      admissionOf: (_, input) =>
        Effect.sync(() =>
          input.principal.identity !== undefined && world.disabled.has(input.principal.identity)
            ? { refused: { code: "identity_disabled", text: "The identity is disabled." } }
            : admissionIn(world, input)
        )
    })
    const registry = yield* makeRegistry(kind, options)
    const identities = yield* Layer.buildWithScope(identitiesLayer(options), scope)
    for (const make of world.kinds) yield* make(options)
    const { drain, lagMs } = Context.get(yield* Layer.buildWithScope(Sweep.layer, scope), Sweep)
    return {
      incarnation,
      journal,
      lease,
      kind,
      placement: yield* Placement,
      registry,
      bus,
      identities: Context.get(identities, Identities),
      identityActors: (yield* Registries).of("identity") ?? assert.fail("no identities"),
      /** Leaves in order. */
      drain,
      lagMs,
      isDead: () => store.crashed.has(incarnation),
      /** Ends when the node is told to leave. */
      told: Deferred.await(told),
      /** Asks the node; `died` when it did before it answered. */
      ask: (effect: Effect.Effect<Reply, ActorError>): Effect.Effect<Reply | "died", ActorError> =>
        Effect.raceFirst(effect, Deferred.await(died)),
      deliver: (ref: ActorRef, envelope: Envelope<ThreadRequest>) => registry.tell(ref, envelope),
      /** As kill -9 does: nothing more reaches the journal, and its lease lapses. */
      kill: Effect.suspend(() => {
        store.crashed.add(incarnation)
        store.lapse(incarnation)
        return Scope.close(scope, Exit.void)
      })
    }
  }).pipe(Effect.provide(routes), Effect.provideService(Scope.Scope, scope))
})
export type Node = Effect.Success<ReturnType<typeof startNode>>

/** What a cold claim loads: a node claims the actor, does nothing with it, and is gone. */
export const coldClaim = Effect.fnUntraced(function* (world: World, ref: ActorRef) {
  const { journal, lease } = yield* journalOf(world)
  const { readFault } = world.store
  world.store.readFault = () => undefined
  const actor = world.store.actors.get(keyOf(ref))
  const fruitless = actor?.fruitless ?? 0
  const loaded = yield* Effect.orDie(Effect.flatMap(journal.claim(ref), journal.load))
  world.store.readFault = readFault
  // A look is no attempt to get anywhere.
  if (actor !== undefined) actor.fruitless = fruitless
  world.store.lapse(lease.incarnation())
  return loaded
})

/** What a claim would load, without claiming. */
export const asStored = ({ store }: World, ref: ActorRef): Loaded | undefined => {
  const actor = store.actors.get(keyOf(ref))
  if (actor === undefined) return undefined
  const { attributes, createdAt, epoch, facts, fruitless, head, inputs, parent } = actor
  return {
    actor: ref,
    attributes,
    createdAt,
    epoch,
    takeovers: fruitless,
    head,
    parent,
    mine: false,
    facts: facts.filter(({ pos }) => head.since !== null && pos >= head.since),
    inputs: [...inputs.values()].filter(({ state }) => state === "pending").sort((a, b) => a.ord - b.ord)
  }
}

/** Moves the clock until the thread rests in memory; fails after ten minutes of it. */
export const toRest = Effect.fnUntraced(function* (world: World, node: Node, ref: ActorRef) {
  const head = () => world.store.actors.get(keyOf(ref))?.head
  for (let i = 0; i < 1_200; i++) {
    yield* settle
    if (node.isDead()) return
    const live = node.registry.peek(ref.id)?.context
    if (live !== undefined && live.turn === null && head()?.runnableAt === null) return
    // Nobody comes for a thread at rest until it is asked for something.
    if (live === undefined && head()?.runnableAt === null)
      yield* Effect.forkChild(Effect.ignore(node.registry.tell(ref, { request: { type: "due" } })))
    yield* pass(500)
  }
  assert.fail(`${ref.id} does not come to rest: ${JSON.stringify(head())}`)
})
