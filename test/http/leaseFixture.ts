/** MCP servers that get leases with calls, and turns that stay in such a call. */
import { assert } from "@effect/vitest"
import { Client, sharing, startServer, type TestServer } from "../setup/server.ts"
import { type McpServer, startMcpServer } from "../tools/mcpServer.ts"
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
export const leasedServer = sharing(() => startServer({ publicUrl, idleMs: 200 }))

/** What the tool `repeat` says of the lease that it was called with. */
export interface Repeating {
  says: (token: string, report: (message: string) => Promise<void>) => unknown
}

/** A node beside the server, and an MCP server whose tools are called with leases. */
export const startLeased = async (server: TestServer) => {
  const gate = new Gate()
  const repeating: Repeating = { says: () => "nothing" }
  const beside = await startServer({ beside: server, name: "beside", publicUrl, idleMs: 200 })
  const mcp = await startMcpServer({
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
  return { beside, gate, mcp, repeating }
}

/** Of what a file of tests has started. */
export const makeLeaseTools = (
  of: () => { readonly server: TestServer; readonly mcp: McpServer; readonly gate: Gate }
) => {
  const worker = async (fields: object = {}, profile: object = {}) => {
    const { id, namespace } = await addToolset(of().server.alpha, {
      kind: "mcp",
      url: of().mcp.url,
      lease: "call",
      ...fields
    })
    return { toolsetId: id, namespace, agentId: await makeWorker(of().server.alpha, { toolsetIds: [id], ...profile }) }
  }

  /** A thread whose turn stays in a call, and the lease of that call. */
  const holding = async (more: object = {}) => {
    const { agentId, namespace } = await worker()
    const before = of().mcp.calls.length
    const created = await of().server.alpha.post("/v1/threads", {
      agentId,
      message: { content: text(call(`${namespace}.hold`)) },
      ...more
    })
    assert.strictEqual(created.status, 201, created.text)
    const threadId: string = created.body.thread.id
    const called = () =>
      of()
        .mcp.calls.slice(before)
        .find(({ tool }) => tool === "hold")
    await eventually(() => called() !== undefined, "the call is made")
    const lease = called()?.lease
    assert(isLease(lease))
    return { agentId, threadId, lease, client: new Client(of().server.base, lease.token) }
  }
  const letGo = async (threadId: string) => {
    of().gate.letAll()
    await logOf(of().server.alpha, threadId, ended(1))
  }
  return { holding, letGo, worker }
}
