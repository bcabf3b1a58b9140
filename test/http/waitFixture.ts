/** Threads that wait, and answers to them as clients send them. */
import { assert } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import type { Client } from "../setup/server.ts"
import { begin, call, makeWorker, waitsOf } from "./toolFixture.ts"

export interface Wait {
  readonly id: string
  readonly type: string
  readonly target: string
  readonly toolCallId: string
  readonly toolInput: unknown
  readonly [field: string]: unknown
}

/**
 * A client executes these. `stamp` answers with a number, `quick` is waited for the shortest time that a client can be
 * given.
 */
export const deskTools = [
  { name: "print", inputSchema: { type: "object", properties: { document: { type: "string" } } } },
  { name: "sign", inputSchema: { type: "object", properties: { document: { type: "string" } } } },
  { name: "stamp", inputSchema: { type: "object" }, outputSchema: { type: "integer" } },
  { name: "quick", inputSchema: { type: "object" }, timeoutMs: limits.clientToolTimeoutMs.least }
]

/** A hook that leaves it to a client. */
export const asking = (point: string, more: object = {}) => ({
  name: `asks ${point}`,
  point,
  processor: { type: "client" },
  ...more
})

/** The waits of a turn that begins with these lines, once there are so many, oldest first. */
export const parked = async (client: Client, agentId: string, lines: ReadonlyArray<string>, count = 1) => {
  const threadId = await begin(client, agentId, ...lines)
  const found = await waitsOf(client, threadId, count)
  return { threadId, waits: found as ReadonlyArray<Wait>, wait: found[0] as Wait }
}

export const pathOf = (threadId: string, { id }: { readonly id: string }) => `/v1/threads/${threadId}/waits/${id}`

export const answer = (
  client: Client,
  threadId: string,
  wait: { readonly id: string },
  body: object,
  headers?: Record<string, string>
) => client.post(`${pathOf(threadId, wait)}/resolve`, body, headers)

export const resolved = async (client: Client, threadId: string, wait: { readonly id: string }, body: object) => {
  const told = await answer(client, threadId, wait, body)
  assert.strictEqual(told.status, 200, told.text)
  return told.body
}

export const decision = (decision: "allow" | "deny", more: object = {}) => ({ type: "decision", decision, ...more })
export const result = (output: unknown) => ({ type: "tool_result", output })
export const failed = (code: string, message: string) => ({ type: "tool_result", error: { code, message } })

/**
 * Agents at a desk of their own: one whose calls are the client's, and one whose calls a client is asked about as well.
 */
export const furnish = async (client: Client, namespace: string) => {
  const made = await client.post("/v1/toolsets", { kind: "client", namespace, tools: deskTools })
  assert.strictEqual(made.status, 201, made.text)
  const toolsetId: string = made.body.toolset.id
  const worker = (profile: object = {}) => makeWorker(client, { toolsetIds: [toolsetId], ...profile })
  return {
    toolsetId,
    worker,
    tool: (name: string, input: unknown = {}) => call(`${namespace}.${name}`, input),
    plain: await worker(),
    asked: await worker({ hooks: [asking("before_tool_call")] })
  }
}
export type Desk = Awaited<ReturnType<typeof furnish>>
