/**
 * Whether the server at a URL speaks only the transport of 2024-11-05, HTTP with SSE: its stream, opened by
 * a GET, begins with an event that says where to send messages.
 */
import { Effect } from "effect"
import { McpTransport, type TransportOptions } from "./transport.ts"

const lookMs = 3_000
const enoughChars = 4_096
const endpoint = /^event:[ \t]*endpoint[ \t]*$/m

const announcesEndpoint = async (response: Response): Promise<boolean> => {
  const { body, headers, ok } = response
  if (!ok || body === null || headers.get("content-type")?.startsWith("text/event-stream") !== true) return false
  let text = ""
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (endpoint.test(text)) return true
    if (text.length > enoughChars) return false
  }
  return false
}

export const speaksOldTransport =
  "the server speaks only MCP's old transport, HTTP with SSE, and Troupe speaks streamable HTTP: " +
  "give the URL of its streamable HTTP endpoint (often the path /mcp), use a newer version of it, or put a proxy " +
  "that speaks streamable HTTP before it"

/** One GET, with what every request to the server is sent with. Nothing that goes wrong with it is told. */
export const isOldTransport = (options: TransportOptions): Effect.Effect<boolean> =>
  Effect.tryPromise(async (signal) => {
    let found = false
    const transport = new McpTransport({
      ...options,
      fetch: (limits) => async (url, init) => {
        const response = await options.fetch(limits)(url, { ...init, signal })
        found = await announcesEndpoint(response)
        // For the SDK there is no stream to listen on.
        return new Response(null, { status: 405 })
      }
    })
    try {
      await transport.start()
      await transport.resumeStream("")
      return found
    } finally {
      await transport.close()
    }
  }).pipe(
    Effect.timeoutOrElse({ duration: lookMs, orElse: () => Effect.succeed(false) }),
    Effect.catch(() => Effect.succeed(false))
  )
