/**
 * The one HTTP client for servers of others: tool servers, hooks and whatever a workspace names.
 *
 * O1. No address is connected to that is not allowed (`addresses.ts`), and the one connected to is the one that was
 *     checked (`connector.ts`).
 * O2. Time, headers and bodies are capped, and no redirect is followed (`exchange.ts`).
 * O3. Connections are kept for a short while, and each workspace has its own, bounded in number (`pools.ts`).
 */
import { Context, Effect, Layer } from "effect"
import { Readable } from "node:stream"
import { guardedConnector, type Resolve, systemResolve } from "./connector.ts"
import { type ExchangeRequest, type Caps, exchange } from "./exchange.ts"
import { asOutboundFailure, outboundFailure, type OutboundFailure } from "./OutboundFailure.ts"
import { makePools, type PoolLimits, usualPools } from "./pools.ts"
import type { Reach } from "../domain/url.ts"
import { urlProblemOf, type UrlProblem } from "./urls.ts"

export interface OutboundRequest {
  /** Who asks: its connections are its own. */
  readonly workspace: string
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Of the whole exchange: name, connection, headers and body. */
  readonly timeoutMs: number
  /** Of the answer's body, as sent and decoded. */
  readonly maxBytes: number
  /** Nothing else may be asked (where a connection's secret may go). */
  readonly reach?: Reach | undefined
}

export interface OutboundAnswer {
  /** Never a 3xx. */
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** As UTF-8; what is none becomes U+FFFD. */
  readonly body: string
}

export interface FetchLimits {
  /** From the start of a request to its headers; 30 s. */
  readonly headerTimeoutMs?: number
  /** From the headers to the end of the body, be it a stream that never ends; 10 min. */
  readonly bodyTimeoutMs?: number
  /** Of one body, as sent and decoded; 8 MiB. */
  readonly maxBytes?: number
  readonly reach?: Reach | undefined
}

export class Outbound extends Context.Service<
  Outbound,
  {
    /** One exchange, its body read whole. Interruption closes its connection. */
    readonly request: (options: OutboundRequest) => Effect.Effect<OutboundAnswer, OutboundFailure>
    /**
     * A WHATWG fetch behind the same guard, for libraries that take one. Bodies stream. It rejects, and bodies fail,
     * with OutboundFailure, or with the caller's own reason where the caller aborts. `redirect`, `credentials` and the
     * like are not looked at: there are neither redirects nor cookies.
     */
    readonly fetch: (workspace: string, limits?: FetchLimits) => typeof globalThis.fetch
    /**
     * Why a URL would be refused before its host is looked up; undefined where it may be asked. For URLs to be stored.
     */
    readonly refuses: (url: string) => UrlProblem | undefined
  }
>()("troupe/outbound/Outbound") {
  static readonly layer = (options: OutboundOptions) => Layer.effect(Outbound, make(options))
}

export interface OutboundOptions {
  /** TROUPE_ALLOW_PRIVATE_NETWORK: http and private addresses. */
  readonly allowPrivateNetwork: boolean
  readonly connectMs?: number
  readonly pools?: Partial<PoolLimits>
  /** For tests: names to addresses. */
  readonly resolve?: Resolve
}

const usual: Caps = { headerTimeoutMs: 30_000, bodyTimeoutMs: 600_000, maxBytes: 8 * 1024 * 1024 }

const make = Effect.fnUntraced(function* ({
  allowPrivateNetwork,
  connectMs = 5_000,
  pools: limits,
  resolve = systemResolve
}: OutboundOptions) {
  const pools = yield* Effect.acquireRelease(
    Effect.sync(() =>
      makePools(guardedConnector({ allowPrivateNetwork, connectMs, resolve }), { ...usualPools, ...limits })
    ),
    (pools) => Effect.promise(() => pools.destroy())
  )

  const send = async (
    workspace: string,
    request: ExchangeRequest,
    caps: Caps,
    reach: Reach | undefined,
    signal: AbortSignal
  ) => {
    const problem = urlProblemOf(request.url, { allowPrivateNetwork, reach })
    if (problem !== undefined) throw outboundFailure(problem.reason, problem.message)
    const { dispatcher, done } = pools.lend(workspace, request.url.origin)
    try {
      const answer = await exchange(dispatcher, request, caps, signal)
      answer.body.once("close", done)
      return answer
    } catch (error) {
      done()
      throw error
    }
  }

  const whole = async (
    { body, headers = {}, maxBytes, method, reach, timeoutMs, url, workspace }: OutboundRequest,
    signal: AbortSignal
  ): Promise<OutboundAnswer> => {
    if (!URL.canParse(url)) throw outboundFailure("forbidden_url", "not a URL")
    const late = new AbortController()
    const timer = setTimeout(
      () => late.abort(outboundFailure("timeout", `no whole answer within ${timeoutMs} ms`)),
      timeoutMs
    )
    try {
      const caps = { headerTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs, maxBytes }
      const answer = await send(
        workspace,
        { method, url: new URL(url), headers, body },
        caps,
        reach,
        AbortSignal.any([signal, late.signal])
      )
      const chunks: Array<Uint8Array> = []
      for await (const chunk of answer.body) chunks.push(chunk)
      return { status: answer.status, headers: answer.headers, body: Buffer.concat(chunks).toString("utf8") }
    } finally {
      clearTimeout(timer)
    }
  }

  return Outbound.of({
    request: (options) =>
      Effect.tryPromise({
        try: (signal) => whole(options, signal),
        catch: (error) => error
      }).pipe(
        // What is no failure of an exchange is a fault of ours.
        Effect.catch((error) => {
          const failure = asOutboundFailure(error)
          return failure === undefined ? Effect.die(error) : Effect.fail(failure)
        }),
        Effect.withSpan("Outbound.request", { attributes: { method: options.method } })
      ),

    fetch: (workspace, { reach, ...limits } = {}) => {
      const caps = { ...usual, ...limits }
      return async (input, init) => {
        const sent = new Request(input, init)
        // Bodies that go out are small and known: read whole, they have a length and can be of any kind that fetch
        // takes.
        const body = sent.body === null ? undefined : new Uint8Array(await sent.arrayBuffer())
        const request = { method: sent.method, url: new URL(sent.url), headers: Object.fromEntries(sent.headers), body }
        const answer = await send(workspace, request, caps, reach, sent.signal)
        const bodiless = answer.status === 204 || answer.status === 205
        if (bodiless) answer.body.resume()
        return new Response(bodiless ? null : Readable.toWeb(answer.body), {
          status: answer.status,
          headers: answer.headers
        })
      }
    },

    refuses: (url) => urlProblemOf(url, { allowPrivateNetwork })
  })
})
