/** The registries of this node, one a kind. Each adds itself when it is made: nobody else names the kinds. */
import { Context, type Effect, Layer } from "effect"
import type { Inspected } from "../machines/inspected.ts"
import type { ActorRef, InboxRow } from "../src/journal/Journal.ts"
import type { Bulkheads } from "./Bulkheads.ts"

/** What sweep and drain need of a registry, whatever its kind. */
export interface Wakeable {
  /** Claims and resumes an actor that is due; nothing when another node lives with it. */
  readonly wake: (ref: ActorRef) => Effect.Effect<void>
  /**
   * Milliseconds until which a row of the inbox is passed over, for ever what this version cannot read; undefined of
   * one that can be taken.
   */
  readonly passedOverUntil: (row: InboxRow) => number | undefined
  /** Delivers commands to one actor that were stored while its owner could not be reached, oldest first. */
  readonly accept: (ref: ActorRef, rows: ReadonlyArray<InboxRow>) => Effect.Effect<void>
  readonly isLive: (ref: ActorRef) => boolean
  /** For people who look at its actors. */
  readonly inspected: Inspected
  /** Takes up what this node owes and whose pause is over (R1): so many at once. Cheap when there is nothing. */
  readonly serve: Effect.Effect<void>
  /**
   * Sends `due` to live actors whose moment has come, so many at a time, and makes room where too many are here (G4 of
   * leaving.ts).
   */
  readonly tick: Effect.Effect<void>
  /** G1, G2 of leaving.ts. */
  readonly passivate: Effect.Effect<void>
  /** Whether an actor of that shard is here. */
  readonly holds: (shard: number) => boolean
  /** Drops every actor at once: the lease was lost. */
  readonly dropAll: () => void
  /** Takes nothing new from now on; what is here goes on. */
  readonly close: () => void
  /**
   * Withholds jobs that others can do, and gives every actor back as soon as its jobs have ended, all of them after so
   * many milliseconds. Ends then, or as soon as it is over: when nothing is left here, unless told otherwise.
   */
  readonly drain: (ms: number, isOver?: () => boolean) => Effect.Effect<void>
  /** Nothing is in memory, on its way there, being given back, or owed. */
  readonly isEmpty: () => boolean
  readonly size: () => number
  /** Fewer actors are here than a node is to hold (G4 of leaving.ts). */
  readonly hasRoom: () => boolean
  readonly jobs: () => number
  /** Jobs that have not begun because this node still reads what they begin with. */
  readonly unready: () => number
  /** Slots that jobs have, and wait for: of all kinds together. */
  readonly slots: () => ReturnType<Bulkheads["filling"]>
  /** Actors that this node owes to take up again. */
  readonly owed: () => number
}

export class Registries extends Context.Service<
  Registries,
  {
    readonly add: (kind: string, registry: Wakeable) => void
    /** Undefined of a kind that this version does not know. */
    readonly of: (kind: string) => Wakeable | undefined
    readonly all: () => ReadonlyArray<Wakeable>
  }
>()("troupe/Registries") {
  static readonly layer = Layer.sync(Registries, () => {
    const known = new Map<string, Wakeable>()
    let all: ReadonlyArray<Wakeable> = []
    return Registries.of({
      add: (kind, registry) => {
        if (known.has(kind)) throw new Error(`there are two kinds of the name ${kind}`)
        known.set(kind, registry)
        all = [...known.values()]
      },
      of: (kind) => known.get(kind),
      all: () => all
    })
  })
}
