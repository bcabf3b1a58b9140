/** What tests of endpoints ask of a refusal: its status, its word, and the path that its message begins with. */
import { assert } from "@effect/vitest"
import type { Client } from "../setup/server.ts"

type Answer = Awaited<ReturnType<Client["send"]>>

export const assertRefused = (answer: Answer, status: number, error: string, path?: string) => {
  assert.deepStrictEqual([answer.status, answer.body?.error], [status, error], answer.text)
  if (path !== undefined) assert.strictEqual(answer.body.message.split(":")[0], path, answer.body.message)
}

/** A well-formed id that nothing has. */
export const absent = (prefix: string) => `${prefix}01m7y1svs7e0087pe32vr71000`
