/**
 * This node's life: an incarnation (name and boot id) with a lease row that it keeps renewing on a
 * connection of its own, and the one clock that dates facts.
 *
 * L1. The lease's deadline is computed by the sender from database time; a lapsed lease is never
 *     renewed: the node drops its actors and rejoins as a new incarnation.
 * L2. Past 0.8 TTL since the last beat that was sent, the node is fenced: it starts no job and
 *     aborts those that run.
 * L3. `now()` is the database's time at the last beat plus monotonic time since; it never falls.
 */
import { Context, type Effect, type Stream } from "effect"

export interface LiveNode {
  readonly incarnation: string
  readonly name: string
}

export class Lease extends Context.Service<Lease, {
  /** `node_…` of the current incarnation. Changes after a rejoin. */
  readonly incarnation: () => string
  /** Milliseconds since 1970, by the database's clock (L3). */
  readonly now: () => number
  /** L2. */
  readonly fenced: () => boolean
  /** Nodes with a live lease at the last beat, this one included, by name. */
  readonly nodes: () => ReadonlyArray<LiveNode>
  /** Raised by every revoke and disable; read with each beat. */
  readonly authRevision: () => number
  /** Emits the new revision when a beat finds it changed. */
  readonly authChanges: Stream.Stream<number>
  /** Emits the new incarnation after a rejoin; all actors of the old one must have been dropped by its listeners. */
  readonly rejoined: Stream.Stream<string>
  /** Deletes the lease row: the last act of a drain. */
  readonly leave: Effect.Effect<void>
}>()("troupe/Lease") {}
