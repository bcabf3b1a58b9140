/** What the handle of a request that was not carried out holds as its result. */
import type { OperationResult, OperationState } from "./operation.ts"

export type ResolvedState = Exclude<OperationState, "pending">

const results = {
  denied: { status: 403, error: "operation_denied", message: "the request was denied" },
  expired: { status: 410, error: "operation_expired", message: "nobody decided the request in time" },
  cancelled: { status: 409, error: "operation_cancelled", message: "the request was withdrawn" }
} as const

/** `reason`: what the person who decided has said. */
export const unsuccessful = (state: keyof typeof results, reason?: string): OperationResult => {
  const { error, message, status } = results[state]
  return { status, body: { error, message: reason === undefined ? message : `${message}: ${reason}` } }
}
