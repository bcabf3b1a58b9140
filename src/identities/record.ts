/** A materialised identity as `GET /v1/identities` lists it. */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { Principal } from "../domain/principal.ts"
import { Timestamp } from "../domain/time.ts"

/** `activeAgents` counts the agents with this identity that are not archived. */
export const IdentityRecord = Schema.Struct({
  identity: described(Schema.String, "The identity itself."),
  actorId: described(
    Schema.optionalKey(Schema.String),
    "Id of its actor, for its steps and its chart. Absent where nobody has ever disabled the identity."
  ),
  disabled: described(Schema.Boolean, "Whether it is refused new work and new credentials."),
  disabledAt: described(Schema.optionalKey(Timestamp), "Since when it is disabled."),
  disabledBy: described(Schema.optionalKey(Principal), "Who disabled it."),
  activeAgents: described(Schema.Int, "Number of agents with this identity that are not archived."),
  firstSeenAt: described(Timestamp, "When this workspace first saw it."),
  lastSeenAt: described(Timestamp, "When this workspace last saw it.")
}).annotate({ identifier: "Identity" })
export type IdentityRecord = typeof IdentityRecord.Type
