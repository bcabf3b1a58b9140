/**
 * The listener: Node's HTTP server with its limits, under Effect's router.
 *
 * N1. What is not HTTP gets an ErrorResponse too, and the connection is closed.
 * N2. When the scope closes, no new connection is taken, idle ones are closed, and requests under way
 *     have `drainSeconds` to end.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { createServer, type Server } from "node:http"
import type { Socket } from "node:net"
import { leanServer } from "./lean.ts"

export interface Listener {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly drainSeconds?: number
  /** Sees the server before it listens: request metrics and logs attach here. */
  readonly observe?: (server: Server) => void
}

const malformed = (status: string, message: string) => {
  const body = JSON.stringify({ error: "invalid_request", message })
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
}

const refuseClient = (error: NodeJS.ErrnoException, socket: Socket) => {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  socket.end(
    error.code === "HPE_HEADER_OVERFLOW" ? malformed("431 Request Header Fields Too Large", "the headers are too large")
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? malformed("408 Request Timeout", "the request took too long to arrive")
      : malformed("400 Bad Request", "not a valid HTTP request")
  )
}

const makeServer = (observe: Listener["observe"]) => () => {
  // Longer than any proxy in front keeps its end open, so that none of its requests meets a closing socket.
  const server = createServer({ keepAliveTimeout: 75_000, headersTimeout: 30_000, requestTimeout: 120_000, optimizeEmptyRequests: true })
  server.on("clientError", refuseClient)
  observe?.(server)
  return server
}

/** A path is its characters: `/v1/Threads`, `/v1//threads` and `/v1/threads/` are other paths, and lead nowhere. */
const exact = Layer.succeed(HttpRouter.RouterConfig, { caseSensitive: true, ignoreDuplicateSlashes: false, ignoreTrailingSlash: false })

/** Serves routes. The HttpServer is kept visible: its address tells the port. */
export const listen = <A, E, R>(routes: Layer.Layer<A, E, R>, { drainSeconds = 20, host, observe, port }: Listener) =>
  HttpRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
    Layer.provide(exact),
    Layer.provideMerge(leanServer),
    Layer.provideMerge(NodeHttpServer.layer(makeServer(observe), { host, port, gracefulShutdownTimeout: `${drainSeconds} seconds` }))
  )

/** The port of the server in context. */
export const portOf = (server: { readonly address: unknown }) =>
  typeof server.address === "object" && server.address !== null && "port" in server.address && typeof server.address.port === "number"
    ? Effect.succeed(server.address.port)
    : Effect.die(new Error("the server does not listen on a port"))
