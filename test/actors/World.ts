/**
 * What the nodes of a test share: one journal, virtual time, and what their tools and hooks see (Toolbox.ts). Any
 * commit can be made to fail, or to take its node with it.
 *
 * What is wrong with a prompt or a tool run is a complaint: jobs cannot fail a test from where they run.
 */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { SlotLimits } from "../../actors/Bulkheads.ts"
import type { makeRegistry, RegistryOptions } from "../../actors/Registry.ts"
import { Bus } from "../../src/bus/Bus.ts"
import { makeInProcess } from "../../src/bus/inProcess.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import type { NodeStatus } from "../../src/journal/Lease.ts"
import { type Fault, MemoryStore, type Read, type ReadFault } from "../../src/journal/MemoryStore.ts"
import type { ModelFailure } from "../../src/models/Model.ts"
import { freshId } from "../../src/seed.ts"
import type { Plan } from "../../machines/thread/commands.ts"
import type { Stage } from "./Toolbox.ts"

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
  /** What every read of a log waits for. */
  reading: Effect.Effect<void>
  /** What every summary waits for, or comes to instead. */
  summaries: Effect.Effect<void, ModelFailure>
  /** Slots of one workspace on a node that starts from now on; no limit unless a test sets one. */
  slots: SlotLimits
  mostActors: number
  /** Milliseconds between the beats of nodes that start from now on. */
  beatEvery: number
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
    beatEvery: 1_000,
    kinds: [],
    busOf: () => freshBus,
    slowness: Effect.void,
    reading: Effect.void,
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

/** A new bus, with nobody on it yet. */
export const freshBus: Effect.Effect<Bus["Service"]> = Effect.map(makeInProcess(), (bus) =>
  Bus.of({ ...bus, state: () => "in-process" })
)

/** Lets everything run that needs no time: a fiber yields to the event loop for a few turns at most. */
export const settle = Effect.promise(async () => {
  for (let i = 0; i < 6; i++) await new Promise((resolve) => setImmediate(resolve))
})

/** Moves the virtual clock, and lets run what is due. */
export const pass = (ms: number) => Effect.andThen(TestClock.adjust(ms), settle)

export const threadOf = (id: string): ActorRef => ({ workspace, kind: "thread", id })
