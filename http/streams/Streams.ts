/**
 * The open streams of this node, and the requests that wait for news: how many a key may have, who is
 * still allowed to watch, who still reads, and how all of them end.
 *
 * S1. A stream ends with `bye auth_expired`, and a long poll is refused as its next request would be, when its
 *     credential expires, is revoked or disabled: at most a beat of the lease after the auth revision says so, and
 *     sooner if the bus tells. A lease is asked of its thread at every look: no revision tells of the end of a turn.
 * S2. A watcher that has taken nothing for 30 s while something waited is dropped.
 * S3. On drain every stream ends with `bye draining`, and no new one begins.
 * S4. Whatever ends a stream closes its scope: nothing of it stays.
 * S5. Long polls count as streams. They end with what there is on drain.
 * S6. What waits for all watchers together is bounded: beyond `waitingBytes` each holds a frame or two.
 * S7. The streams of a workspace pause after each write, so that together they make about `writesPerSecond` on a node:
 *     the more are open, the more leaves at once (O7 of Outbox.ts). The first few pause for less than a timer can.
 */
import { Context, Effect, Exit, Fiber, FiberSet, Layer, Scope } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Bus } from "../../src/bus/Bus.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { makeMonotonic } from "../../src/monotonic.ts"
import { freshBody } from "../../src/seed.ts"
import { pollsOpen, record, requestsRefused, streamsDropped, streamsWaiting } from "../../src/telemetry/metrics.ts"
import type { Caller } from "../Caller.ts"
import { Credentials } from "../Credentials.ts"
import { Refused } from "../errors.ts"
import { isLease, Leases } from "../Leases.ts"
import { bearerOf, socketOf } from "../headers.ts"
import { peerOf } from "../Peer.ts"
import { bye, opening, ping } from "./frames.ts"
import { Crowd, Outbox } from "./Outbox.ts"

export interface StreamOptions {
  /** Streams and long polls that one key may have open at once; 0 is without end. */
  readonly perKey: number
  /** Milliseconds between pings. */
  readonly pingMs: number
  /** Milliseconds after which a watcher that takes nothing is dropped. */
  readonly stallMs: number
  /** Milliseconds between looks at all streams. */
  readonly tickMs: number
  /** Bytes that may wait for all watchers together. */
  readonly waitingBytes: number
  /** To all sockets of a workspace's streams on this node together (S7). */
  readonly writesPerSecond: number
}

export const streamDefaults: StreamOptions = {
  perKey: 1_000,
  pingMs: 15_000,
  stallMs: 30_000,
  tickMs: 1_000,
  waitingBytes: 64 * 1024 * 1024,
  writesPerSecond: 5_000
}

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

const increase = (counts: Map<string, number>, of: string) => counts.set(of, (counts.get(of) ?? 0) + 1)
const decrease = (counts: Map<string, number>, of: string) => {
  const left = (counts.get(of) ?? 1) - 1
  if (left === 0) counts.delete(of)
  else counts.set(of, left)
}

/** Why a long poll may wait no more. */
export type Ended = Refused<"unauthenticated" | "identity_disabled">

/** A request that waits for news. */
interface Poll {
  readonly token: string
  readonly caller: Caller["Service"]
  readonly onEnd: (why: Ended | undefined) => void
}

export interface Watcher {
  readonly outbox: Outbox
  readonly streamId: string
}

export class Streams extends Context.Service<
  Streams,
  {
    /**
     * Opens a stream: `start` subscribes, offers `ready` and forks what follows, all in the stream's scope.
     * When it fails, the request is refused and nothing stays.
     */
    readonly open: <E, R>(
      request: HttpServerRequest.HttpServerRequest,
      caller: Caller["Service"],
      start: (watcher: Watcher) => Effect.Effect<void, E, R | Scope.Scope>
    ) => Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      E | Refused<"rate_limited" | "node_draining">,
      Exclude<R, Scope.Scope>
    >
    /** Says goodbye to all of them; returns when they are gone, or after two seconds. */
    readonly drain: Effect.Effect<void>
    /**
     * Counts a request that waits for news, until `release`. `onEnd` is called when it may wait no more: with the
     * refusal it ends with, or without one when the node leaves.
     */
    readonly wait: (
      request: HttpServerRequest.HttpServerRequest,
      caller: Caller["Service"],
      onEnd: (why: Ended | undefined) => void
    ) => { readonly release: () => void } | Refused<"rate_limited">
    /** Whether the drain has begun. */
    readonly draining: () => boolean
    readonly count: () => number
    /** Long polls that wait. */
    readonly waiting: () => number
  }
>()("troupe/http/Streams") {
  static readonly layerWith = (options: StreamOptions) =>
    Layer.effect(
      Streams,
      Effect.suspend(() => make(options))
    )
  static readonly layer = Streams.layerWith(streamDefaults)
}

const ended = {
  credential: new Refused({
    error: "unauthenticated",
    code: "invalid_credential",
    message: "the credential has expired, or was revoked"
  }),
  identity: new Refused({ error: "identity_disabled", message: "the identity of this credential is disabled" })
}

const make = Effect.fnUntraced(function* (options: StreamOptions) {
  const bus = yield* Bus
  const credentials = yield* Credentials
  const leases = yield* Leases
  const lease = yield* Lease
  const monotonic = yield* makeMonotonic
  const services = yield* Effect.context<never>()
  // They end with the node's streams: who has not read the last words by then is cut off.
  const fork = yield* FiberSet.runtime(yield* FiberSet.make())()
  const streams = new Set<Open>()
  const polls = new Set<Poll>()
  const perKey = new Map<string, number>()
  /** Streams alone. */
  const perWorkspace = new Map<string, number>()
  const crowd = new Crowd(options.waitingBytes)
  let draining = false

  /** One stream or long poll more of that key, if it may have it. */
  const count = (keyId: string) => {
    if (options.perKey > 0 && (perKey.get(keyId) ?? 0) >= options.perKey) {
      record(requestsRefused.with({ reason: "streams_of_key" }))
      return new Refused({
        error: "rate_limited",
        code: "too_many_streams",
        message: `a key may have at most ${options.perKey} streams and long polls open`,
        retryAfterSeconds: 5
      })
    }
    increase(perKey, keyId)
    return undefined
  }

  const forget = (stream: Open) => {
    if (!streams.delete(stream)) return
    decrease(perKey, stream.caller.keyId)
    decrease(perWorkspace, stream.caller.workspace)
    Effect.runForkWith(services)(Scope.close(stream.scope, Exit.void))
  }

  /** Its last words, and the line is cut if they are not read. */
  const end = (stream: Open, reason: "draining" | "auth_expired") => {
    stream.outbox.end(bye(reason))
    fork(
      Effect.delay(
        Effect.sync(() => stream.outbox.destroy()),
        farewellMs
      )
    )
  }

  const open: Streams["Service"]["open"] = (request, caller, start) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        if (draining)
          return yield* new Refused({
            error: "node_draining",
            message: "this node is shutting down; try again",
            retryAfterSeconds: 1
          })
        const refused = count(caller.keyId)
        if (refused !== undefined) return yield* refused
        const scope = yield* Scope.make()
        const { workspace } = caller
        const pauseMs = () => ((perWorkspace.get(workspace) ?? 0) * 1_000) / options.writesPerSecond
        const outbox = new Outbox(() => forget(stream), monotonic, crowd, pauseMs)
        const stream: Open = {
          outbox,
          scope,
          caller,
          token: bearerOf(request) ?? "",
          pingedAt: monotonic()
        }
        streams.add(stream)
        increase(perWorkspace, workspace)
        const peer = peerOf(socketOf(request))
        if (peer !== undefined) peer.streaming = true
        outbox.offer({ text: opening })
        yield* restore(Scope.provide(start({ outbox, streamId: `stream_${freshBody()}` }), scope)).pipe(
          Effect.onError(() =>
            Effect.sync(() => {
              outbox.destroy()
              forget(stream)
            })
          )
        )
        return HttpServerResponse.raw(outbox.readable, { contentType: "text/event-stream", headers })
      })
    )

  const wait: Streams["Service"]["wait"] = (request, caller, onEnd) => {
    const refused = count(caller.keyId)
    if (refused !== undefined) return refused
    const poll: Poll = { token: bearerOf(request) ?? "", caller, onEnd }
    polls.add(poll)
    return {
      release: () => {
        if (polls.delete(poll)) decrease(perKey, caller.keyId)
      }
    }
  }

  /** Credentials are looked up once each, however many streams and polls hold them. */
  let revision = lease.authRevision()
  let changed = false
  yield* bus.onAuthChanged(() => {
    changed = true
  })
  const authorise = Effect.gen(function* () {
    const before = lease.authRevision()
    const isChanged = before !== revision || changed
    changed = false
    // S1.
    const doubtful = [...streams, ...polls].filter(({ token }) => isChanged || isLease(token))
    const tokens = Map.groupBy(doubtful, ({ token }) => token)
    yield* Effect.forEach(
      tokens,
      ([token, held]) => {
        const known = isLease(token) ? leases : credentials
        const remembered = known.remembered(token)
        return Effect.map(remembered === undefined ? known.find(token) : Effect.succeed(remembered), (credential) => {
          if (credential !== undefined && !credential.identityDisabled) return
          for (const one of held) {
            if ("outbox" in one) end(one, "auth_expired")
            else one.onEnd(credential === undefined ? ended.credential : ended.identity)
          }
        })
      },
      { concurrency: 4, discard: true }
    )
    revision = before
  }).pipe(
    Effect.catch((cause) => {
      changed = true
      return Effect.logWarning("streams could not be authorised again", cause)
    })
  )

  const tick = Effect.sync(() => {
    const now = monotonic()
    const time = lease.now()
    record(pollsOpen, polls.size)
    record(streamsWaiting, crowd.bytes)
    for (const {
      caller: { expiresAt },
      onEnd
    } of polls) {
      if (expiresAt !== undefined && expiresAt <= time) onEnd(ended.credential)
    }
    for (const stream of streams) {
      const {
        caller: { expiresAt },
        outbox
      } = stream
      if (outbox.stalledFor > options.stallMs) {
        record(streamsDropped)
        outbox.destroy()
      } else if (expiresAt !== undefined && expiresAt <= time) end(stream, "auth_expired")
      else if (now - stream.pingedAt >= options.pingMs) {
        stream.pingedAt = now
        outbox.offer({ text: ping, key: "ping" })
      }
    }
  })
  // Each by itself: however long it takes to look leases up, nobody misses a ping.
  const looks = yield* Effect.forEach([tick, authorise], (look) =>
    Effect.forkScoped(Effect.forever(Effect.delay(look, options.tickMs)))
  )

  const drain = Effect.gen(function* () {
    draining = true
    for (const { onEnd } of polls) onEnd(undefined)
    for (const stream of streams) end(stream, "draining")
    const until = monotonic() + farewellMs + 500
    while (streams.size > 0 && monotonic() < until) yield* Effect.sleep(20)
  })
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* Fiber.interruptAll(looks)
      draining = true
      for (const stream of [...streams]) stream.outbox.destroy()
    })
  )

  return Streams.of({
    open,
    wait,
    drain,
    draining: () => draining,
    count: () => streams.size,
    waiting: () => polls.size
  })
})
