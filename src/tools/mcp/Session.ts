/**
 * One open conversation with an MCP server, by the SDK's client: kept for as long as its scope.
 *
 * N1. Whatever the server does, opening, listing and closing end within their time.
 * N2. The SDK compiles no schema and repeats no word of the server: both are ours to do.
 * N3. A change that the server announces is told once it has happened; nothing is asked again for it here.
 * N4. A request of the server for what Troupe does not give is refused in words, which a call that fails for it
 *     repeats.
 */
import { type CallToolResult, Client, type ListToolsResult } from "@modelcontextprotocol/client"
import { Effect, Schedule } from "effect"
import { isJsonObject } from "../../domain/jsonValue.ts"
import { limits } from "../../domain/limits.ts"
import { type Progress, type Tool, ownName } from "../Tool.ts"
import type { Listed } from "./listing.ts"
import { type CallRequest, metaOf } from "./callRequest.ts"
import { McpFailure } from "./McpFailure.ts"
import { isOldTransport, speaksOldTransport } from "./oldTransport.ts"
import { mostMs } from "./patience.ts"
import { runAsTask } from "./tasks.ts"
import { attempt } from "./thrown.ts"
import { answerWithin, McpTransport, type TransportOptions } from "./transport.ts"
import { makeWanted } from "./wanted.ts"

export interface Session {
  /** What the server offers now. */
  readonly list: Effect.Effect<Listed, McpFailure>
  /** One call. Interruption cancels it, at the server too. `progressed` hears of each report of its server. */
  readonly call: (
    tool: Tool,
    request: CallRequest,
    progressed: (progress: Progress) => void
  ) => Effect.Effect<CallToolResult, McpFailure>
}

/** Who hears what becomes of a session. */
export interface SessionListener {
  /** The server has announced another list of tools. */
  readonly onToolsChanged: () => void
  /** A call has failed after the server had asked for what Troupe does not give: in words. */
  readonly onWanted: (words: string) => void
}

const identity = { name: "troupe", version: "1" }
/** Pages of a list; a server whose pages never end is not read to its end. */
const mostPages = 64
const closeMs = 1_000
const listenAgain = Schedule.spaced("30 seconds")

/** The SDK has no schema to compile: it is given none (N2). */
const noValidator = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: "not judged here" })
}

const within =
  <A>(ms: number, what: string) =>
  (work: Effect.Effect<A, McpFailure>) =>
    Effect.timeoutOrElse(work, {
      duration: ms,
      orElse: () => Effect.fail(new McpFailure({ reason: "timeout", message: `${what} within ${ms} ms` }))
    })

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

/** Whether the server, which does not take what it is sent, takes it by the transport of before. */
const toldOld = (options: TransportOptions, failure: McpFailure) => {
  const { reason, status } = failure
  const doubtful = status !== undefined && status < 500 && (reason === "session" || reason === "refused")
  return Effect.flatMap(doubtful ? isOldTransport(options) : Effect.succeed(false), (old) =>
    Effect.fail(old ? new McpFailure({ reason: "unreachable", message: speaksOldTransport }) : failure)
  )
}

/** What the server offers, page by page, up to more than a toolset may have. */
const offersOf = async (client: Client, tasks: boolean, signal: AbortSignal): Promise<Listed> => {
  const offers: ListToolsResult["tools"] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages && offers.length <= limits.toolsPerToolset; page++) {
    const { nextCursor, tools } = await client.request(
      { method: "tools/list", ...(cursor !== undefined && { params: { cursor } }) },
      { signal, timeout: limits.mcpProbeMs }
    )
    offers.push(...tools)
    if (nextCursor === undefined) return { offers, complete: true, tasks }
    cursor = nextCursor
  }
  return { offers, complete: false, tasks }
}

/** A call that answers with its result. */
const plainCall = (
  client: Client,
  tool: Tool,
  { input, ...given }: CallRequest,
  progressed: (progress: Progress) => void
) =>
  attempt((signal) =>
    client.callTool(
      {
        name: ownName(tool),
        ...(isJsonObject(input) && { arguments: input }),
        _meta: metaOf(given)
      },
      {
        signal,
        // Whoever calls gives up sooner: no result, no progress.
        timeout: mostMs(tool.timeoutMs) + 1_000,
        onprogress: ({ message, progress, total }) =>
          progressed({ progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }),
        headers: { "idempotency-key": given.toolCallId, [answerWithin]: String(mostMs(tool.timeoutMs)) },
        // Of its input schema the SDK reads which arguments travel as headers too.
        toolDefinition: {
          name: ownName(tool),
          inputSchema: { ...(isJsonObject(tool.inputSchema) && tool.inputSchema), type: "object" }
        }
      }
    )
  )

export const openSession = Effect.fnUntraced(function* (options: TransportOptions, listener?: SessionListener) {
  const client = new Client(identity, {
    versionNegotiation: { mode: "auto" },
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: noValidator
  })
  if (listener !== undefined) client.setNotificationHandler("notifications/tools/list_changed", listener.onToolsChanged)
  const wanted = makeWanted((words) => listener?.onWanted(words))
  client.fallbackRequestHandler = wanted.refuse

  yield* Effect.acquireRelease(
    Effect.sync(() => new McpTransport(options)),
    (transport) => close(client, transport)
  ).pipe(
    Effect.flatMap((transport) =>
      attempt((signal) => client.connect(transport, { timeout: limits.mcpProbeMs, signal })).pipe(
        within(limits.mcpProbeMs, "no session"),
        Effect.catch((failure) => toldOld(options, failure))
      )
    )
  )
  if (
    listener !== undefined &&
    client.getProtocolEra() === "modern" &&
    client.getServerCapabilities()?.tools?.listChanged === true
  ) {
    yield* Effect.forkScoped(keepListening(client))
  }

  const tasks = client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined
  const scope = yield* Effect.scope

  const session: Session = {
    list: Effect.suspend(() =>
      client.getServerCapabilities()?.tools === undefined
        ? Effect.succeed({ offers: [], complete: true, tasks, note: "the server offers no tools" })
        : attempt((signal) => offersOf(client, tasks, signal)).pipe(within(limits.mcpProbeMs, "no list of tools"))
    ),

    call: (tool, request, progressed) =>
      wanted.during(
        tool.execution === undefined
          ? plainCall(client, tool, request, progressed)
          : runAsTask(client, scope, tool, request)
      )
  }
  return session
})

/** Opens a session, uses it, and closes it. */
export const withSession = <A>(options: TransportOptions, use: (session: Session) => Effect.Effect<A, McpFailure>) =>
  Effect.scoped(Effect.flatMap(openSession(options), use))
