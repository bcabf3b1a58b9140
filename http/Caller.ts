/** Who makes the request: what authentication found out about its credential. Every handler of the interface may ask for it. */
import { Context } from "effect"
import type { Scope } from "../src/domain/apiKey.ts"
import type { Principal } from "../src/domain/principal.ts"

export class Caller extends Context.Service<Caller, {
  /** `wsp_…`: every read and write of the request is within it. */
  readonly workspace: string
  readonly principal: Principal
  readonly scheme: "APIKeyBearer" | "AgentLeaseBearer"
  readonly scopes: ReadonlySet<Scope>
  /** `key_…` of the credential: scopes idempotency keys, rate limits and stream quotas. */
  readonly keyId: string
  /** The identity that the credential is bound to. */
  readonly identity?: string
  /** Milliseconds. Streams end with `bye auth_expired` then. */
  readonly expiresAt?: number
}>()("troupe/http/Caller") {}
