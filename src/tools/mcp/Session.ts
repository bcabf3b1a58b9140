/**
 * One open conversation with an MCP server, by the SDK's client: kept for as long as its scope.
 *
 * N1. Whatever the server does, opening, listing and closing end within their time.
 * N2. The SDK compiles no schema and repeats no word of the server: both are ours to do.
 * N3. A change that the server announces is told once it has happened; nothing is asked again for it here.
 */
import { type CallToolResult, Client, type ListToolsResult } from "@modelcontextprotocol/client"
import { Effect, Schedule } from "effect"
import { isJsonObject } from "../../domain/jsonValue.ts"
import { limits } from "../../domain/limits.ts"
import { ownName } from "../catalogue.ts"
import type { Tool } from "../Tool.ts"
import type { Offers } from "./listing.ts"
import { McpFailure, mcpFailure } from "./McpFailure.ts"
import { McpTransport, type TransportOptions } from "./transport.ts"

export interface Session {
  /** What the server offers now. */
  readonly list: Effect.Effect<Offers, McpFailure>
  /** One call. Interruption cancels it, at the server too. */
  readonly call: (tool: Tool, input: unknown, toolCallId: string) => Effect.Effect<CallToolResult, McpFailure>
}

const identity = { name: "troupe", version: "1" }
/** Pages of a list; a server whose pages never end is not read to its end. */
const mostPages = 64
const closeMs = 1_000
const listenAgain = Schedule.spaced("30 seconds")

/** The SDK has no schema to compile: it is given none (N2). */
const noValidator = { getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: "not judged here" }) }

const attempt = <A>(work: (signal: AbortSignal) => Promise<A>) => Effect.tryPromise({ try: work, catch: mcpFailure })

const within = <A>(ms: number, what: string) => (work: Effect.Effect<A, McpFailure>) =>
  Effect.timeoutOrElse(work, { duration: ms, orElse: () => Effect.fail(new McpFailure({ reason: "timeout", message: `${what} within ${ms} ms` })) })

/** Tells the server that the session is over, if it has a name for it, and closes every stream. */
const close = (client: Client, transport: McpTransport) =>
  Effect.promise(() => transport.terminateSession().catch(() => {})).pipe(
    Effect.timeoutOption(closeMs),
    Effect.andThen(Effect.promise(() => client.close().catch(() => {}))),
    Effect.andThen(Effect.promise(() => transport.close().catch(() => {})))
  )

/** The revision of 2026 has no stream of its own to listen on: it is asked for one, again and again (N3). */
const keepListening = (client: Client) =>
  Effect.tryPromise(async (signal) => {
    const subscription = await client.listen({ toolsListChanged: true }, { timeout: limits.mcpProbeMs, signal })
    await subscription.closed
  }).pipe(Effect.ignore, Effect.repeat(listenAgain))

export const openSession = Effect.fnUntraced(function*(options: TransportOptions, onToolsChanged?: () => void) {
  const client = new Client(identity, {
    versionNegotiation: { mode: "auto" },
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: noValidator
  })
  if (onToolsChanged !== undefined) client.setNotificationHandler("notifications/tools/list_changed", onToolsChanged)

  yield* Effect.acquireRelease(
    Effect.sync(() => new McpTransport(options)),
    (transport) => close(client, transport)
  ).pipe(Effect.flatMap((transport) =>
    attempt((signal) => client.connect(transport, { timeout: limits.mcpProbeMs, signal })).pipe(within(limits.mcpProbeMs, "no session"))
  ))
  if (onToolsChanged !== undefined && client.getProtocolEra() === "modern" && client.getServerCapabilities()?.tools?.listChanged === true) {
    yield* Effect.forkScoped(keepListening(client))
  }

  const pages = async (signal: AbortSignal): Promise<Offers> => {
    const offers: ListToolsResult["tools"] = []
    let cursor: string | undefined
    for (let page = 0; page < mostPages && offers.length <= limits.toolsPerToolset; page++) {
      const { nextCursor, tools } = await client.request(
        { method: "tools/list", ...(cursor !== undefined && { params: { cursor } }) }, { signal, timeout: limits.mcpProbeMs }
      )
      offers.push(...tools)
      if (nextCursor === undefined) return { offers, complete: true }
      cursor = nextCursor
    }
    return { offers, complete: false }
  }

  const session: Session = {
    list: Effect.suspend(() =>
      client.getServerCapabilities()?.tools === undefined
        ? Effect.succeed({ offers: [], complete: true, note: "the server offers no tools" })
        : attempt(pages).pipe(within(limits.mcpProbeMs, "no list of tools"))),

    call: (tool, input, toolCallId) =>
      attempt((signal) => client.callTool({
        name: ownName(tool),
        ...(isJsonObject(input) && { arguments: input }),
        _meta: { "troupe/toolCallId": toolCallId }
      }, {
        signal,
        timeout: tool.timeoutMs,
        headers: { "idempotency-key": toolCallId },
        // Of its input schema the SDK reads which arguments travel as headers too.
        toolDefinition: { name: ownName(tool), inputSchema: { ...(isJsonObject(tool.inputSchema) && tool.inputSchema), type: "object" } }
      }))
  }
  return session
})

/** Opens a session, uses it, and closes it. */
export const withSession = <A>(options: TransportOptions, use: (session: Session) => Effect.Effect<A, McpFailure>) =>
  Effect.scoped(Effect.flatMap(openSession(options), use))
