/** Who asked for what parked: whose rights are asked again when it is carried out. */
import { Schema } from "effect"
import { Principal } from "../domain/principal.ts"

export const Requester = Schema.Struct({
  principal: Principal,
  credential: Schema.Union([
    Schema.Struct({
      type: Schema.Literal("key"),
      keyId: Schema.String,
      /** Of one that took the place of another: the key that stood there first. */
      firstKeyId: Schema.optionalKey(Schema.String),
      identity: Schema.optionalKey(Schema.String)
    }),
    /** An agent's lease: `identity` is the one that its thread acts for, else the agent's own. */
    Schema.Struct({
      type: Schema.Literal("lease"),
      agentId: Schema.String,
      identity: Schema.optionalKey(Schema.String)
    })
  ]),
  /** Of an agent: in which turn it asked. */
  from: Schema.optionalKey(
    Schema.Struct({
      threadId: Schema.String,
      turnId: Schema.String,
      /** How many turns lead to that one by way of feeds; absent: none. */
      hops: Schema.optionalKey(Schema.Int)
    })
  )
})
export type Requester = typeof Requester.Type

/** The id of the key, or of the agent whose lease it was. */
export const credentialOf = ({ credential }: Requester) =>
  credential.type === "key" ? credential.keyId : credential.agentId

/** A credential of a request, as far as it matters to who may decide. */
export interface Decider {
  readonly keyId: string
  readonly firstKeyId?: string
  readonly identity?: string
}

/** Keys that took each other's place are one. */
const holderOf = ({ firstKeyId, keyId }: { readonly keyId: string; readonly firstKeyId?: string | undefined }) =>
  firstKeyId ?? keyId

/**
 * Whether the decider asked for it itself: with that key, with one that took its place or whose place it took, or with
 * another one of the same identity. What an agent asked
 * may be decided by the identity that its thread acts for: that is whom it asks.
 */
export const isOwnRequest = ({ credential }: Requester, by: Decider) =>
  credential.type === "key" &&
  (holderOf(credential) === holderOf(by) || (credential.identity !== undefined && credential.identity === by.identity))

/** Whether that credential asked for it. */
export const hasAsked = ({ credential, principal }: Requester, by: Decider & { readonly principal: Principal }) =>
  credential.type === "key"
    ? holderOf(credential) === holderOf(by)
    : by.principal.type === "agent" && by.principal.id === principal.id
