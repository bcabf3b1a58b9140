/**
 * What the row of a wait holds: the wait as the API shows it; while it is open, what is asked about; once it
 * is over, the seq of the event that says so, and a mark of the answer, so that the same one is known again.
 */
import { hash } from "node:crypto"
import { isJsonObject } from "../domain/jsonValue.ts"
import type { PendingWait, WaitRecord, WaitSubject } from "../domain/thread.ts"
import type { DecidedAnswer } from "./answer.ts"
import { cutOutput } from "../tools/output.ts"

/** The order of an object's properties says nothing. */
const sorted = (_: string, value: unknown) =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value

/** What makes two answers the same: the reason of a decision does not. */
const essence = (answer: DecidedAnswer) => {
  if (answer.type === "decision") return [answer.decision, answer.rewrite ?? null, answer.scope ?? "once"]
  // What is kept of an output may be its beginning only.
  return "output" in answer ? ["output", cutOutput(answer.output)] : ["error", answer.error.code, answer.error.message]
}

export const markOf = (answer: DecidedAnswer) => hash("sha256", JSON.stringify(essence(answer), sorted), "base64url")

/** What is asked about stands here while it is open: a result or a response that is denied is kept nowhere. */
export const openText = (wait: PendingWait, subject: WaitSubject) =>
  JSON.stringify(Object.keys(subject).length === 0 ? wait : { ...wait, subject })

/** Nobody has answered a wait that expired or was cancelled. */
export const overText = (wait: WaitRecord, seq: number, answer: DecidedAnswer | undefined) =>
  JSON.stringify({ ...wait, seq, ...(answer === undefined ? {} : { mark: markOf(answer) }) })

export interface StoredWait {
  readonly wait: WaitRecord
  /** While it is open. */
  readonly subject?: WaitSubject
  /** Once it is over. */
  readonly seq?: number
  readonly mark?: string
}

// The text is our own: it holds what was written above.
export const readWait = (text: string): StoredWait => {
  const { mark, seq, subject, ...wait }: WaitRecord & Omit<StoredWait, "wait"> = JSON.parse(text)
  return {
    wait,
    ...(subject === undefined ? {} : { subject }),
    ...(seq === undefined ? {} : { seq }),
    ...(mark === undefined ? {} : { mark })
  }
}

/** `{wait, seq}`: the first answer and every later one are the same text. */
export const waitBody = ({ seq, wait }: StoredWait) => JSON.stringify({ wait, ...(seq === undefined ? {} : { seq }) })
