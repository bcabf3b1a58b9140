/**
 * Answers as numbers: in the rows that keep them for idempotency keys, and between nodes. Rows and messages of every
 * version hold the same numbers.
 */
import type { IdempotencyRow } from "../src/journal/Journal.ts"
import type { Answer } from "./Actor.ts"
import type { KeyOf } from "./envelope.ts"

const numbers = { found: 200, created: 201, done: 204 } as const satisfies Record<Answer["kind"], number>

export const numberOf = ({ kind }: Pick<Answer, "kind">) => numbers[kind]

export const kindOf = (number: number): Answer["kind"] =>
  number === numbers.created ? "created" : number === numbers.done ? "done" : "found"

/** The row that keeps an answer. */
export const rowOf = ({ fingerprint, scope }: KeyOf, answer: Answer): IdempotencyRow => ({
  scope,
  fingerprint,
  status: numberOf(answer),
  body: answer.body
})

/** The answer that a row keeps. */
export const replayed = ({ body, status }: IdempotencyRow): Answer => ({ kind: kindOf(status), body, replayed: true })
