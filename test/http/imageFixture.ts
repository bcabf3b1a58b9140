/** Images as tests send and name them. */
import { assert } from "@effect/vitest"
import type { Client, TestServer } from "../setup/server.ts"
import type { Event } from "./threadFixture.ts"

export const send = async (client: Client, agentId: string, body: Uint8Array | string, type: string, headers = {}) => {
  const response = await fetch(`${client.base}/v1/agents/${agentId}/images`, {
    method: "POST",
    headers: { authorization: `Bearer ${client.token}`, "content-type": type, ...headers },
    body
  })
  const answer = await response.text()
  return { status: response.status, headers: response.headers, text: answer, body: JSON.parse(answer) }
}

export const image = (imageId: string) => ({ type: "image" as const, imageId })
export const end = (log: ReadonlyArray<Event>) => log.at(-1) ?? assert.fail("no events")

/** Of the server that a file of tests has started. */
export const makeImageTools = (server: TestServer) => {
  const upload = async (agentId: string, bytes: Uint8Array, type = "image/png") => {
    const sent = await send(server.alpha, agentId, bytes, type)
    assert.oneOf(sent.status, [200, 201], sent.text)
    return sent.body.image.id as string
  }
  return { upload }
}
