/**
 * Whether this node should get traffic (contract C2.18): asked by `/readyz`, answered by whoever composes the node.
 */
import { Context, type Effect } from "effect"
import type { BusState } from "../src/bus/hints.ts"

export type Ready =
  /** A missing NATS is degraded, not down. */
  | { readonly status: "ready" | "degraded"; readonly bus: BusState }
  | { readonly status: "unready" | "draining"; readonly reason: string }

export class Readiness extends Context.Service<
  Readiness,
  {
    /** PostgreSQL answers, migrations are done, this node holds a lease, and it is not draining. */
    readonly check: Effect.Effect<Ready>
  }
>()("troupe/http/Readiness") {}
