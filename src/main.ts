/** The layers composed: the only place that knows them all. For now it answers that the process lives. */
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import type { NodeSettings } from "./config.ts"
import { observe } from "./telemetry/Telemetry.ts"

/** One node, listening once the layer is built; leaving the scope drains it. Provides HttpServer, whose address is the real one. */
export const serve = (settings: NodeSettings) =>
  Layer.unwrap(Effect.gen(function*() {
    const server = createServer()
    yield* observe(server)
    return HttpRouter.serve(HttpRouter.add("GET", "/healthz", HttpServerResponse.text("ok")), { disableListenLog: true, disableLogger: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(() => server, { port: settings.port, host: settings.host }))
    )
  }))
