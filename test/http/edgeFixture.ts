/** What tests of edges read again and again. */
import { assert } from "@effect/vitest"
import type { TestServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"

/** Until what is written bears a later time. */
export const isPast = (at: string) => eventually(() => Date.now() > Date.parse(at), `it is later than ${at}`)

/** Of the server that a file of tests has started. */
export const makeGet = (server: TestServer) => {
  const get = async (path: string) => {
    const answer = await server.alpha.get(path)
    assert.strictEqual(answer.status, 200, answer.text)
    return answer
  }
  return { get }
}
