/**
 * A connection to NATS that is kept for as long as its scope is open: made again for ever, with
 * jitter, and never in anybody's way.
 *
 * K1. Building it does not wait for a server. While there is none, nothing is sent and nothing kept:
 *     what is sent too late does more harm than what is lost.
 * K2. Bytes that the server has not confirmed are bounded: a server that takes nothing costs 8 MiB, and what
 *     does not fit is lost.
 * K3. `onUp` is called after each connection, once the server has all subscriptions, and after a loss
 *     for lack of room as soon as there is room again; it is told whether something of ours was lost.
 * K4. Subscriptions outlive connections. A handler that throws harms nobody.
 */
import {
  connect,
  errors,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Subscription
} from "@nats-io/transport-node"
import { Effect, Schedule } from "effect"
import { busReconnects, busState, record } from "../telemetry/metrics.ts"
import type { NoAnswer } from "./hints.ts"
import { connectionOptions, type NatsSettings } from "./natsSettings.ts"
import { signatureBytes } from "./signature.ts"
import { requestBytes, signatureHeader, subjects } from "./wire.ts"

export interface LinkOptions {
  readonly settings: NatsSettings
  /** How this node calls itself to the server. */
  readonly name: string
  readonly onUp: (hasLost: boolean) => void
  /** Milliseconds: a server that answers no ping for three of these is gone. */
  readonly pingMs?: number
}

/** An answer, and the signature of the question. */
interface Answered {
  readonly answer: Msg
  readonly signature: string
}

export interface NatsLink {
  readonly up: () => boolean
  /** False where it was lost (K1, K2). */
  readonly send: (subject: string, data: Uint8Array, signature: string) => boolean
  /** Something was not even tried to be sent: as lost as what was. */
  readonly lose: () => boolean
  /** Returns the way to end it. */
  readonly subscribe: (subject: string, handler: (message: Msg) => void) => () => void
  /** Waits until the server has all subscriptions, for a quarter of a second at most. */
  readonly settled: Effect.Effect<void>
  /**
   * It is signed when it leaves, and not before: a sender's counts rise as its messages do (A2 of signature.ts), and a
   * fiber may yield.
   */
  readonly request: (
    subject: string,
    data: Uint8Array,
    sign: () => string,
    timeoutMs: number
  ) => Effect.Effect<Answered, NoAnswer["reason"]>
  /** What the server takes as one message, its signature left out. */
  readonly mostBytes: () => number
}

/** K2. */
const mostUnconfirmed = 8 * 1024 * 1024
const confirmEvery = 256 * 1024
const settleMs = 250
const drainMs = 1_000

interface Kept {
  readonly subject: string
  readonly handler: (message: Msg) => void
  current: Subscription | undefined
}

/** Between attempts: 0.25 to 1 s, so that nodes do not come back all at once. */
const pause = () => 250 + Math.random() * 750
const pauses = Schedule.addDelay(Schedule.forever, () => Effect.sync(pause))

const reasonOf = (error: unknown): NoAnswer["reason"] =>
  error instanceof errors.TimeoutError
    ? "timeout"
    : error instanceof errors.NoRespondersError || (error instanceof errors.RequestError && error.isNoResponders())
      ? "nobody"
      : "lost"

/** How a signature travels. */
export const signed = (signature: string): MsgHdrs => {
  const found = headers()
  found.set(signatureHeader, signature)
  return found
}

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

export const keepLink = Effect.fnUntraced(function* ({ name, onUp, pingMs = 1_000, settings }: LinkOptions) {
  const services = yield* Effect.context<never>()
  const log = Effect.runForkWith(services)
  const kept = new Set<Kept>()
  const waiting = new Set<() => void>()
  let connection: NatsConnection | undefined
  let up = false
  let closing = false
  /** What was logged since the last change for the better: each thing once. */
  const said = new Set<string>()
  let sent = 0
  let confirmed = 0
  let confirming = false
  let overflowed = false
  /** Subscriptions that were asked for, and how many of them the server has. */
  let subscribed = 0
  let settled = 0
  let settling: Promise<void> | undefined

  const warn = (line: string, reason: string) => {
    if (closing || said.has(reason)) return
    said.add(reason)
    log(Effect.logWarning(line, { reason }))
  }

  const show = (now: boolean) => {
    up = now
    record(busState.with({ state: "connected" }), now ? 1 : 0)
    record(busState.with({ state: "disconnected" }), now ? 0 : 1)
  }

  const handle = (entry: Kept) => (error: Error | null, message: Msg) => {
    if (error !== null) return warn("NATS refuses a subscription", wordsOf(error))
    try {
      entry.handler(message)
    } catch (defect) {
      log(Effect.logError("a message from NATS was not handled", defect))
    }
  }

  const attach = (entry: Kept) => {
    subscribed++
    entry.current = connection?.subscribe(entry.subject, { callback: handle(entry) })
  }

  const flush = () => connection?.flush() ?? Promise.resolve()

  /** The server has what was sent before; failing means that the connection is gone, which says so itself. */
  const confirm = () => {
    if (confirming) return
    confirming = true
    const mark = sent
    flush()
      .then(
        () => {
          confirmed = Math.max(confirmed, mark)
        },
        () => {}
      )
      .finally(() => {
        confirming = false
        if (!up) return
        if (sent - confirmed > confirmEvery) confirm()
        if (overflowed && sent - confirmed < mostUnconfirmed / 2) {
          overflowed = false
          onUp(true)
        }
      })
  }

  /** What was lost is told of as soon as the server takes something again. */
  const lose = () => {
    overflowed = true
    if (up) confirm()
    return false
  }

  const isUp = () => {
    if (closing || connection === undefined) return
    const last = subscribed
    sent = confirmed = 0
    show(true)
    said.clear()
    log(Effect.logInfo("connected to NATS", { url: connection.getServer() }))
    flush().then(
      () => {
        if (!up) return
        settled = Math.max(settled, last)
        const wasLost = overflowed
        overflowed = false
        onUp(wasLost)
      },
      () => {}
    )
  }

  const isDown = (reason: string) => {
    show(false)
    for (const fail of [...waiting]) fail()
    warn("NATS is away: until it is back, nodes learn of each other's work from the database", reason)
  }

  const follow = async (now: NatsConnection) => {
    for await (const status of now.status()) {
      if (now !== connection) return
      if (status.type === "disconnect") {
        // What was on its way may be lost.
        overflowed = true
        isDown("the connection is lost")
      } else if (status.type === "reconnect") {
        record(busReconnects)
        isUp()
      } else if (status.type === "error") {
        warn("NATS refuses something", wordsOf(status.error))
      }
    }
  }

  /** One connection's life; the client makes it again by itself until it is told to end, or gives up. */
  const live = async () => {
    const now = await connect({
      ...connectionOptions(settings),
      name,
      noEcho: true,
      noAsyncTraces: true,
      inboxPrefix: subjects.answers,
      timeout: 2_000,
      pingInterval: pingMs,
      maxPingOut: 2,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      reconnectDelayHandler: pause
    })
    if (closing) return now.close()
    connection = now
    for (const entry of kept) attach(entry)
    isUp()
    await Promise.all([follow(now), now.closed()])
    connection = undefined
    for (const entry of kept) entry.current = undefined
    if (up) isDown("the connection was closed")
  }

  show(false)
  const keep = Effect.promise(() => live().catch((error: unknown) => isDown(wordsOf(error))))
  yield* Effect.forkScoped(Effect.repeat(keep, pauses))
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      closing = true
      const wasUp = up
      up = false
      const now = connection
      if (now === undefined) return
      // Answers that are on their way still leave; a server that is away is not waited for.
      if (wasUp)
        yield* Effect.ignore(
          Effect.timeoutOption(
            Effect.tryPromise(() => now.drain()),
            drainMs
          )
        )
      if (!now.isClosed())
        yield* Effect.ignore(
          Effect.timeoutOption(
            Effect.tryPromise(() => now.close()),
            drainMs
          )
        )
    })
  )

  const link: NatsLink = {
    up: () => up,
    lose,
    send: (subject, data, signature) => {
      const bytes = data.length + subject.length + signatureBytes
      if (!up || connection === undefined || sent + bytes - confirmed > mostUnconfirmed) return lose()
      try {
        connection.publish(subject, data, { headers: signed(signature) })
      } catch {
        // Closed since a moment, which the status will say; or longer than this server takes.
        return lose()
      }
      sent += bytes
      if (sent - confirmed > confirmEvery) confirm()
      return true
    },
    subscribe: (subject, handler) => {
      const entry: Kept = { subject, handler, current: undefined }
      kept.add(entry)
      if (connection !== undefined && !closing) attach(entry)
      return () => {
        kept.delete(entry)
        if (!closing) entry.current?.unsubscribe()
      }
    },
    settled: Effect.suspend(() => {
      if (!up || settled >= subscribed) return Effect.void
      // One question for all who wait: whoever comes after it was sent waits for the next.
      const wanted = subscribed
      const wait = async (): Promise<void> => {
        while (up && settled < wanted) {
          if (settling === undefined) {
            const mark = subscribed
            settling = flush()
              .then(() => {
                settled = Math.max(settled, mark)
              })
              .finally(() => {
                settling = undefined
              })
          }
          await settling
        }
      }
      return Effect.ignore(Effect.timeoutOption(Effect.tryPromise(wait), settleMs))
    }),
    request: (subject, data, sign, timeoutMs) =>
      Effect.callback<Answered, NoAnswer["reason"]>((resume) => {
        if (!up || connection === undefined) return resume(Effect.fail("away"))
        if (data.length > link.mostBytes()) return resume(Effect.fail("too_large"))
        if (sent + data.length - confirmed > mostUnconfirmed) return resume(Effect.fail("busy"))
        const gone = () => resume(Effect.fail("lost"))
        waiting.add(gone)
        sent += data.length + signatureBytes
        const signature = sign()
        connection
          .request(subject, data, { timeout: Math.max(1, timeoutMs), headers: signed(signature) })
          .then(
            (answer) => resume(Effect.succeed({ answer, signature })),
            (error: unknown) => resume(Effect.fail(reasonOf(error)))
          )
          .finally(() => waiting.delete(gone))
        if (sent - confirmed > confirmEvery) confirm()
      }),
    mostBytes: () =>
      Math.min(requestBytes, (connection?.info?.max_payload ?? requestBytes + signatureBytes) - signatureBytes)
  }
  return link
})
