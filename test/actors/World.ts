/**
 * Nodes that share one journal, on virtual time: the real host, registry, sweep and thread kind, the
 * real scripted models, and two tools of our own. Any commit can be made to fail, or to take its node with it.
 *
 * What is wrong with a prompt or a tool run is a complaint: jobs cannot fail a test from where they run.
 */
import { assert } from "@effect/vitest"
import { Clock, Context, Deferred, Effect, Exit, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { ActorError, Reply } from "../../actors/Actor.ts"
import { Bulkheads, type SlotLimits } from "../../actors/Bulkheads.ts"
import type { Envelope } from "../../actors/envelope.ts"
import { layer as identitiesLayer } from "../../actors/identity/layer.ts"
import { makeRegistry, type RegistryOptions } from "../../actors/Registry.ts"
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
import { NoAnswer } from "../../src/bus/hints.ts"
import { makeInProcess } from "../../src/bus/inProcess.ts"
import { Identities } from "../../src/identities/Identities.ts"
import { type ActorRef, Journal, type Loaded } from "../../src/journal/Journal.ts"
import { Lease, type NodeStatus } from "../../src/journal/Lease.ts"
import { layerMemory } from "../../src/journal/memory.ts"
import { type Fault, MemoryStore, keyOf, type Read, type ReadFault } from "../../src/journal/MemoryStore.ts"
import { logOf } from "../../src/journal/wholeLog.ts"
import { layerScripted } from "../../src/models/layer.ts"
import { type ModelFailure, Models, type Prompt } from "../../src/models/Model.ts"
import { Quotas } from "../../src/quotas/Quotas.ts"
import { freshId } from "../../src/seed.ts"
import type { Plan } from "../../machines/thread/commands.ts"
import { foldCarry } from "../../machines/thread/fold.ts"
import { factOf } from "../../actors/thread/replies/rows.ts"
import { admissionIn, evaluateIn, type Stage, toolsOf } from "./Toolbox.ts"

export const workspace = freshId("workspace")
export const agentId = freshId("agent")

/**
 * What goes wrong with the n-th commit of a world: with the commit itself, or right before it with the node that sends
 * it, which is told to leave, or has no lease for a moment or for longer than it lets its jobs run.
 */
export interface Misfortune {
  readonly commit: number
  readonly fault: Fault | keyof typeof fencedMs | "leave"
  /** What gets no answer after it, once. */
  readonly then?: { readonly read: Read; readonly fault: ReadFault }
}

/** How long a fence stays closed. */
const fencedMs = { "short fence": 100, "long fence": 1_000 } as const

/** What a kind's registry is made of. */
export type NodeServices = Effect.Services<ReturnType<typeof makeRegistry>>

export interface World extends Stage {
  readonly misfortunes: ReadonlyArray<Misfortune>
  /** Identities that may not act any more. */
  readonly disabled: Set<string>
  /** What to do when that node's process dies. */
  readonly deaths: Map<string, () => void>
  /** Nodes that have not beaten for too long. */
  readonly fenced: Set<string>
  /** Nodes that will have beaten again by then. */
  readonly fencedUntil: Map<string, number>
  /** What to do when that node is told to leave. */
  readonly leaves: Map<string, () => void>
  /** Claims so far, whatever came of them. */
  claims: number
  /** Nodes that have read the list of nodes out of turn, in that order. */
  readonly beats: Array<string>
  /**
   * Makes the bus of a node by its incarnation; a bus of its own, with nobody else on it, unless a test says otherwise.
   */
  busOf: (incarnation: string) => Effect.Effect<Bus["Service"]>
  /** What every append waits for before it reaches the store. */
  slowness: Effect.Effect<void>
  /** What every summary waits for, or comes to instead. */
  summaries: Effect.Effect<void, ModelFailure>
  /** Of one workspace on a node that starts from now on; none at first. */
  slots: SlotLimits
  mostActors: number
  /** Kinds of a test's own, beside threads and identities: each makes its registry on every node that starts. */
  readonly kinds: Array<(options: RegistryOptions) => Effect.Effect<void, never, NodeServices>>
  /** What each node says of itself. */
  readonly statuses: Map<string, () => NodeStatus>
}

export const plan: Plan = {
  profileId: freshId("profile"),
  profileVersion: 1,
  models: ["troupe/scripted"],
  maxSteps: 10,
  maxTurnMs: 60_000,
  maxParallelTools: 2
}

export const makeWorld = (...misfortunes: ReadonlyArray<Misfortune>): World => {
  const store = new MemoryStore()
  const world: World = {
    store,
    misfortunes,
    plan,
    deaths: new Map(),
    leaves: new Map(),
    hooks: [],
    questions: new Map(),
    decided: 0,
    disabled: new Set(),
    runs: new Map(),
    finished: 0,
    fenced: new Set(),
    fencedUntil: new Map(),
    complaints: [],
    claims: 0,
    beats: [],
    statuses: new Map(),
    slots: { turns: 0, calls: 0 },
    mostActors: 10_000,
    kinds: [],
    busOf: () => ownBus,
    slowness: Effect.void,
    summaries: Effect.void
  }
  store.onCrash = (incarnation) => world.deaths.get(incarnation)?.()
  store.fault = (commit, append, owner) => {
    const misfortune = misfortunes.find((misfortune) => misfortune.commit === commit)
    if (misfortune === undefined) return undefined
    const { fault, then } = misfortune
    if (then !== undefined) {
      store.readFault = (read) => {
        if (read !== then.read) return undefined
        store.readFault = () => undefined
        return then.fault
      }
    }
    switch (fault) {
      case "leave":
        world.leaves.get(owner)?.()
        return undefined
      case "short fence":
      case "long fence":
        world.fencedUntil.set(owner, append.head.updatedAt + fencedMs[fault])
        return undefined
      default:
        return fault
    }
  }
  return world
}

const ownBus: Effect.Effect<Bus["Service"]> = Effect.map(makeInProcess(), (bus) =>
  Bus.of({ ...bus, state: () => "in-process" })
)

/** What carries questions between the nodes of a world, and how a test harms it. */
export interface Wire {
  /** Nodes that are on the list of nodes, and cannot be reached nor reach anyone. */
  readonly cut: Set<string>
  readonly asked: Array<{
    readonly from: string
    readonly to: string
    readonly question: Readonly<Record<string, unknown>>
  }>
  /** Of the next question: it never arrives, or its answer does not. */
  fate: "unheard" | "unanswered" | undefined
  /** What happens between an answer that gets lost and whoever waits for it giving up. */
  meanwhile: Effect.Effect<void>
  readonly shared: Bus["Service"]
}

/** Connects the nodes that start from now on. */
export const connect = Effect.fnUntraced(function* (world: World) {
  const shared = yield* ownBus
  const wire: Wire = { cut: new Set(), asked: [], fate: undefined, meanwhile: Effect.void, shared }
  const isCut = (...nodes: ReadonlyArray<string>) => nodes.some((node) => wire.cut.has(node))
  world.busOf = (me) =>
    Effect.succeed(
      Bus.of({
        ...shared,
        request: (to, message, timeoutMs) => {
          const none = (reason: NoAnswer["reason"]) => new NoAnswer({ incarnation: to, reason })
          if (isCut(me, to)) return Effect.fail(none("away"))
          wire.asked.push({ from: me, to, question: JSON.parse(message) })
          const { fate } = wire
          wire.fate = undefined
          return fate === "unheard"
            ? Effect.delay(Effect.fail(none("timeout")), timeoutMs)
            : Effect.andThen(shared.request(to, message, timeoutMs), (answer) =>
                fate === "unanswered"
                  ? Effect.andThen(wire.meanwhile, Effect.fail(none("timeout")))
                  : Effect.succeed(answer)
              )
        },
        wake: (shard) => {
          if (!isCut(me)) shared.wake(shard)
        },
        onWake: (listener) =>
          shared.onWake((shard) => {
            if (!isCut(me)) listener(shard)
          })
      })
    )
  return wire
})

/** A prompt that a provider would refuse: a call without result, or nothing of the turn to answer. */
const complaintsAbout = ({ messages, turnId }: Prompt): ReadonlyArray<string> => {
  const open = new Set(
    messages.flatMap((message) =>
      message.role === "assistant" ? message.calls.map(({ toolCallId }) => toolCallId) : []
    )
  )
  for (const message of messages)
    if (message.role === "tool" && !open.delete(message.toolCallId)) return ["a result without its call"]
  if (open.size > 0) return [`a prompt with ${open.size} calls that have no result`]
  return messages.some((message) => message.role === "user" && message.turnId === turnId)
    ? []
    : ["a prompt without a message of its turn"]
}

/** Real models, whose prompts are held against a cold fold of the journal (M1). */
const watchedModels = (
  world: World,
  models: Models["Service"],
  ref: () => ActorRef | undefined
): Models["Service"] => ({
  ...models,
  sample: (request) =>
    Effect.gen(function* () {
      const isSummary = request.prompt.purpose === "summary"
      if (isSummary) yield* world.summaries
      const actor = ref()
      if (!isSummary) world.complaints.push(...complaintsAbout(request.prompt))
      if (actor !== undefined && !isSummary) {
        const facts = world.store.actors.get(keyOf(actor))?.facts ?? []
        const { compaction } = foldCarry(facts.map(factOf))
        // From the beginning, and from what a summary covers.
        for (const from of new Set([0, compaction?.pos ?? 0])) {
          const read = (_: ActorRef, after: number) => Effect.succeed(logOf(facts.filter(({ pos }) => pos > after)))
          const prompts = new Prompts({ keptBytes: 0, underWayBytes: 0 }, read)
          const cold = yield* Effect.orDie(prompts.upTo(actor, { from, to: facts.length }))
          if (JSON.stringify(cold) !== JSON.stringify(request.prompt.messages))
            world.complaints.push(`a kept prompt is not the journal's from ${from} on`)
        }
      }
      return yield* models.sample(request)
    })
})

const said: NodeStatus = { actors: 0, births: 0, draining: false, bus: "in-process" }

const leaseOf = (
  { beats, fenced, fencedUntil, statuses, store }: World,
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
    beatEvery: 1_000,
    onLapse: () => Effect.void,
    authRevision: () => 0,
    authChanges: Stream.empty,
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
    claim: (ref) => {
      world.claims++
      return memory.claim(ref)
    }
  })
  return { journal, lease }
})

/** One node. `ref` names the thread whose prompts are watched. */
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
        budgets: { reserve: () => Effect.succeed("reserved"), during: (_, work) => work },
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
    const sweep = yield* Layer.buildWithScope(Sweep.layer, scope)
    return {
      incarnation,
      journal,
      kind,
      placement: yield* Placement,
      registry,
      bus,
      identities: Context.get(identities, Identities),
      identityActors: (yield* Registries).of("identity") ?? assert.fail("no identities"),
      /** Leaves in order. */
      drain: (yield* Sweep.pipe(Effect.provide(sweep))).drain,
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

/** What a cold claim finds: by a node that does nothing with it, and is gone again. */
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

/** Lets everything run that needs no time: fibers yield to the event loop and not further than a few turns of it. */
export const settle = Effect.promise(async () => {
  for (let i = 0; i < 6; i++) await new Promise((resolve) => setImmediate(resolve))
})

export const pass = (ms: number) => Effect.andThen(TestClock.adjust(ms), settle)

export const threadOf = (id: string): ActorRef => ({ workspace, kind: "thread", id })

/** Time goes on until the thread rests, and is live; it must, within ten minutes. */
export const toRest = Effect.fnUntraced(function* (world: World, node: Node, ref: ActorRef) {
  const head = () => world.store.actors.get(keyOf(ref))?.head
  for (let i = 0; i < 1_200; i++) {
    yield* settle
    if (node.isDead()) return
    const live = node.registry.peek(ref.id)?.context
    if (live !== undefined && live.turn === null && head()?.runnableAt === null) return
    // Nobody comes for a thread at rest until it is needed.
    if (live === undefined && head()?.runnableAt === null) yield* Effect.forkChild(node.registry.wakeable.wake(ref))
    yield* pass(500)
  }
  assert.fail(`${ref.id} does not come to rest: ${JSON.stringify(head())}`)
})
