/**
 * The bus: best-effort news between nodes and for watchers, and questions from node to node. A listener that needs
 * certainty reads the log.
 *
 * B1. A hint is published only after the commit that it tells of, or, for a delta, about a response
 *     that is not recorded yet.
 * B2. Losing every hint loses nothing. Hints of one thread arrive in the order of their publication.
 * B3. Nothing here waits for the wire or fails because of it, but `request`, which says so in time.
 * B4. Where hints may have been lost, listeners get `look`: they read what they follow again.
 */
import { Context, type Effect, type Scope } from "effect"
import type { About, BusState, Hint, NoAnswer, Watch } from "./hints.ts"

export class Bus extends Context.Service<
  Bus,
  {
    /** Returns at once; never fails. */
    readonly publish: (hint: Hint) => void
    /** May anyone listen to that thread, on any node? Lets the publisher skip work for nobody. */
    readonly watched: (about: About) => boolean
    /**
     * May anyone want the pieces of that thread's responses, on any node? Whoever listens without `deltas` does not
     * count.
     */
    readonly wantsDeltas: (about: About) => boolean
    /** Live once the effect returns, until the scope closes. `listener` must not block or throw. */
    readonly subscribe: (watch: Watch, listener: (hint: Hint) => void) => Effect.Effect<void, never, Scope.Scope>
    /** Asks a node (by incarnation `node_…`). `message` is well-formed text, such as JSON. */
    readonly request: (incarnation: string, message: string, timeoutMs: number) => Effect.Effect<string, NoAnswer>
    /** Answers requests to an incarnation, until the scope closes. What is under way then is interrupted. */
    readonly serve: (
      incarnation: string,
      answer: (message: string) => Effect.Effect<string>
    ) => Effect.Effect<void, never, Scope.Scope>
    /** Hint: an actor of this shard has something to do. All nodes hear it, this one too. */
    readonly wake: (shard: number) => void
    readonly onWake: (listener: (shard: number) => void) => Effect.Effect<void, never, Scope.Scope>
    /** Hint: a key was revoked, an identity disabled: caches are to be dropped. All nodes hear it, this one too. */
    readonly authChanged: () => void
    readonly onAuthChanged: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
    /** Hint: a node leaves, and the list of nodes is to be read again. All nodes hear it, this one too. */
    readonly nodesChanged: () => void
    readonly onNodesChanged: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
    readonly state: () => BusState
  }
>()("troupe/Bus") {}
