/**
 * Principal and Origin (contract C6.8, C6.9): who acted, and what a trigger says of an outside event.
 */
import { Schema } from "effect"
import { described } from "./described.ts"
import { identityOf } from "./identity.ts"
import { limits } from "./limits.ts"
import { maxBytes } from "./text.ts"

const originText = Schema.String.check(maxBytes(limits.originBytes))

/** Only a principal of type trigger may assert it. It carries no authority. */
export const Origin = Schema.Struct({
  provider: described(Schema.Literal("slack"), "The chat provider that the event comes from."),
  tenantId: described(originText, "The provider's id of the tenant, such as its workspace."),
  senderId: described(originText, "The provider's id of the sender."),
  channelId: described(Schema.optionalKey(originText), "The provider's id of the channel."),
  messageId: described(Schema.optionalKey(originText), "The provider's id of the message."),
  threadId: described(Schema.optionalKey(originText), "The provider's id of the thread.")
}).annotate({ identifier: "Origin" })
export type Origin = typeof Origin.Type

export const PrincipalType = Schema.Literals(["user", "api_key", "agent", "schedule", "trigger", "subscription"])

export type PrincipalType = typeof PrincipalType.Type

export const Principal = Schema.Struct({
  type: described(PrincipalType, "Kind of the principal."),
  id: described(Schema.String, "Id of the actor: of a key, agent, schedule or subscription."),
  identity: Schema.optionalKey(identityOf("Provenance: the identity that it acted as.")),
  origin: described(Schema.optionalKey(Origin), "A trigger's description of an event outside. It carries no authority.")
}).annotate({ identifier: "Principal" })
export type Principal = typeof Principal.Type

/** The same one, who says the same of where it comes from. */
export const samePrincipal = Schema.toEquivalence(Principal)
