/** Operation handle (contract C22.1): a request that is, or was, parked for approval. */
import { Schema } from "effect"
import { described } from "../domain/described.ts"
import { Principal } from "../domain/principal.ts"
import { Timestamp } from "../domain/time.ts"

export const operationStates = ["pending", "approved", "completed", "failed", "denied", "expired", "cancelled"] as const
export const OperationState = Schema.Literals(operationStates)
export type OperationState = typeof OperationState.Type

/** What can park, as `<noun>.<verb>`. */
export const operationActions = [
  "agent.read",
  "agent.create",
  "agent.update",
  "agent.archive",
  "thread.read",
  "identity.disable",
  "identity.enable",
  "memory.put",
  "memory.delete",
  "feed.create",
  "feed.update",
  "feed.archive",
  "feed.append",
  "schedule.create",
  "schedule.update",
  "schedule.delete",
  "schedule.run",
  "subscription.read",
  "subscription.create",
  "subscription.update",
  "subscription.delete"
] as const
export type OperationAction = (typeof operationActions)[number]

/** What changes nothing. */
export const isRead = (action: string) => action.endsWith(".read")

/** States that nothing leaves. */
export const isTerminal = (state: OperationState) => state !== "pending" && state !== "approved"

/** Exactly the status and body that the direct call would have produced. */
export const OperationResult = Schema.Struct({
  status: described(Schema.Int, "HTTP status that the direct call would have answered with."),
  body: described(Schema.Unknown, "Body that the direct call would have answered with; null without one.")
}).annotate({ identifier: "OperationResult" })
export type OperationResult = typeof OperationResult.Type

export const Operation = Schema.Struct({
  id: described(Schema.String, "Id of the operation."),
  action: described(Schema.String, "Action that was asked for, as `noun.verb`, such as `agent.update`."),
  agentId: described(Schema.optionalKey(Schema.String), "Agent that the action is about, else the agent that asked."),
  state: described(
    OperationState,
    "`pending` waits for approval, `approved` is being carried out. Nothing leaves the others."
  ),
  createdAt: described(Timestamp, "When it was asked for."),
  expiresAt: described(Timestamp, "Until when it can be decided: 24 hours after it was asked for."),
  resolvedAt: described(Schema.optionalKey(Timestamp), "When it left `pending`."),
  resolvedBy: described(Schema.optionalKey(Principal), "Who decided it. Absent where time did."),
  result: described(
    Schema.optionalKey(OperationResult),
    "The answer of the call, as if it had not parked. Only in terminal states; the result of a read only for who " +
      "asked, and for credentials with the scope `approve`."
  ),
  request: described(
    Schema.optionalKey(Schema.Unknown),
    "The request, as it was sent. Only for who asked, and for credentials with the scope `approve`."
  ),
  requestedBy: described(
    Schema.optionalKey(Principal),
    "Who asked. Only for who asked, and for credentials with the scope `approve`."
  )
}).annotate({ identifier: "Operation" })
export type Operation = typeof Operation.Type

/** The wrapper that several operations may answer with in the place of their own 2xx (contract C2.3). */
export const OperationHandle = Schema.Struct({
  operation: described(Operation, "The request that is, or was, parked for approval.")
}).annotate({ identifier: "OperationHandle" })
export type OperationHandle = typeof OperationHandle.Type

/** createdAt + 24 h. */
export const operationLifeMs = 24 * 3600 * 1000
