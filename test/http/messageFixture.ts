/** Messages as tests submit them. */
import { Schema } from "effect"
import { SubmittedMessage } from "../../src/threads/messageInput.ts"
import type { TestServer } from "../setup/server.ts"

export const decodeSubmitted = Schema.decodeUnknownSync(SubmittedMessage, { onExcessProperty: "error" })
export const image = (digit: string) => ({ type: "image", imageId: `img_${digit.repeat(64).slice(0, 64)}` })

/** Of the server that a file of tests has started. */
export const makeMessageTools = (server: TestServer) => {
  const send = (threadId: string, body: unknown, headers?: Record<string, string>) =>
    server.alpha.post(`/v1/threads/${threadId}/messages`, body, headers)
  const lastSeqOf = async (threadId: string) => (await server.alpha.get(`/v1/threads/${threadId}`)).body.lastSeq
  return { lastSeqOf, send }
}
