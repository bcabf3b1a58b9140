/**
 * An MCP server that speaks over its standard input and output, over streamable HTTP: a process of it for each session.
 */
import { StdioClientTransport, type StdioServerParameters } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

export const startBridge = async (program: StdioServerParameters) => {
  const sessions = new Map<string, StreamableHTTPServerTransport>()

  const open = async (request: IncomingMessage, response: ServerResponse) => {
    const server = new StdioClientTransport(program)
    const client: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      // A request that opens no session starts no process.
      onsessioninitialized: async (id) => {
        sessions.set(id, client)
        await server.start()
      }
    })
    client.onmessage = (message) => void server.send(message)
    server.onmessage = (message) => void client.send(message)
    client.onclose = () => {
      if (client.sessionId !== undefined) sessions.delete(client.sessionId)
      void server.close()
    }
    await client.handleRequest(request, response)
  }

  const listener = createServer((request, response) => {
    const id = request.headers["mcp-session-id"]
    const held = typeof id === "string" ? sessions.get(id) : undefined
    if (held !== undefined) return void held.handleRequest(request, response)
    if (id !== undefined) return void response.writeHead(404).end()
    void open(request, response)
  })
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve))
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("the listener has a port")
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    close: async () => {
      await Promise.all([...sessions.values()].map((session) => session.close()))
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
    }
  }
}
