/** Operation handle (specification, Operation handle; design, section 1): a request that is, or was, parked for approval. */
import { Schema } from "effect"
import { Principal } from "./principal.ts"
import { Timestamp } from "./time.ts"

export const operationStates = ["pending", "approved", "completed", "failed", "denied", "expired", "cancelled"] as const
export const OperationState = Schema.Literals(operationStates)
export type OperationState = typeof OperationState.Type

/** Dotted `<noun>.<verb>`. Grows with what can park. */
export type OperationAction = "identity.disable" | "identity.enable"

/** States that nothing leaves. */
export const isTerminal = (state: OperationState) => state !== "pending" && state !== "approved"

/** Exactly the status and body that the direct call would have produced. */
export const OperationResult = Schema.Struct({ status: Schema.Int, body: Schema.Unknown }).annotate({ identifier: "OperationResult" })
export type OperationResult = typeof OperationResult.Type

export const Operation = Schema.Struct({
  id: Schema.String,
  action: Schema.String,
  agentId: Schema.optionalKey(Schema.String),
  state: OperationState,
  createdAt: Timestamp,
  expiresAt: Timestamp,
  resolvedAt: Schema.optionalKey(Timestamp),
  resolvedBy: Schema.optionalKey(Principal),
  result: Schema.optionalKey(OperationResult)
}).annotate({ identifier: "Operation" })
export type Operation = typeof Operation.Type

/** The wrapper that the specification lists as a second 2xx of several operations. */
export const OperationHandle = Schema.Struct({ operation: Operation }).annotate({ identifier: "OperationHandle" })
export type OperationHandle = typeof OperationHandle.Type

/** createdAt + 24 h. */
export const operationLifeMs = 24 * 3600 * 1000
