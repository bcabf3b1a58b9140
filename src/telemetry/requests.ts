/**
 * Counts and logs HTTP requests from outside: it listens to Node's server instead of wrapping every
 * request in an effect, which the library's own logger does at 190 us a turn.
 *
 * R1. Every answer is counted, under its route with the ids left out.
 * R2. Answers of 500 and above are always logged; of slow ones at most `perSecond` in a second, of the others as many
 *     again, and the next line says how many were skipped.
 * R3. Paths are logged as routes: no id, no query, no header but the request's id.
 * R4. A request without an id of its own, or with an unfit one, gets one here, before anything reads it.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { adjust, httpDuration, httpRequests, record, streamsOpen } from "./metrics.ts"
import { requestIdOf } from "./requestId.ts"

export interface RequestEntry {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly ms: number
  readonly requestId?: string
  readonly skipped?: number
  /** The client went away before the answer was complete. */
  readonly cut: boolean
}

const id = /\/[a-z]+_[0-9A-Za-z]{16,64}(?=\/|$)/g
const word = /^:id$|^[a-z][a-z0-9.-]{0,31}$/
const routes = new Map<string, string>()

/**
 * `/v1/threads/thr_…/events?x` -> `/v1/threads/:id/events`; what cannot be one of ours is `other`. Bounded,
 * and what is in stays in: a route that came and went would be another label of the metrics each time.
 */
export const routeOf = (url: string) => {
  const query = url.indexOf("?")
  const shape = (query < 0 ? url : url.slice(0, query)).replace(id, "/:id")
  const known = routes.get(shape)
  if (known !== undefined) return known
  const route = shape
    .split("/", 9)
    .slice(1)
    .map((segment) => (word.test(segment) ? `/${segment}` : "/*"))
    .join("")
  if (routes.has(route)) return route
  if (routes.size >= 256) return "other"
  routes.set(route, route)
  return route
}

export interface RequestOptions {
  readonly log: (entry: RequestEntry) => void
  /** R2. Default 20; 0 logs only answers of 500 and above. */
  readonly perSecond?: number
  /** R2, milliseconds. Default 1,000. */
  readonly slow?: number
}

/** Attaches to the server before it listens. */
export const watchRequests = (server: Server, { log, perSecond = 20, slow = 1_000 }: RequestOptions) => {
  let second = 0
  const logged = { slow: 0, other: 0 }
  let skipped = 0
  const mayLog = (now: number, kind: keyof typeof logged) => {
    const current = Math.floor(now / 1_000)
    if (current !== second) {
      second = current
      logged.slow = 0
      logged.other = 0
    }
    if (logged[kind] >= perSecond) return false
    logged[kind]++
    return true
  }
  const ended = (request: IncomingMessage, response: ServerResponse, started: number, streaming: boolean) => {
    const now = performance.now()
    const ms = now - started
    const method = request.method ?? "GET"
    const status = response.statusCode
    // A path that nobody serves would make a label of whatever a scanner asks for.
    const route = status === 404 ? "unknown" : routeOf(request.url ?? "/")
    record(httpRequests.with({ method, route, status: String(status) }))
    if (streaming) adjust(streamsOpen, -1)
    else record(httpDuration.with({ method, route }), ms / 1_000)
    if (status >= 500 || mayLog(now, ms >= slow && !streaming ? "slow" : "other")) {
      const requestId = request.headers["x-request-id"]
      log({
        method,
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        cut: !response.writableFinished && !streaming,
        ...(typeof requestId === "string" ? { requestId } : {}),
        ...(skipped > 0 ? { skipped } : {})
      })
      skipped = 0
    } else skipped++
  }
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const started = performance.now()
    const sent = request.headers["x-request-id"]
    request.headers["x-request-id"] = requestIdOf(typeof sent === "string" ? sent : undefined)
    const streaming =
      request.headers.accept?.includes("text/event-stream") === true || /\/stream(\?|$)/.test(request.url ?? "")
    if (streaming) adjust(streamsOpen, 1)
    response.once("close", () => ended(request, response, started, streaming))
  })
}
