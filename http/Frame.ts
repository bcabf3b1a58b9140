/**
 * What every answer of the server carries, whether a route matched or not: its request id and
 * security headers, 404 and 405 for what no route takes, and a 500 that says nothing for what broke.
 *
 * F1. Every answer carries X-Request-Id; every error, an ErrorResponse.
 * F2. A defect is logged with its request id and cause; the client learns the id only.
 * F3. An interrupt is not a failure: it passes.
 * F4. A request by a name that is not this server's is refused, whatever it asks for (hosts.ts), and one of HTTP/1.1
 *     that names none.
 */
import { Cause, Context, Effect } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { IncomingMessage } from "node:http"
import { Refused, toRefused } from "./errors.ts"
import { toResponse } from "./refusing.ts"
import { header } from "./headers.ts"
import { isAllowedHost, misdirected } from "./hosts.ts"
import { requestIdOf } from "../src/telemetry/requestId.ts"

/** Methods by path, of the interface and of what stands beside it. */
type Allowed = ReadonlyArray<{ readonly path: RegExp; readonly methods: ReadonlySet<string> }>

const pattern = (path: string) =>
  new RegExp(
    `^${path
      .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
      .replace(/\*$/, ".*")
      .replace(/:[A-Za-z]+/g, "[^/]+")}$`
  )

const allowedOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  more: ReadonlyArray<string>
): Allowed => {
  const methods = new Map<string, Set<string>>(more.map((path) => [path, new Set(["GET", "HEAD"])]))
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const known = methods.get(endpoint.path) ?? new Set()
      known.add(endpoint.method)
      if (endpoint.method === "GET") known.add("HEAD")
      methods.set(endpoint.path, known)
    }
  })
  return [...methods].map(([path, set]) => ({ path: pattern(path), methods: set }))
}

/** RFC 9112, section 3.2. */
const lacksHost = ({ source }: HttpServerRequest.HttpServerRequest) =>
  source instanceof IncomingMessage && source.headers.host === undefined && source.httpVersion === "1.1"

const hostless = new Refused({ error: "invalid_request", message: "the request names no host: it needs a Host header" })

const always = { "x-content-type-options": "nosniff" }
/** Unless an answer says otherwise. */
const unkept = { ...always, "cache-control": "no-store" }

/**
 * `more`: paths with GET that are not part of the interface's value; one that ends with `*` stands for all below.
 * `hosts`: names that requests may come by; undefined: any.
 */
export const layer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  more: ReadonlyArray<string>,
  hosts: ReadonlyArray<string> | undefined
) =>
  HttpRouter.middleware(
    Effect.sync(() => {
      const allowed = allowedOf(api, more)
      const comesByName = hosts === undefined ? () => true : isAllowedHost(hosts)

      const noRoute = (request: HttpServerRequest.HttpServerRequest) => {
        const path = request.url.split("?", 1)[0]!
        const known = allowed.find((entry) => entry.path.test(path))
        // A known path and method that no route took: an id that is too long, or that is not text at all.
        if (known === undefined || known.methods.has(request.method))
          return toResponse(new Refused({ error: "not_found", message: "no such path" }))
        const allow = [...known.methods].join(", ")
        return toResponse(new Refused({ error: "method_not_allowed", message: `this path takes ${allow}` }), { allow })
      }

      const broken = (cause: Cause.Cause<unknown>, id: string) =>
        Effect.as(
          Effect.annotateLogs(Effect.logError("a request failed", cause), { requestId: id }),
          toResponse(
            new Refused({ error: "internal", message: `something went wrong on our side; the request's id is ${id}` })
          )
        )

      return (app) =>
        Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
          const request = Context.get(context, HttpServerRequest.HttpServerRequest)
          const id = requestIdOf(header(request, "x-request-id"))
          const framed = (response: HttpServerResponse.HttpServerResponse) =>
            HttpServerResponse.setHeaders(response, {
              ...(response.headers["cache-control"] === undefined ? unkept : always),
              "x-request-id": id
            })
          if (lacksHost(request)) return Effect.succeed(framed(toResponse(hostless)))
          if (!comesByName(header(request, "host"))) return Effect.succeed(framed(toResponse(misdirected())))
          return Effect.matchCauseEffect(app, {
            onSuccess: (response) => Effect.succeed(framed(response)),
            onFailure: (cause) => {
              if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
              const failure = cause.reasons.find(Cause.isFailReason)?.error
              if (HttpServerError.isHttpServerError(failure) && failure.reason._tag === "RouteNotFound")
                return Effect.succeed(framed(noRoute(request)))
              const refused = toRefused(failure)
              return refused === undefined
                ? Effect.map(broken(cause, id), framed)
                : Effect.succeed(framed(toResponse(refused)))
            }
          })
        })
    }),
    { global: true }
  )
