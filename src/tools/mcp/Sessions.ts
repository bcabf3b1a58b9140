/**
 * Sessions of this node with MCP servers: one for each toolset, shared by all its calls.
 *
 * M1. Opened when first needed, closed after five idle minutes and when the node leaves; at most a thousand: the
 *     oldest makes room for the next, so that one workspace's many do not shut out the others'.
 * M2. Another server or another connection is another session: whoever asks after a change never gets the old one.
 * M3. One that failed to open, or that turned out to be over, is never given out again.
 */
import { Context, Data, Effect, Layer, RcMap, Redacted } from "effect"
import { Connections } from "../../connections/Connections.ts"
import { Outbound } from "../../outbound/Outbound.ts"
import { McpFailure } from "./McpFailure.ts"
import { openSession, type Session, withSession } from "./Session.ts"
import type { Credential, TransportOptions } from "./transport.ts"

/** Where an MCP server is, and with what it is asked. */
export interface Server {
  readonly url: string
  readonly connectionId?: string
}

class Place extends Data.Class<{ readonly workspace: string; readonly toolsetId: string; readonly url: string; readonly connectionId: string | undefined }> {}

/** A session was opened, or its server has announced another list of tools. */
export type OnChange = (workspace: string, toolsetId: string, what: "opened" | "announced") => void

export class Sessions extends Context.Service<Sessions, {
  /** With the toolset's open session, or a new one. */
  readonly use: <A>(workspace: string, toolsetId: string, server: Server, work: (session: Session) => Effect.Effect<A, McpFailure>) => Effect.Effect<A, McpFailure>
  /** With one of its own, closed afterwards: to see whether there is a way to the server now. */
  readonly probe: <A>(workspace: string, server: Server, work: (session: Session) => Effect.Effect<A, McpFailure>) => Effect.Effect<A, McpFailure>
  /** Who hears of it: one listener. */
  readonly onChange: (listener: OnChange) => void
}>()("troupe/tools/mcp/Sessions") {
  static readonly layerOf = (capacity: number) => Layer.effect(Sessions, Effect.suspend(() => make(capacity)))
  static readonly layer = Sessions.layerOf(1_000)
}

const idle = "5 minutes"

/** After these the session is over, or nobody knows. */
const spoils = new Set(["session", "unreachable", "lost", "broken"])

const make = Effect.fn("Sessions.make")(function*(capacity: number) {
  const connections = yield* Connections
  const outbound = yield* Outbound
  let listener: OnChange = () => {}

  const credential = Effect.fnUntraced(function*(workspace: string, connectionId: string | undefined) {
    if (connectionId === undefined) return {}
    const secret = yield* connections.secret(workspace, connectionId).pipe(
      Effect.catchTag("DatabaseUnavailable", () => Effect.fail(new McpFailure({ reason: "unreachable", message: "the connection's secret cannot be read now" })))
    )
    if (secret === undefined || secret.kind === "signing") {
      return yield* new McpFailure({ reason: "unauthorized", message: "the connection holds no token that can be used" })
    }
    const found: Credential = {
      token: Redacted.value(secret.kind === "token" ? secret.token : secret.apiKey),
      ...(secret.allowedHosts !== undefined && { allowedHosts: secret.allowedHosts })
    }
    return found
  })

  const optionsOf = (workspace: string, { connectionId, url }: { readonly url: string; readonly connectionId?: string | undefined }): TransportOptions => ({
    url,
    credential: () => Effect.runPromise(credential(workspace, connectionId)),
    fetch: outbound.fetch
  })

  const held = yield* RcMap.make({
    lookup: (place: Place) => {
      const tell = (what: Parameters<OnChange>[2]) => listener(place.workspace, place.toolsetId, what)
      return openSession(optionsOf(place.workspace, place), () => tell("announced")).pipe(Effect.tap(() => Effect.sync(() => tell("opened"))))
    },
    idleTimeToLive: idle,
    capacity
  })
  // Before the map closes them one after the other: all at once, since each may take its time to say goodbye.
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(RcMap.keys(held), (places) => Effect.forEach([...places], (place) => RcMap.invalidate(held, place), { concurrency: "unbounded", discard: true })))

  return Sessions.of({
    use: (workspace, toolsetId, { connectionId, url }, work) => {
      const place = new Place({ workspace, toolsetId, url, connectionId })
      const spoil = RcMap.invalidate(held, place)
      const session = RcMap.get(held, place).pipe(
        // M1. Whoever is using it keeps it to the end.
        Effect.catchTag("ExceededCapacityError", () => Effect.andThen(Effect.flatMap(RcMap.keys(held), ([oldest]) => oldest === undefined ? Effect.void : RcMap.invalidate(held, oldest)), RcMap.get(held, place))),
        Effect.catchTag("ExceededCapacityError", () => Effect.fail(new McpFailure({ reason: "unreachable", message: "this node has too many sessions with tool servers" }))),
        Effect.tapError(() => spoil)
      )
      return Effect.scoped(Effect.flatMap(session, (open) =>
        work(open).pipe(Effect.tapError((failure) => spoils.has(failure.reason) ? spoil : Effect.void))))
    },
    probe: (workspace, server, work) => withSession(optionsOf(workspace, server), work),
    onChange: (heard) => { listener = heard }
  })
})
