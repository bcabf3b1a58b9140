/**
 * Access: what each endpoint asks of a credential. The rules of all endpoints together are the one table of who may do
 * what: the gate carries it out, the OpenAPI document shows it, and tests try it cell by cell.
 */
import { Context } from "effect"
import type { Scope } from "../src/keys/apiKey.ts"

export interface Rule {
  /**
   * The credential must hold one of these. Where there are several, the handler says which one the body needs
   * (`holding`).
   */
  readonly scopes: ReadonlyArray<Scope>
  /** An agent's lease is accepted too. */
  readonly lease: boolean
  /** The request may be parked for approval: its answer may be the wrapper of an operation. */
  readonly parks: boolean
  /** The token of the delivery that the path names is accepted too. */
  readonly delivery: boolean
  /** A trigger's key is accepted too. */
  readonly trigger: boolean
  /**
   * It adds to what is stored, and is refused while the workspace has used up its bytes of the day: "rows" are
   * counted by the request's body, "events" where an actor appends them. What ends or replaces something is always
   * taken.
   */
  readonly stores: "rows" | "events" | undefined
  /** Its body is an image: raw bytes, or JSON that may be as long as they are. */
  readonly upload: boolean
  /** Bytes that its body may have, where it is not as many as usual. */
  readonly bodyBytes: number | undefined
}

export class Access extends Context.Service<Access, Rule>()("troupe/http/Access") {}

/** Annotates an endpoint: `.annotateMerge(access("write"))`. Without it the server does not start. */
export const access = (
  scope: Scope | ReadonlyArray<Scope>,
  also?: {
    readonly lease?: true
    readonly parks?: true
    readonly delivery?: true
    readonly trigger?: true
    readonly stores?: "rows" | "events"
    readonly upload?: true
    readonly bodyBytes?: number
  }
) =>
  Context.make(Access, {
    scopes: typeof scope === "string" ? [scope] : scope,
    lease: also?.lease ?? false,
    parks: also?.parks ?? false,
    delivery: also?.delivery ?? false,
    trigger: also?.trigger ?? false,
    stores: also?.stores,
    upload: also?.upload ?? false,
    bodyBytes: also?.bodyBytes
  })

/** What stands behind a credential, as the document names it. */
export const credentialKinds = ["api_key", "user", "trigger", "lease", "delivery"] as const
export type CredentialKind = (typeof credentialKinds)[number]

/** Whose credentials an endpoint takes. A lease and a delivery's token need no scope. */
export const credentialsOf = (rule: Rule): ReadonlyArray<CredentialKind> =>
  credentialKinds.filter((kind) => kind === "api_key" || kind === "user" || rule[kind])
