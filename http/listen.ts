/**
 * The listener: Node's HTTP server with its limits, under Effect's router.
 *
 * N1. Bytes that are no HTTP get an ErrorResponse too, and the connection is closed.
 * N2. Connections are peers: one request of each at a time, at a least pace (Peer.ts, Peers.ts, Room.ts).
 * N3. Nothing is upgraded: a request that asks for it is answered as if it had not. Node ends the connection of a
 *     CONNECT at once, without an answer.
 * N4. When the scope closes, no new connection is taken, idle ones are closed, and requests under way
 *     have `drainSeconds` to end.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { createServer, type Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { leanServer } from "./lean.ts"
import { peerOf } from "./Peer.ts"
import { type Pace, paceDefaults, Peers } from "./Peers.ts"
import { Room, roomDefaults, type RoomOptions } from "./Room.ts"

export interface Listener {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly drainSeconds?: number
  /** Sees the server before it listens: request metrics and logs attach here. */
  readonly observe?: (server: Server) => void
  readonly pace?: Partial<Pace>
  readonly room?: Partial<RoomOptions>
}

const malformed = (status: string, message: string) => {
  const body = JSON.stringify({ error: "invalid_request", message })
  return (
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ` +
    `${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  )
}

const tooLate = malformed("408 Request Timeout", "the request took too long to arrive")

const refuseClient = (error: NodeJS.ErrnoException, socket: Socket) => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  socket.end(
    error.code === "HPE_HEADER_OVERFLOW"
      ? malformed("431 Request Header Fields Too Large", "the headers are too large")
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? tooLate
        : malformed("400 Bad Request", "not a valid HTTP request")
  )
}

/** For a body that does not come: what was to be said, and the end. */
const refuseSlow = (socket: Socket) => {
  socket.end(tooLate)
  socket.destroySoon()
}

/**
 * An answer whose body, where it is one text, Node writes in one piece with its head. Effect's server has Node hold
 * each answer to its Content-Length, and then the end is a piece of its own, which the kernel has to gather. A body
 * that comes whole was measured when its head was made. An answer must not name a Content-Length of its own: nothing
 * would compare it with the body.
 */
class Answer extends ServerResponse {
  override end(...given: ReadonlyArray<unknown>): this {
    const [body] = given
    if (typeof body === "string" || body instanceof Uint8Array) this.strictContentLength = false
    return Reflect.apply(super.end, this, given)
  }
}

/** A server whose connections are peers. */
export const makeServer = (peers: Peers) => {
  const server = createServer({
    ServerResponse: Answer,
    // Longer than any proxy in front keeps its end open, so that none of its requests meets a closing socket.
    keepAliveTimeout: 75_000,
    headersTimeout: 30_000,
    // A body has a least pace instead of a deadline.
    requestTimeout: 0,
    optimizeEmptyRequests: true,
    // Node would answer those that name no host past the peer, all that one read holds: Frame.ts does (F4).
    requireHostHeader: false,
    shouldUpgradeCallback: () => false
  })
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const peer = peerOf(socket)
    // A head that is not read is late for our reasons.
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && peer?.isHeld === true) return
    if (peer === undefined) refuseClient(error, socket)
    else peer.garbled(() => refuseClient(error, socket))
  })
  // Expectations that nobody knows may be ignored (RFC 9110, 10.1.1); Node would answer them past the peer.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  peers.attend(server)
  return server
}

export const makePeers = (pace?: Partial<Pace>) => new Peers({ ...paceDefaults, ...pace }, refuseSlow)

/** A path is its characters: `/v1/Threads`, `/v1//threads` and `/v1/threads/` are other paths, and lead nowhere. */
const exact = Layer.succeed(HttpRouter.RouterConfig, {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false
})

/**
 * Connections that wait to be taken while the event loop is busy. Above it the kernel drops what begins a connection,
 * and its client tries again only after a second, then after two more: Node's 511 are a burst of one hostile client.
 * The kernel has a cap of its own (`net.core.somaxconn`, usually 4,096).
 */
const backlog = 4_096

/** Serves routes. The HttpServer is kept visible: its address tells the port. */
export const listen = <A, E, R>(
  routes: Layer.Layer<A, E, R>,
  { drainSeconds = 20, host, observe, pace, port, room }: Listener
) =>
  Layer.suspend(() => {
    const peers = makePeers(pace)
    const start = () => {
      const server = makeServer(peers)
      observe?.(server)
      return server
    }
    return HttpRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
      Layer.provide([exact, Room.layerOf(peers.open, { ...roomDefaults, ...room })]),
      Layer.provideMerge(leanServer),
      Layer.provideMerge(
        NodeHttpServer.layer(start, { host, port, backlog, gracefulShutdownTimeout: `${drainSeconds} seconds` })
      )
    )
  })

/** The port of the server in context. */
export const portOf = (server: { readonly address: unknown }) =>
  typeof server.address === "object" &&
  server.address !== null &&
  "port" in server.address &&
  typeof server.address.port === "number"
    ? Effect.succeed(server.address.port)
    : Effect.die(new Error("the server does not listen on a port"))
