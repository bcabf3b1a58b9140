/**
 * Answers as numbers: in the rows that keep them for idempotency keys, and between nodes. Rows and messages of every
 * version hold the same numbers; nothing else in the runtime knows them.
 */
import type { IdempotencyRow } from "../src/journal/Journal.ts"
import type { Reply } from "./Actor.ts"
import type { KeyOf } from "./envelope.ts"

const numbers = { found: 200, created: 201, done: 204 } as const satisfies Record<Reply["kind"], number>

/** Every number that a message between nodes may hold. */
export const answerNumbers = [numbers.found, numbers.created, numbers.done] as const

export const numberOf = ({ kind }: Pick<Reply, "kind">) => numbers[kind]

export const kindOf = (number: number): Reply["kind"] =>
  number === numbers.created ? "created" : number === numbers.done ? "done" : "found"

/** The row that keeps an answer. */
export const rowOf = ({ fingerprint, scope }: KeyOf, answer: Reply): IdempotencyRow => ({
  scope,
  fingerprint,
  status: numberOf(answer),
  body: answer.body
})

/** The answer that a row keeps. */
export const replayed = ({ body, status }: IdempotencyRow): Reply => ({ kind: kindOf(status), body, replayed: true })
