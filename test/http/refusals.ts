/** What tests hold a refusal against: status and words, and the field that its message names. */
import { assert } from "@effect/vitest"

export interface Refusal {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: {
    readonly error: string
    readonly message: string
    readonly code?: string
    readonly retryAfterSeconds?: number
  }
}

/** Status and words; every refusal is an ErrorResponse with nothing else in it. */
export const assertRefused = (answer: Refusal, status: number, error: string, code?: string) => {
  const seen = `${answer.status} ${answer.text}`
  assert.strictEqual(answer.status, status, seen)
  assert.strictEqual(answer.body.error, error, seen)
  if (code !== undefined) assert.strictEqual(answer.body.code, code, seen)
  assert.isNotEmpty(answer.body.message)
  for (const name of Object.keys(answer.body))
    assert.oneOf(name, ["error", "message", "code", "attemptsRemaining", "currentVersion", "retryAfterSeconds"])
  const after = answer.body.retryAfterSeconds
  assert.strictEqual(answer.headers.get("retry-after"), after === undefined ? null : String(after))
}

/** A 400 that names the field. */
export const assertInvalid = (answer: Refusal, path: string) => {
  assertRefused(answer, 400, "invalid_request")
  assert.isTrue(answer.body.message.startsWith(`${path}: `), answer.body.message)
}

/** A refusal whose message begins with that path. */
export const assertRefusedAt = (answer: Refusal, status: number, error: string, path: string) => {
  assertRefused(answer, status, error)
  assert.strictEqual(answer.body.message.split(":")[0], path, answer.body.message)
}

/** A well-formed id that nothing has. */
export const absent = (prefix: string) => `${prefix}01m7y1svs7e0087pe32vr71000`
