/**
 * Authentication as the contract sees it: three bearer schemes, and what each endpoint asks of a
 * credential (specification, Authentication). The gate carries it out.
 */
import { Context } from "effect"
import { HttpApiMiddleware, OpenApi } from "effect/http-api"
import type { Scope } from "../src/keys/apiKey.ts"
import type { Caller } from "./Caller.ts"
import { everywhere, OutageResponse, refuses } from "./errors.ts"
import { describeAccess } from "./openapi/document.ts"

/** What an endpoint asks of a credential. */
export class Access extends Context.Service<
  Access,
  {
    /**
     * The credential must hold one of these. Where there are several, the handler says which one the body needs
     * (`holding`).
     */
    readonly scopes: ReadonlyArray<Scope>
    /** An agent's lease is accepted too: only where the specification lists AgentLeaseBearer. */
    readonly lease: boolean
    /** The request may be parked for approval: the specification lists the operation wrapper as an alternative. */
    readonly parks: boolean
    /** The token of the delivery that the path names is accepted too. */
    readonly delivery: boolean
    /**
     * It adds to what is stored, and is refused while the workspace has used up its bytes of the day: "rows" are
     * counted by the request's body, "events" where an actor appends them. What ends or replaces something is always
     * taken.
     */
    readonly stores: "rows" | "events" | undefined
  }
>()("troupe/http/Access") {}

/** Annotates an endpoint: `.annotateMerge(access("write"))`. Without it the server does not start. */
export const access = (
  scope: Scope | ReadonlyArray<Scope>,
  also?: {
    readonly lease?: true
    readonly parks?: true
    readonly delivery?: true
    readonly stores?: "rows" | "events"
  }
) => {
  const rule = {
    scopes: typeof scope === "string" ? [scope] : scope,
    lease: also?.lease ?? false,
    parks: also?.parks ?? false,
    delivery: also?.delivery ?? false,
    stores: also?.stores
  }
  return Context.make(Access, rule).pipe(Context.add(OpenApi.Transform, describeAccess(rule)))
}

/** Stands before every endpoint, and provides its Caller. Checks what comes in before the handler sees it. */
export class Authenticate extends HttpApiMiddleware.Service<Authenticate, { provides: Caller }>()(
  "troupe/http/Authenticate",
  {
    error: [...refuses(...everywhere), OutageResponse]
  }
) {}
