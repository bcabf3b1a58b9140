/** A materialised identity as `GET /v1/identities` lists it (design, section 14). */
import { Schema } from "effect"
import { Principal } from "./principal.ts"
import { Timestamp } from "./time.ts"

/** `activeAgents` counts the agents with this identity that are not archived. */
export const IdentityRecord = Schema.Struct({
  identity: Schema.String,
  disabled: Schema.Boolean,
  disabledAt: Schema.optionalKey(Timestamp),
  disabledBy: Schema.optionalKey(Principal),
  activeAgents: Schema.Int,
  firstSeenAt: Timestamp,
  lastSeenAt: Timestamp
}).annotate({ identifier: "Identity" })
export type IdentityRecord = typeof IdentityRecord.Type
