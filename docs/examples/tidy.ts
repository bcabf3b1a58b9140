/**
 * A tool server that uses its lease: `forget` deletes a note of the agent that calls it, by the API, and says what came
 * of it. Model Context Protocol over HTTP, on the official SDK; prints its URL. TROUPE_URL is where the API is.
 */
import { createServer } from "node:http"
import { toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, Server } from "@modelcontextprotocol/server"

const api = process.env.TROUPE_URL ?? "http://127.0.0.1:4100"

const tools = [
  {
    name: "forget",
    description: "Deletes a note",
    inputSchema: { type: "object" as const, properties: { key: { type: "string" } }, required: ["key"] }
  }
]

const tokenOf = (lease: unknown) =>
  typeof lease === "object" && lease !== null && "token" in lease ? String(lease.token) : ""

/** A property of an answer's JSON, by its name. */
const propertyOf = async (answer: Response, name: string) =>
  new RegExp(`"${name}":"([^"]*)"`).exec(await answer.text())?.[1] ?? ""

const forget = async (token: string, key: string) => {
  const headers = { authorization: `Bearer ${token}` }
  const agentId = await propertyOf(await fetch(`${api}/v1/auth`, { headers }), "agentId")
  const note = `${api}/v1/agents/${agentId}/memory/entry?key=${encodeURIComponent(key)}`
  const answer = await fetch(note, { method: "DELETE", headers })
  return `${answer.status} ${await propertyOf(answer, "state")}`
}

const handler = toNodeHandler(
  createMcpHandler(() => {
    const server = new Server({ name: "tidy", version: "1.0.0" }, { capabilities: { tools: {} } })
    server.setRequestHandler("tools/list", () => ({ tools }))
    server.setRequestHandler("tools/call", async ({ params: { _meta, arguments: input } }) => ({
      content: [{ type: "text", text: await forget(tokenOf(_meta?.["troupe/lease"]), String(input?.key)) }]
    }))
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
