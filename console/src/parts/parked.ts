/** Whether an answer says that the request waits for approval: 202 with its operation. */
export const isParked = (answer: unknown): boolean =>
  typeof answer === "object" &&
  answer !== null &&
  "operation" in answer &&
  typeof answer.operation === "object" &&
  answer.operation !== null &&
  "state" in answer.operation &&
  answer.operation.state === "pending"

/** Tells whoever sent such a request. */
export const parkedWords = "It waits for approval, in the inbox."
