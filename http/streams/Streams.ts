/**
 * The open streams of this node: how many a key may have, who is still allowed to watch, who still
 * reads, and how all of them end.
 *
 * S1. A stream ends with `bye auth_expired` when its credential expires, is revoked or disabled: at
 *     most a beat of the lease after the auth revision says so, and sooner if the bus tells.
 * S2. A watcher that has taken nothing for 30 s while something waited is dropped.
 * S3. On drain every stream ends with `bye draining`, and no new one begins.
 * S4. Whatever ends a stream closes its scope: nothing of it stays.
 */
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Bus } from "../../src/bus/Bus.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { freshBody } from "../../src/seed.ts"
import { record, streamsDropped } from "../../src/telemetry/metrics.ts"
import type { Caller } from "../Caller.ts"
import { Credentials } from "../Credentials.ts"
import { Refused } from "../errors.ts"
import { bearerOf } from "../headers.ts"
import { bye, opening, ping } from "./frames.ts"
import { Outbox } from "./Outbox.ts"

export interface StreamOptions {
  /** Streams that one key may have open at once; 0 is without end. */
  readonly perKey: number
  /** Milliseconds between pings. */
  readonly pingMs: number
  /** Milliseconds after which a watcher that takes nothing is dropped. */
  readonly stallMs: number
  /** Milliseconds between looks at all streams. */
  readonly tickMs: number
}

export const streamDefaults: StreamOptions = { perKey: 100, pingMs: 15_000, stallMs: 30_000, tickMs: 1_000 }

/** How long a client may take to read its `bye`. */
const farewellMs = 2_000

const headers = { "cache-control": "no-cache", "x-accel-buffering": "no" }

interface Open {
  readonly outbox: Outbox
  readonly scope: Scope.Closeable
  readonly token: string
  readonly caller: Caller["Service"]
  pingedAt: number
}

export interface Watcher {
  readonly outbox: Outbox
  readonly streamId: string
}

export class Streams extends Context.Service<Streams, {
  /**
   * Opens a stream: `start` subscribes, offers `ready` and forks what follows, all in the stream's scope.
   * When it fails, the request is refused and nothing stays.
   */
  readonly open: <E, R>(
    request: HttpServerRequest.HttpServerRequest,
    caller: Caller["Service"],
    start: (watcher: Watcher) => Effect.Effect<void, E, R | Scope.Scope>
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E | Refused<"rate_limited" | "node_draining">, Exclude<R, Scope.Scope>>
  /** Says goodbye to all of them; returns when they are gone, or after two seconds. */
  readonly drain: Effect.Effect<void>
  /** Whether the drain has begun. */
  readonly draining: () => boolean
  /** Waits for the drain to begin: requests that wait for news end with it. */
  readonly leaving: Effect.Effect<void>
  readonly count: () => number
}>()("troupe/http/Streams") {
  static readonly layerWith = (options: StreamOptions) => Layer.effect(Streams, Effect.suspend(() => make(options)))
  static readonly layer = Streams.layerWith(streamDefaults)
}

const make = Effect.fnUntraced(function*(options: StreamOptions) {
  const bus = yield* Bus
  const credentials = yield* Credentials
  const lease = yield* Lease
  const services = yield* Effect.context<never>()
  const streams = new Set<Open>()
  const perKey = new Map<string, number>()
  const leaving = Deferred.makeUnsafe<void>()
  let draining = false

  const forget = (stream: Open) => {
    if (!streams.delete(stream)) return
    const { keyId } = stream.caller
    const left = (perKey.get(keyId) ?? 1) - 1
    if (left === 0) perKey.delete(keyId)
    else perKey.set(keyId, left)
    Effect.runForkWith(services)(Scope.close(stream.scope, Exit.void))
  }

  /** Its last words, and the line is cut if they are not read. */
  const end = (stream: Open, reason: "draining" | "auth_expired") => {
    stream.outbox.end(bye(reason))
    setTimeout(() => stream.outbox.destroy(), farewellMs).unref()
  }

  const open: Streams["Service"]["open"] = (request, caller, start) =>
    Effect.uninterruptibleMask((restore) => Effect.gen(function*() {
      if (draining) return yield* new Refused({ error: "node_draining", message: "this node is shutting down; try again", retryAfterSeconds: 1 })
      const already = perKey.get(caller.keyId) ?? 0
      if (options.perKey > 0 && already >= options.perKey) {
        return yield* new Refused({
          error: "rate_limited", code: "too_many_streams", message: `a key may have at most ${options.perKey} streams open`, retryAfterSeconds: 5
        })
      }
      const scope = yield* Scope.make()
      const outbox = new Outbox(() => forget(stream))
      const stream: Open = {
        outbox, scope, caller, token: bearerOf(request) ?? "", pingedAt: performance.now()
      }
      streams.add(stream)
      perKey.set(caller.keyId, already + 1)
      outbox.offer({ text: opening })
      yield* restore(Scope.provide(start({ outbox, streamId: `stream_${freshBody()}` }), scope)).pipe(
        Effect.onError(() => Effect.sync(() => {
          outbox.destroy()
          forget(stream)
        }))
      )
      return HttpServerResponse.raw(outbox.readable, { contentType: "text/event-stream", headers })
    }))

  /** Credentials are looked up once each, however many streams hold them. */
  let revision = lease.authRevision()
  let told = false
  yield* bus.onAuthChanged(() => { told = true })
  const authorise = Effect.gen(function*() {
    const before = lease.authRevision()
    if (before === revision && !told) return
    told = false
    const tokens = Map.groupBy([...streams], (stream) => stream.token)
    yield* Effect.forEach(tokens, ([token, held]) => {
      const remembered = credentials.remembered(token)
      return Effect.map(remembered === undefined ? credentials.find(token) : Effect.succeed(remembered), (credential) => {
        if (credential === undefined || credential.identityDisabled) for (const stream of held) end(stream, "auth_expired")
      })
    }, { concurrency: 4, discard: true })
    revision = before
  }).pipe(Effect.catch((cause) => {
    told = true
    return Effect.logWarning("streams could not be authorised again", cause)
  }))

  const tick = Effect.sync(() => {
    const now = performance.now()
    const time = lease.now()
    for (const stream of streams) {
      const { caller: { expiresAt }, outbox } = stream
      if (outbox.stalledFor > options.stallMs) {
        record(streamsDropped)
        outbox.destroy()
      }
      else if (expiresAt !== undefined && expiresAt <= time) end(stream, "auth_expired")
      else if (now - stream.pingedAt >= options.pingMs) {
        stream.pingedAt = now
        outbox.offer({ text: ping, key: "ping" })
      }
    }
  })
  const watch = yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.andThen(tick, authorise), options.tickMs)))

  const drain = Effect.gen(function*() {
    draining = true
    Deferred.doneUnsafe(leaving, Effect.void)
    for (const stream of streams) end(stream, "draining")
    const until = performance.now() + farewellMs + 500
    while (streams.size > 0 && performance.now() < until) yield* Effect.sleep(20)
  })
  yield* Effect.addFinalizer(() => Effect.gen(function*() {
    yield* Fiber.interrupt(watch)
    draining = true
    for (const stream of [...streams]) stream.outbox.destroy()
  }))

  return Streams.of({ open, drain, draining: () => draining, leaving: Deferred.await(leaving), count: () => streams.size })
})
