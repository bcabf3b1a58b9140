/**
 * `/metrics`, as Prometheus reads it: on the API's listener, or on one of its own that no proxy leads to.
 *
 * M1. The text is made at most once a second, however many ask: the same bytes to all of them.
 * M2. A listener of its own that cannot be had is one warning: the node runs without.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { once } from "node:events"
import type { Server } from "node:http"
import type { Address } from "../src/config/forms.ts"
import { makePeers, makeServer } from "./listen.ts"

export const metricsPath = "/metrics"

const contentType = "text/plain; version=0.0.4; charset=utf-8"
const freshMs = 1_000

/** The text of this moment, or of up to a second ago. `now` in milliseconds, monotonic. */
export const makeRendered = (render: () => string, now: () => number) => {
  let at = -Infinity
  let bytes = Buffer.alloc(0)
  return () => {
    if (now() - at >= freshMs) {
      bytes = Buffer.from(render())
      at = now()
    }
    return bytes
  }
}

const rendered = Effect.map(Effect.context<never>(), (context) =>
  makeRendered(
    () => PrometheusMetrics.formatUnsafe(context),
    () => performance.now()
  )
)

/** On the API's listener. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const text = yield* rendered
    yield* router.add(
      "GET",
      metricsPath,
      Effect.sync(() => HttpServerResponse.uint8Array(text(), { contentType }))
    )
  })
)

const serve = (text: () => Buffer) => {
  const server = makeServer(makePeers({ connections: 100, isCounted: false }))
  server.on("request", (request, response) => {
    const found = request.url === metricsPath && (request.method === "GET" || request.method === "HEAD")
    response.writeHead(found ? 200 : 404, found ? { "content-type": contentType } : {})
    response.end(found && request.method === "GET" ? text() : undefined)
  })
  return server
}

const open = async (server: Server, { host, port }: Address) => {
  server.listen(port, host)
  await once(server, "listening")
  const bound = server.address()
  return typeof bound === "object" && bound !== null ? bound.port : port
}

const close = (server: Server) =>
  Effect.sync(() => {
    server.close()
    server.closeAllConnections()
  })

const show = (host: string) => (host.includes(":") ? `[${host}]` : host)

/** On a listener of its own (M2). */
export const layerAt = (address: Address) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const text = yield* rendered
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => serve(text)),
        close
      )
      const where = (port: number) => ({ url: `http://${show(address.host)}:${port}${metricsPath}` })
      yield* Effect.matchEffect(Effect.tryPromise({ try: () => open(server, address), catch: (cause) => cause }), {
        onSuccess: (port) => Effect.logInfo("metrics", where(port)),
        onFailure: (cause) =>
          Effect.logWarning(
            "metrics cannot be served there, and this node runs without: give another address in TROUPE_METRICS, " +
              "or off",
            where(address.port),
            cause
          )
      })
    })
  )
