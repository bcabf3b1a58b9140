/**
 * The bus: best-effort news for watchers. Whoever needs certainty reads the log.
 *
 * B1. A hint is published only after the commit that it tells of, or, for a delta, about a response
 *     that is not recorded yet.
 * B2. Losing every hint loses nothing. Hints of one thread arrive in the order of their publication.
 */
import { Context, type Effect, type Scope } from "effect"
import type { ThreadStatus } from "../domain/thread.ts"

interface About {
  readonly workspace: string
  readonly agentId: string
  readonly threadId: string
}

export type Hint = About & (
  /** Events were committed. Texts are whole ThreadEvents, in order, `seq` that of the first. */
  | { readonly type: "events"; readonly events: ReadonlyArray<{ readonly seq: number; readonly turnId: string; readonly type: string; readonly text: string }> }
  /** A piece of a response that is being sampled: `eventId` is the id its assistant_message will have. */
  | { readonly type: "delta"; readonly turnId: string; readonly eventId: string; readonly index: number; readonly text: string }
  /** The streamed response will not be recorded. */
  | { readonly type: "discard"; readonly eventId: string }
  | { readonly type: "status"; readonly status: ThreadStatus; readonly lastSeq: number }
  /** The pending queue changed: `pending` is how many wait now. */
  | { readonly type: "queue"; readonly pending: number }
)

export interface Watch {
  readonly workspace: string
  readonly agentId?: string
  readonly threadId?: string
}

export class Bus extends Context.Service<Bus, {
  /** Returns at once; never fails. */
  readonly publish: (hint: Hint) => void
  /** Does anyone on this node's bus listen to that thread? Lets the publisher skip work for nobody. */
  readonly watched: (about: About) => boolean
  /** Live once the effect returns, until the scope closes. `listener` must not block or throw. */
  readonly subscribe: (watch: Watch, listener: (hint: Hint) => void) => Effect.Effect<void, never, Scope.Scope>
}>()("troupe/Bus") {}
