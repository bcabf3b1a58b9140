/** Threads as they are read whole. */
import { assert } from "@effect/vitest"
import { Schema } from "effect"
import { ThreadDetail } from "../../src/domain/thread.ts"
import type { TestServer } from "../setup/server.ts"

export const decodeDetail = Schema.decodeUnknownSync(ThreadDetail, { onExcessProperty: "error" })

/** Of the server that a file of tests has started. */
export const makeDetailTools = (server: TestServer) => {
  const detailOf = async (threadId: string, client = server.alpha) => {
    const answer = await client.get(`/v1/threads/${threadId}`)
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body
  }
  return { detailOf }
}
