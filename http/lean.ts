/**
 * Requests with few services in their context. HttpApi copies the context of every request, and merges into the copy
 * what a group of handlers was made with, entry by entry: of all services of the program that was a tenth of a
 * request's cost, of those of http/ still a twentieth.
 *
 * L1. A handler of a lean group takes the program's services when it is made. At a request it finds what the group
 *     names, its gate, and what the library keeps of the request itself.
 * L2. A request begins with the library's references, as they were set for the program (loggers and levels), and with
 *     nothing else.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { type HttpRouter, HttpServer } from "effect/http"
import { Authenticate } from "./Authenticate.ts"

const isReference = (key: string) => key.startsWith("effect/References/") || key.startsWith("effect/Logger/")

const only =
  <R>(wanted: (key: string) => boolean) =>
  (context: Context.Context<R>): Context.Context<R> =>
    Context.makeUnsafe<R>(new Map([...context.mapUnsafe].filter(([key]) => wanted(key))))

/** What a lean group may need: its gate, and what it names, at a request or before. */
type Needed<Service> = Authenticate | Service | HttpRouter.Request<"Requires", Service>

/** Builds the layer in a context of these services alone, and the gate that every group has. */
export const lean = <A, E, R extends Needed<Service>, Service = never>(
  layer: Layer.Layer<A, E, R>,
  ...services: ReadonlyArray<Context.Key<Service, unknown>>
): Layer.Layer<A, E, R> => {
  const keys = new Set([Authenticate, ...services].map(({ key }) => key))
  return Layer.fromBuild((memoMap, scope) =>
    Effect.updateContext(
      Layer.buildWithMemoMap(layer, memoMap, scope),
      only<R>((key) => keys.has(key))
    )
  )
}

/** The same for the server, in whose context every request begins. */
export const leanServer = Layer.effect(
  HttpServer.HttpServer,
  Effect.map(HttpServer.HttpServer, (server) =>
    HttpServer.make({
      address: server.address,
      serve: (app, middleware) =>
        Effect.updateContext(
          middleware === undefined ? server.serve(app) : server.serve(app, middleware),
          only<Scope.Scope>((key) => key === "effect/Scope" || isReference(key))
        )
    })
  )
)
