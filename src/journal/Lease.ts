/**
 * This node's life: an incarnation (name and boot id) with a lease row that it keeps renewing on a
 * connection of its own, and the one clock that dates facts.
 *
 * L1. The lease's deadline is computed by the sender from database time; a lapsed lease is never
 *     renewed: the node drops its actors and rejoins as a new incarnation.
 * L2. Past 0.8 TTL since the last beat that was sent, the node is fenced: it starts no job and
 *     aborts those that run.
 * L3. `now()` is the database's time at the last beat plus monotonic time since; it never falls.
 * L4. Both are asked of the clock, not of a timer: a process that was stopped and goes on is fenced
 *     before its first timer runs.
 */
import { Context, type Effect, type Scope, type Stream } from "effect"

/** What a node says of itself with every beat. */
export interface NodeStatus {
  /** Actors in its memory. */
  readonly actors: number
  /** Actors that were born on it since it started. */
  readonly births: number
  /** By how many shards it places actors; nodes of earlier versions do not say it, and place them by 256. */
  readonly shards?: number
  /** Turns and calls that stand in line for a slot; absent where none does. */
  readonly inLine?: number
  /** It is on its way out, and takes nothing over any more. */
  readonly draining: boolean
  /** How its bus does: one of BusState. */
  readonly bus: string
}

export interface LiveNode extends NodeStatus {
  readonly incarnation: string
  readonly name: string
  /**
   * Names of the keys of its messages, the one that it signs with first (src/bus/peers.ts). Nodes of earlier versions
   * sign nothing, and name none.
   */
  readonly signs?: ReadonlyArray<string>
  /** The auth revision as of which it knows the webhooks; nodes of earlier versions do not say it. */
  readonly webhooks?: number
}

export class Lease extends Context.Service<
  Lease,
  {
    /** `node_…` of the current incarnation. Changes after a rejoin. */
    readonly incarnation: () => string
    /** Milliseconds since 1970, by the database's clock (L3). */
    readonly now: () => number
    /** L2. */
    readonly fenced: () => boolean
    /**
     * Nodes whose leases are alive, this one included, by name, with what they said last: as of the last beat, less
     * those that have lapsed since.
     */
    readonly nodes: () => ReadonlyArray<LiveNode>
    /** What the beats say of this node from now on. */
    readonly describe: (status: () => NodeStatus) => void
    /** Beats now, ahead of its time; returns when the answer is there, or has not come. */
    readonly beat: Effect.Effect<void>
    /** Milliseconds between beats. */
    readonly beatEvery: number
    /** Raised by every revoke and disable; read with each beat. */
    readonly authRevision: () => number
    /** Emits the new revision when a beat finds it changed. */
    readonly authChanges: Stream.Stream<number>
    /** Says to the others, with a beat at once, that this node knows all webhooks as of that auth revision. */
    readonly knowWebhooks: (revision: number) => Effect.Effect<void>
    /**
     * Calls the listener when the lease is found lapsed, before anything is done under the next one: it drops what was
     * owned (L1).
     */
    readonly onLapse: (listener: () => void) => Effect.Effect<void, never, Scope.Scope>
    /** Emits the new incarnation after a rejoin. */
    readonly rejoined: Stream.Stream<string>
    /** Deletes the lease row: the last act of a drain. */
    readonly leave: Effect.Effect<void>
  }
>()("troupe/Lease") {}
