/** MCP servers that get leases with calls, and turns that stay in such a call. */
import { afterAll, assert } from "@effect/vitest"
import { during } from "../setup/during.ts"
import { Client, sharing, startServer } from "../setup/server.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { eventually } from "../waiting.ts"
import { ended, logOf, text } from "./threadFixture.ts"
import { addToolset, call, Gate, makeWorker } from "./toolFixture.ts"

export interface Lease {
  readonly token: string
  readonly expiresAt: string
  readonly baseUrl?: string
}
export const isLease = (value: unknown): value is Lease =>
  typeof value === "object" && value !== null && "token" in value && typeof value.token === "string"

export const publicUrl = "https://agents.example.com/troupe"

export const object = { type: "object" }
export const statusOf = async (client: Client) => (await client.get("/v1/auth")).status

/** The worker's server that leases say they come from. */
const leasedServer = sharing(() => startServer({ publicUrl, idleMs: 200 }))

/** What the tool `repeat` says of the lease that it was called with. */
export interface Repeating {
  says: (token: string, report: (message: string) => Promise<void>) => unknown
}

/** The server, a node beside it, and an MCP server whose tools are called with leases. */
const begun = async () => {
  const gate = new Gate()
  const repeating: Repeating = { says: () => "nothing" }
  const server = await leasedServer()
  const mcp = await during(
    startMcpServer({
      tools: [
        { name: "hold", inputSchema: object, run: (_, { signal }) => gate.pass(signal) },
        {
          name: "ask",
          inputSchema: object,
          // As the server of a tool does it: with what came beside the call.
          run: async (_, { lease }) => {
            if (!isLease(lease)) return "no lease"
            const client = new Client(server.base, lease.token)
            const context = await client.get("/v1/auth")
            const { agentId, threadId } = context.body
            const thread = await client.get(`/v1/threads/${threadId}`)
            const agent = await client.get(`/v1/agents/${agentId}`)
            return { context: context.body, status: thread.body.status, agent: agent.body.agent.id }
          }
        },
        {
          name: "repeat",
          inputSchema: object,
          run: (_, { lease, report }) =>
            isLease(lease) ? repeating.says(lease.token, (message) => report(1, { message })) : "no lease"
        }
      ]
    })
  )
  const beside = await during(startServer({ beside: server, name: "beside", publicUrl, idleMs: 200 }))
  afterAll(() => gate.letAll())
  return { beside, gate, mcp, repeating, server }
}

/** What a file's tests stand on. */
export const leaseStand = async () => {
  const { gate, mcp, server, ...more } = await begun()
  const worker = async (fields: object = {}, profile: object = {}) => {
    const { id, namespace } = await addToolset(server.alpha, {
      kind: "mcp",
      url: mcp.url,
      lease: "call",
      ...fields
    })
    return { toolsetId: id, namespace, agentId: await makeWorker(server.alpha, { toolsetIds: [id], ...profile }) }
  }

  /** A thread whose turn stays in a call, and the lease of that call. */
  const holding = async (more: object = {}) => {
    const { agentId, namespace } = await worker()
    const before = mcp.calls.length
    const created = await server.alpha.post("/v1/threads", {
      agentId,
      message: { content: text(call(`${namespace}.hold`)) },
      ...more
    })
    assert.strictEqual(created.status, 201, created.text)
    const threadId: string = created.body.thread.id
    const called = () => mcp.calls.slice(before).find(({ tool }) => tool === "hold")
    await eventually(() => called() !== undefined, "the call is made")
    const lease = called()?.lease
    assert(isLease(lease))
    return { agentId, threadId, lease, client: new Client(server.base, lease.token) }
  }
  const letGo = async (threadId: string) => {
    gate.letAll()
    await logOf(server.alpha, threadId, ended(1))
  }
  return { ...more, gate, holding, letGo, mcp, server, worker }
}
