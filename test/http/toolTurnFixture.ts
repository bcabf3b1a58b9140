/** Turns that call tools, and what of their calls has run and failed. */
import { afterAll } from "vitest"
import { during } from "../setup/during.ts"
import { sharing, startServer, type TestServer } from "../setup/server.ts"
import { type McpServer, startMcpServer, type TestTool } from "../tools/mcpServer.ts"
import type { Event } from "./threadFixture.ts"
import { addToolset, assertSound, makeWorker, only } from "./toolFixture.ts"

/** The worker's server for turns that call tools. */
const toolTurnServer = sharing(() => startServer({ idleMs: 100, leaseTtlMs: 20_000 }))

/** A server of the usual tools, their namespace, and an agent that has them. */
export const stock = async (server: TestServer) => {
  const mcp = await during(startMcpServer())
  const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
  return { mcp, ns: namespace, worker: await makeWorker(server.alpha, { toolsetIds: [id] }) }
}

export const executed = (log: ReadonlyArray<Event>, ledger: McpServer) => {
  const ids = new Set(only(log, "tool_intent").map(({ toolCallId }) => toolCallId))
  return ledger.calls.filter(({ toolCallId }) => ids.has(toolCallId))
}

/** What a file's tests stand on. */
export const toolTurnStand = async () => {
  const server = await toolTurnServer()
  afterAll(() => assertSound(server))
  /** A server of tools of the test's own, its toolset, and an agent that has it. */
  const stage = async (tools: ReadonlyArray<TestTool>, profile: object = {}, toolset: object = {}) => {
    const own = await startMcpServer({ tools })
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: own.url, ...toolset })
    return { own, id, namespace, agentId: await makeWorker(server.alpha, { toolsetIds: [id], ...profile }) }
  }
  return { server, stage }
}
