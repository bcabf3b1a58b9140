/**
 * An HTTP server that plays an MCP server up to one point, and there does as a test says: what no SDK would do.
 *
 *     const liar = await startLiar("tools/call", (response) => response.destroy())
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"

export interface Asked {
  readonly method: string
  /** Of the message, if it is a request. */
  readonly id: unknown
  readonly params: unknown
  readonly request: IncomingMessage
}

/** What it does at its point: with all of the answer in its hands. `honest` answers as it would otherwise. */
export type Lie = (response: ServerResponse, asked: Asked, honest: () => unknown) => unknown

const parse = (text: string): { readonly id?: unknown; readonly method?: unknown; readonly params?: unknown } => {
  const value: unknown = text === "" ? {} : JSON.parse(text)
  return typeof value === "object" && value !== null ? value : {}
}

const bodyOf = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export const sendJson = (response: ServerResponse, value: unknown, status = 200) =>
  void response
    .writeHead(status, { "content-type": "application/json" })
    .end(typeof value === "string" ? value : JSON.stringify(value))

export const sendResult = (response: ServerResponse, id: unknown, result: unknown) =>
  sendJson(response, { jsonrpc: "2.0", id, result })

/** A stream of server-sent events, open. */
export const stream = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.flushHeaders()
  return {
    send: (message: unknown) => response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`),
    raw: (text: string) => response.write(text)
  }
}

const drained = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go)
      resolve()
    }
    response.on("drain", go).on("close", go)
  })

/** Bytes without an end, as fast or slow as they are taken. */
export const endless = async (response: ServerResponse, piece: string, everyMs: number) => {
  while (!response.destroyed) {
    if (!response.write(piece)) await drained(response)
    await sleep(everyMs)
  }
}

/** The tools that are listed unless the lie is about that. */
export const listedTools = [
  { name: "change", inputSchema: { type: "object" } },
  { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }
]

/** `point` is a method of the protocol, or `*` for every request; GET is "listen". */
export const startLiar = async (point: string, lie: Lie) => {
  const asked: Array<string> = []
  const honest = (response: ServerResponse, { id, method }: Asked) => {
    switch (method) {
      case "initialize":
        return sendResult(response, id, {
          protocolVersion: "2025-06-18",
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: "liar", version: "0" }
        })
      case "tools/list":
        return sendResult(response, id, { tools: listedTools })
      case "tools/call":
        return sendResult(response, id, { content: [{ type: "text", text: "done" }] })
      case "listen":
        return void response.writeHead(405).end()
      case "server/discover":
        return sendJson(response, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } })
      default:
        return void response.writeHead(202).end()
    }
  }
  const listener = createServer(async (request, response) => {
    response.on("error", () => {})
    try {
      const { id, method, params } = parse(await bodyOf(request))
      const name = request.method === "GET" ? "listen" : typeof method === "string" ? method : "close"
      asked.push(name)
      const found = { id, method: name, params, request }
      if (name === point || point === "*") await lie(response, found, () => honest(response, found))
      else honest(response, found)
    } catch (error) {
      if (!response.destroyed) throw error
    }
  })
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve))
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("the listener has a port")
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    /** Methods of all requests so far. */
    asked,
    /** How often it was asked at its point. */
    times: () => (point === "*" ? asked.length : asked.filter((name) => name === point).length),
    close: async () => {
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
    }
  }
}
export type Liar = Awaited<ReturnType<typeof startLiar>>
