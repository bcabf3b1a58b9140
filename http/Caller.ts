/**
 * Who makes the request: what authentication found out about its credential. Every handler of the interface may ask for
 * it.
 */
import { Context, Effect } from "effect"
import type { Scope } from "../src/keys/apiKey.ts"
import type { Principal } from "../src/domain/principal.ts"
import { Refused } from "./errors.ts"

export class Caller extends Context.Service<
  Caller,
  {
    /** `wsp_…`: every read and write of the request is within it. */
    readonly workspace: string
    readonly principal: Principal
    readonly scheme: "APIKeyBearer" | "AgentLeaseBearer" | "DeliveryBearer"
    readonly scopes: ReadonlySet<Scope>
    /**
     * `key_…` of the credential, `dlv_…` of a delivery's token, `trn_…` of a lease's turn: scopes idempotency keys,
     * rate limits and stream quotas.
     */
    readonly keyId: string
    /** Of a key that took the place of another: the key that stood there first. */
    readonly firstKeyId?: string
    /** Of a lease: in whose turn it was given, and how many messages led to that turn. It has no scopes. */
    readonly lease?: {
      readonly agentId: string
      readonly threadId: string
      readonly turnId: string
      readonly hops: number
    }
    /** Of a trigger: the agents whose threads it brings events to. */
    readonly trigger?: { readonly agentIds: ReadonlySet<string>; readonly feedIds: ReadonlySet<string> }
    /** The identity that the credential is bound to. */
    readonly identity?: string
    /** Milliseconds. Streams end with `bye auth_expired` then. */
    readonly expiresAt?: number
  }
>()("troupe/http/Caller") {}

const missing = (scope: Scope) =>
  new Refused({
    error: "permission_denied",
    code: "missing_scope",
    message: `this credential does not have the scope ${scope}`
  })

/** For endpoints that several scopes open: the caller, who must hold the one that the body needs. */
export const holding = (scope: Scope) =>
  Effect.flatMap(Caller, (caller) => (caller.scopes.has(scope) ? Effect.succeed(caller) : Effect.fail(missing(scope))))
