/**
 * A tool server to try approvals with: `list`, `add` and `clear` over notes that live as long as it does.
 * Model Context Protocol over HTTP, on the official SDK; prints its URL. The port is the first argument.
 */
import { createServer } from "node:http"
import { toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, Server } from "@modelcontextprotocol/server"

const notes: Array<string> = []

const tools = [
  {
    name: "list",
    description: "All notes",
    inputSchema: { type: "object" as const },
    annotations: { readOnlyHint: true }
  },
  {
    name: "add",
    description: "Adds a note",
    inputSchema: { type: "object" as const, properties: { text: { type: "string" } }, required: ["text"] }
  },
  {
    name: "clear",
    description: "Forgets all notes",
    inputSchema: { type: "object" as const },
    annotations: { destructiveHint: true }
  }
]

const handler = toNodeHandler(
  createMcpHandler(() => {
    const server = new Server({ name: "notes", version: "1.0.0" }, { capabilities: { tools: {} } })
    server.setRequestHandler("tools/list", () => ({ tools }))
    server.setRequestHandler("tools/call", ({ params: { arguments: input, name } }) => {
      if (name === "add") notes.push(String(input?.text))
      if (name === "clear") notes.length = 0
      return { content: [{ type: "text", text: `${notes.length} notes: ${notes.join("; ")}` }] }
    })
    return server
  })
)

const listener = createServer(
  (request, response) =>
    void handler(
      {
        method: request.method ?? "POST",
        url: request.url ?? "/",
        headers: request.headers,
        [Symbol.asyncIterator]: () => request[Symbol.asyncIterator]()
      },
      response
    )
)
listener.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  const address = listener.address()
  console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp`)
})
