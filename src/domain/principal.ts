/** Principal and Origin (specification, Principal and Origin): who acted, and what a trigger says of an outside event. */
import { Schema } from "effect"
import { Identity } from "./identity.ts"
import { limits } from "./limits.ts"
import { maxBytes } from "./text.ts"

const originText = Schema.String.check(maxBytes(limits.originBytes))

/** Only a principal of type trigger may assert it. It carries no authority. */
export const Origin = Schema.Struct({
  provider: Schema.Literal("slack"),
  tenantId: originText,
  senderId: originText,
  channelId: Schema.optionalKey(originText),
  messageId: Schema.optionalKey(originText),
  threadId: Schema.optionalKey(originText)
}).annotate({ identifier: "Origin" })
export type Origin = typeof Origin.Type

export const PrincipalType = Schema.Literals(["user", "api_key", "agent", "schedule", "trigger", "subscription"])

export const Principal = Schema.Struct({
  type: PrincipalType,
  id: Schema.String,
  identity: Schema.optionalKey(Identity),
  origin: Schema.optionalKey(Origin)
}).annotate({ identifier: "Principal" })
export type Principal = typeof Principal.Type

/** The same one, who says the same of where it comes from. */
export const samePrincipal = Schema.toEquivalence(Principal)
