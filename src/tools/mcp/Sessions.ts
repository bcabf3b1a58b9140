/**
 * Sessions of this node with MCP servers: one for each toolset, shared by all its calls.
 *
 * M1. Opened when first needed, closed after five idle minutes and when the node leaves. A workspace has a bounded
 *     number of them: its oldest makes room for its next, and no other workspace loses one.
 * M2. Another server or another connection is another session: whoever asks after a change never gets the old one.
 * M3. A session that failed to open, or that turned out to be over, is never given out again. The next one stays,
 *     however many calls have failed in the one before.
 */
import { Context, Data, Effect, Layer, RcMap, Redacted } from "effect"
import { Connections } from "../../connections/Connections.ts"
import { loadedLater } from "../../loading.ts"
import { Outbound } from "../../outbound/Outbound.ts"
import { record, sessionsGivenUp } from "../../telemetry/metrics.ts"
import { failureWith, McpFailure } from "./McpFailure.ts"
import type { Session } from "./Session.ts"
import type { ServerCredential, TransportOptions } from "./transport.ts"

/** Where an MCP server is, and with what it is asked. */
export interface McpServer {
  readonly url: string
  readonly connectionId?: string
}

class Place extends Data.Class<{
  readonly workspace: string
  readonly toolsetId: string
  readonly url: string
  readonly connectionId: string | undefined
}> {}

/**
 * A session was opened, its server has announced another list of tools, or a call has failed that wants what Troupe
 * does not give.
 */
export type Change = "opened" | "announced" | { readonly wanted: string }
export type OnChange = (workspace: string, toolsetId: string, server: McpServer, what: Change) => void

/** Session.ts, and with it the SDK of MCP and its schemas: seven megabytes, for nodes that have tool servers only. */
export type LoadSession = () => Promise<Pick<typeof import("./Session.ts"), "openSession" | "withSession">>

export class Sessions extends Context.Service<
  Sessions,
  {
    /** With the toolset's open session, or a new one. */
    readonly use: <A>(
      workspace: string,
      toolsetId: string,
      server: McpServer,
      work: (session: Session) => Effect.Effect<A, McpFailure>
    ) => Effect.Effect<A, McpFailure>
    /** With one of its own, closed afterwards: to see whether there is a way to the server now. */
    readonly probe: <A>(
      workspace: string,
      server: McpServer,
      work: (session: Session) => Effect.Effect<A, McpFailure>
    ) => Effect.Effect<A, McpFailure>
    /** Whoever calls next has a new session; those who use the open one keep it to the end. */
    readonly renew: (workspace: string, toolsetId: string, server: McpServer) => Effect.Effect<void>
    /** Who hears of it: one listener. */
    readonly onChange: (listener: OnChange) => void
  }
>()("troupe/tools/mcp/Sessions") {
  static readonly layerOf = (perWorkspace: number, load: LoadSession = () => import("./Session.ts")) =>
    Layer.effect(
      Sessions,
      Effect.suspend(() => make(perWorkspace, load))
    )
  static readonly layer = Sessions.layerOf(256)
}

const idle = "5 minutes"

/**
 * After these the session is over, or nobody knows. So it is where the refusal is HTTP's: a server may answer so in a
 * session that is gone.
 */
const isSpoilt = ({ reason, status }: McpFailure) =>
  reason === "session" ||
  reason === "unreachable" ||
  reason === "lost" ||
  reason === "broken" ||
  (reason === "refused" && status !== undefined)

/**
 * A map closes its entries one after the other, and each may take its time to say goodbye: these say it all at once.
 */
const closedTogether = <K, A, E, R>(map: Effect.Effect<RcMap.RcMap<K, A, E>, never, R>) =>
  Effect.tap(map, (held) =>
    Effect.addFinalizer(() =>
      Effect.flatMap(RcMap.keys(held), (keys) =>
        Effect.forEach([...keys], (key) => RcMap.invalidate(held, key), { concurrency: "unbounded", discard: true })
      )
    )
  )

const make = Effect.fn("Sessions.make")(function* (perWorkspace: number, load: LoadSession) {
  const loaded = loadedLater(
    "@modelcontextprotocol/client",
    load,
    () => new McpFailure({ reason: "unasked", message: "this node could not load what it asks tool servers with" })
  )
  const connections = yield* Connections
  const outbound = yield* Outbound
  let listener: OnChange = () => {}

  const credential = Effect.fnUntraced(function* (workspace: string, connectionId: string | undefined) {
    if (connectionId === undefined) return {}
    const secret = yield* connections
      .secret(workspace, connectionId)
      .pipe(
        Effect.catchTag("DatabaseUnavailable", () =>
          Effect.fail(new McpFailure({ reason: "unasked", message: "the connection's secret cannot be read now" }))
        )
      )
    if (secret === undefined || secret.kind === "signing") {
      return yield* new McpFailure({
        reason: "unauthorized",
        message: "the connection holds no token that can be used"
      })
    }
    const found: ServerCredential = {
      token: Redacted.value(secret.kind === "token" ? secret.token : secret.apiKey),
      reach: secret.reach,
      ...(secret.header !== undefined && { header: secret.header })
    }
    return found
  })

  const optionsOf = (
    workspace: string,
    { connectionId, url }: { readonly url: string; readonly connectionId?: string | undefined }
  ): TransportOptions => ({
    url,
    credential: () => Effect.runPromise(credential(workspace, connectionId)),
    fetch: (limits) => outbound.fetch(workspace, limits)
  })

  const open = (place: Place) => {
    const { connectionId, toolsetId, url, workspace } = place
    const tell = (what: Change) =>
      listener(workspace, toolsetId, { url, ...(connectionId !== undefined && { connectionId }) }, what)
    return loaded.pipe(
      Effect.flatMap(({ openSession }) =>
        openSession(optionsOf(workspace, place), {
          onToolsChanged: () => tell("announced"),
          onWanted: (wanted) => tell({ wanted })
        })
      ),
      Effect.tap(() => Effect.sync(() => tell("opened"))),
      Effect.mapError((failure) => failureWith(failure, { opening: true }))
    )
  }

  /** By workspace the sessions of its toolsets. */
  const workspaces = yield* closedTogether(
    RcMap.make({
      lookup: (_workspace: string) =>
        closedTogether(RcMap.make({ lookup: open, idleTimeToLive: idle, capacity: perWorkspace })),
      idleTimeToLive: idle
    })
  )

  /** Sessions that are over, and failures to open one: each makes room once. */
  const over = new WeakSet<Session | McpFailure>()

  return Sessions.of({
    use: (workspace, toolsetId, { connectionId, url }, work) => {
      const place = new Place({ workspace, toolsetId, url, connectionId })
      return Effect.scoped(
        Effect.gen(function* () {
          const held = yield* RcMap.get(workspaces, workspace)
          const spoil = (one: Session | McpFailure) =>
            Effect.suspend(() => {
              if (over.has(one)) return Effect.void
              over.add(one)
              return RcMap.invalidate(held, place)
            })
          // M1. Whoever is using it keeps it to the end.
          const giveUpOldest = Effect.flatMap(RcMap.keys(held), ([oldest]) => {
            record(sessionsGivenUp)
            return oldest === undefined ? Effect.void : RcMap.invalidate(held, oldest)
          })
          const session = yield* RcMap.get(held, place).pipe(
            Effect.catchTag("ExceededCapacityError", () => Effect.andThen(giveUpOldest, RcMap.get(held, place))),
            Effect.catchTag("ExceededCapacityError", () =>
              Effect.fail(
                new McpFailure({ reason: "unasked", message: "the workspace has too many sessions with tool servers" })
              )
            ),
            Effect.tapError(spoil)
          )
          return yield* work(session).pipe(
            Effect.tapError((failure) => (isSpoilt(failure) ? spoil(session) : Effect.void))
          )
        })
      )
    },
    probe: (workspace, server, work) =>
      Effect.flatMap(loaded, ({ withSession }) => withSession(optionsOf(workspace, server), work)),
    renew: (workspace, toolsetId, { connectionId, url }) =>
      Effect.scoped(
        Effect.flatMap(RcMap.get(workspaces, workspace), (held) =>
          RcMap.invalidate(held, new Place({ workspace, toolsetId, url, connectionId }))
        )
      ),
    onChange: (heard) => {
      listener = heard
    }
  })
})
