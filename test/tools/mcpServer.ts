/**
 * A real MCP server on the official SDK, over HTTP on a port of its own, with a ledger of what it has executed.
 *
 *     const server = await startMcpServer()
 *     …register a toolset with { kind: "mcp", url: server.url } …
 *     server.calls       // every tools/call that was executed, in order
 *     await server.close()
 *
 * It speaks both eras of the protocol as one does in the field: `sessions` is initialize with a session id and a stream
 * to listen on, `modern` is the revision of 2026-07-28 without sessions.
 */
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node"
import {
  type CallToolResult,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server
} from "@modelcontextprotocol/server"

export type Era = "sessions" | "modern"

type Fields = { readonly [key: string]: unknown }

export interface TestTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: Fields
  readonly outputSchema?: Fields
  readonly annotations?: {
    readonly readOnlyHint?: boolean
    readonly idempotentHint?: boolean
    readonly destructiveHint?: boolean
    readonly title?: string
  }
  /** A text is answered as one text block; an object with `content` as it is; anything else as structuredContent. */
  readonly run: (input: Fields, call: RunningCall) => unknown
}

export interface RunningCall {
  /** `troupe/lease` of its `_meta`. */
  readonly lease: unknown
  readonly signal: AbortSignal
  readonly ask: Ask
  /** Reports progress, where the client has asked for it. */
  readonly report: (progress: number, more?: { readonly total?: number; readonly message?: string }) => Promise<void>
}

/** Sends a request to the client, and brings its answer or throws its refusal. */
export type Ask = (request: {
  readonly method: "sampling/createMessage" | "elicitation/create"
  readonly params: Fields
}) => Promise<unknown>

/** One executed call. */
export interface Executed {
  readonly tool: string
  readonly input: Fields
  /** `troupe/toolCallId` of its `_meta`. */
  readonly toolCallId: unknown
  /** `troupe/lease` of it, where there was one. */
  readonly lease?: unknown
  /** Its header Idempotency-Key. */
  readonly idempotencyKey: string | null
  /** Its header Authorization. */
  readonly authorization: string | null
  /** The client has cancelled it while it ran, or has gone away. */
  cancelled: boolean
  /** It has ended, whatever became of it. */
  over: boolean
}

const object = (properties: Fields, required: ReadonlyArray<string> = Object.keys(properties)): Fields => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

/** What most tests need; `run` of each is a few lines. */
export const usualTools: ReadonlyArray<TestTool> = [
  {
    name: "echo",
    description: "Gives back its text",
    inputSchema: object({ text: { type: "string" } }),
    annotations: { readOnlyHint: true, title: "Echo" },
    run: (input) => text(input.text)
  },
  {
    name: "add",
    description: "Adds two numbers",
    inputSchema: object({ a: { type: "number" }, b: { type: "number" } }),
    outputSchema: object({ sum: { type: "number" } }),
    annotations: { readOnlyHint: true, idempotentHint: true },
    run: (input) => ({ sum: Number(input.a) + Number(input.b) })
  },
  {
    name: "slow",
    description: "Takes its time",
    inputSchema: object({ ms: { type: "integer" } }),
    run: async (input, { signal }) => {
      await sleep(Number(input.ms), undefined, { signal })
      return "done"
    }
  },
  {
    name: "fail",
    description: "Fails",
    run: () => ({ isError: true, content: [{ type: "text", text: "it went wrong" }] })
  },
  {
    name: "crash",
    description: "Fails with an error of the protocol",
    run: () => {
      throw new Error("out of order")
    }
  },
  { name: "read", description: "Changes nothing", annotations: { readOnlyHint: true }, run: () => "read" },
  { name: "put", description: "May run twice", annotations: { idempotentHint: true }, run: () => "put" },
  {
    name: "delete.all",
    description: "Must not run twice",
    annotations: { destructiveHint: true },
    run: () => "deleted"
  },
  {
    name: "big",
    description: "Gives that many characters",
    inputSchema: object({ chars: { type: "integer" } }),
    run: (input) => "x".repeat(Number(input.chars))
  },
  {
    name: "wrong",
    description: "Breaks its own schema",
    outputSchema: object({ sum: { type: "number" } }),
    run: () => ({ sum: "seven" })
  },
  {
    name: "blocks",
    description: "Gives several blocks",
    run: () => ({
      content: [
        { type: "text", text: "one" },
        { type: "text", text: "two" }
      ]
    })
  }
]

export interface McpServerOptions {
  readonly tools?: ReadonlyArray<TestTool>
  readonly era?: Era
  /** Whoever does not bring this token gets 401. */
  readonly token?: string
  /** The header that the token is brought in, as it is; without it, Authorization as a Bearer. */
  readonly tokenHeader?: string
  /** Tools a page of tools/list; all on one without it. */
  readonly pageSize?: number
  /** Status of the answer to a session that it does not know; 404 without it. */
  readonly unknownSession?: number
  /** Of one that was here before; any that is free without it. */
  readonly port?: number
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const resultOf = (value: unknown): CallToolResult => {
  if (typeof value === "string") return { content: [{ type: "text", text: value }] }
  if (isFields(value) && Array.isArray(value.content)) return { ...value, content: value.content }
  return {
    content: [{ type: "text", text: JSON.stringify(value) }],
    ...(isFields(value) && { structuredContent: value })
  }
}

export const startMcpServer = async ({
  era = "sessions",
  pageSize,
  port = 0,
  token,
  tokenHeader,
  tools: first = usualTools,
  unknownSession = 404
}: McpServerOptions = {}) => {
  const calls: Array<Executed> = []
  let tools = first
  let expected = token
  const requests: Array<string> = []
  let opened = 0

  const protocol = () => {
    const server = new Server({ name: "ledger", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } } })
    server.setRequestHandler("tools/list", ({ params }) => {
      const from = Number(params?.cursor ?? 0)
      const to = pageSize === undefined ? tools.length : from + pageSize
      return {
        tools: tools.slice(from, to).map(({ run: _, inputSchema = { type: "object" }, ...tool }) => ({
          ...tool,
          inputSchema: { ...inputSchema, type: "object" as const }
        })),
        ...(to < tools.length && { nextCursor: String(to) })
      }
    })
    server.setRequestHandler("tools/call", async ({ params }, { http, mcpReq }) => {
      const tool = tools.find(({ name }) => name === params.name)
      if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`)
      const lease = mcpReq._meta?.["troupe/lease"]
      const call: Executed = {
        tool: tool.name,
        input: params.arguments ?? {},
        toolCallId: mcpReq._meta?.["troupe/toolCallId"],
        ...(lease !== undefined && { lease }),
        idempotencyKey: http?.req?.headers.get("idempotency-key") ?? null,
        authorization: http?.req?.headers.get("authorization") ?? null,
        cancelled: false,
        over: false
      }
      calls.push(call)
      const onAbort = () => {
        call.cancelled = true
      }
      mcpReq.signal.addEventListener("abort", onAbort)
      try {
        const progressToken = mcpReq._meta?.progressToken
        const report: RunningCall["report"] = async (progress, more) => {
          if (progressToken !== undefined)
            await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, ...more } })
        }
        return resultOf(
          await tool.run(call.input, {
            signal: mcpReq.signal,
            lease,
            report,
            ask: (request) => mcpReq.send(request)
          })
        )
      } finally {
        call.over = true
        mcpReq.signal.removeEventListener("abort", onAbort)
      }
    })
    return server
  }

  const sessions = new Map<string, { readonly server: Server; readonly transport: NodeStreamableHTTPServerTransport }>()
  const modern = createMcpHandler(protocol, { legacy: "reject", keepAliveMs: 0 })
  const handleModern = toNodeHandler(modern)
  const serveModern = (request: IncomingMessage, response: ServerResponse) =>
    handleModern(
      {
        // the SDK's own type of a request does not fit our compiler options
        method: request.method ?? "GET",
        url: request.url ?? "/",
        headers: request.headers,
        [Symbol.asyncIterator]: () => request[Symbol.asyncIterator]()
      },
      response
    )

  const serveSessions = async (request: IncomingMessage, response: ServerResponse) => {
    const id = request.headers["mcp-session-id"]
    const held = typeof id === "string" ? sessions.get(id) : undefined
    if (held !== undefined) return await held.transport.handleRequest(request, response)
    if (id !== undefined) {
      // The words of the SDK's own examples.
      const error = {
        jsonrpc: "2.0",
        id: null,
        error: { code: -32000, message: "Bad Request: No valid session ID provided" }
      }
      return void response.writeHead(unknownSession, { "content-type": "application/json" }).end(JSON.stringify(error))
    }
    const server = protocol()
    const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        opened++
        sessions.set(id, { server, transport })
      },
      onsessionclosed: (id) => {
        sessions.delete(id)
      }
    })
    await server.connect(transport)
    await transport.handleRequest(request, response)
  }

  const listener = createServer((request, response) => {
    requests.push(request.method ?? "")
    if (
      expected !== undefined &&
      (tokenHeader === undefined
        ? request.headers.authorization !== `Bearer ${expected}`
        : request.headers[tokenHeader] !== expected)
    ) {
      return void response.writeHead(401, { "www-authenticate": `Bearer error="invalid_token"` }).end()
    }
    void (era === "modern" ? serveModern(request, response) : serveSessions(request, response))
  })
  await new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve))
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("the listener has a port")

  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    calls,
    /** Methods of all HTTP requests so far. */
    requests,
    /** Sessions that are open. */
    sessions: () => sessions.size,
    /** Sessions that were ever opened. */
    opened: () => opened,
    port: address.port,
    /** Forgets every session, as a server that has been started again. */
    forgetSessions: async () => {
      const all = [...sessions.values()]
      sessions.clear()
      await Promise.all(all.map(({ transport }) => transport.close()))
    },
    /** Offers other tools from now on, and says so to whoever listens. */
    offer: async (offered: ReadonlyArray<TestTool>, announce = true) => {
      tools = offered
      if (!announce) return
      modern.notify.toolsChanged()
      await Promise.all([...sessions.values()].map(({ server }) => server.sendToolListChanged()))
    },
    /** The token that is expected from now on; undefined: none. */
    expect: (token: string | undefined) => {
      expected = token
    },
    close: async () => {
      await modern.close()
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()))
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
    }
  }
}
export type McpServer = Awaited<ReturnType<typeof startMcpServer>>
