/**
 * The bus: best-effort news between nodes and for watchers, and questions from node to node. Whoever
 * needs certainty reads the log.
 *
 * B1. A hint is published only after the commit that it tells of, or, for a delta, about a response
 *     that is not recorded yet.
 * B2. Losing every hint loses nothing. Hints of one thread arrive in the order of their publication.
 * B3. Nothing here waits for the wire or fails because of it, but `request`, which says so in time.
 * B4. Where hints may have been lost, listeners get `look`: they read what they follow again.
 */
import { Context, Data, Effect, Layer, type Scope } from "effect"
import type { ThreadStatus } from "../domain/thread.ts"
import { busState, record } from "../telemetry/metrics.ts"
import { makeInProcess } from "./inProcess.ts"

export interface About {
  readonly workspace: string
  readonly agentId: string
  readonly threadId: string
}

export interface HintedEvent {
  readonly seq: number
  readonly turnId: string
  readonly type: string
  /** The whole ThreadEvent. Absent where it was too long to travel: the log has it. */
  readonly text?: string
}

export type News =
  /** Events were committed: in order, without gaps. */
  | { readonly type: "events"; readonly events: ReadonlyArray<HintedEvent> }
  /** A piece of a response that is being sampled: `eventId` is the id its assistant_message will have. */
  | { readonly type: "delta"; readonly turnId: string; readonly eventId: string; readonly index: number; readonly text: string }
  /** The streamed response will not be recorded. */
  | { readonly type: "discard"; readonly eventId: string }
  | { readonly type: "status"; readonly status: ThreadStatus; readonly lastSeq: number }
  /** A wait was opened, or is over. */
  | { readonly type: "wait"; readonly waitId: string; readonly state: "open" | "resolved" | "expired" | "cancelled"; readonly target: "person" | "client" | "url" | "agent" }
  /** The pending queue changed: `pending` is how many wait now. */
  | { readonly type: "queue"; readonly pending: number }
  /** Hints were lost, or may have been (B4). What a watch of more than one thread does not name is empty here. */
  | { readonly type: "look" }

export type Hint = About & News

export interface Watch {
  readonly workspace: string
  readonly agentId?: string
  readonly threadId?: string
  /** Pieces of running responses too, and what takes them back: those of other nodes are sent to nobody else, and begin a moment after the subscription. */
  readonly deltas?: boolean
}

export type BusState = "in-process" | "connected" | "disconnected"

/** A request had no answer. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{
  readonly incarnation: string
  /**
   * It has not been taken: `nobody` answers for that incarnation, the bus is `away`, the message is
   * `too_large`, the node is too `busy`. It may have taken effect: no answer in time (`timeout`), the
   * bus was `lost` meanwhile, the answer `failed` or could not travel.
   */
  readonly reason: "nobody" | "away" | "too_large" | "busy" | "timeout" | "lost" | "failed"
}> {
  /** Whether the request may have taken effect all the same. */
  get mayHaveTakenEffect() {
    return this.reason === "timeout" || this.reason === "lost" || this.reason === "failed"
  }
}

export class Bus extends Context.Service<Bus, {
  /** Returns at once; never fails. */
  readonly publish: (hint: Hint) => void
  /** May anyone listen to that thread, on any node? Lets the publisher skip work for nobody. */
  readonly watched: (about: About) => boolean
  /** Live once the effect returns, until the scope closes. `listener` must not block or throw. */
  readonly subscribe: (watch: Watch, listener: (hint: Hint) => void) => Effect.Effect<void, never, Scope.Scope>
  /** Asks a node (by incarnation `node_…`). `message` is well-formed text, such as JSON. */
  readonly request: (incarnation: string, message: string, timeoutMs: number) => Effect.Effect<string, NoAnswer>
  /** Answers requests to an incarnation, until the scope closes. What is under way then is interrupted. */
  readonly serve: (incarnation: string, answer: (message: string) => Effect.Effect<string>) => Effect.Effect<void, never, Scope.Scope>
  /** Hint: an actor of this shard has something to do. All nodes hear it, this one too. */
  readonly wake: (shard: number) => void
  readonly onWake: (listener: (shard: number) => void) => Effect.Effect<void, never, Scope.Scope>
  /** Hint: a key was revoked, an identity disabled: caches are to be dropped. All nodes hear it, this one too. */
  readonly authChanged: () => void
  readonly onAuthChanged: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
  readonly state: () => BusState
}>()("troupe/Bus") {
  /** One process, or several nodes of a test in one. */
  static readonly layerMemory = Layer.effect(Bus, Effect.map(makeInProcess(), (bus) => {
    record(busState.with({ state: "in-process" }), 1)
    return Bus.of({ ...bus, state: () => "in-process" })
  }))
}
