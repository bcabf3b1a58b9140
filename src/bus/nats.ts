/**
 * The bus between processes, over NATS. Hints for this node's own listeners go to them directly; NATS
 * carries the rest, and nothing waits for it (B3).
 *
 * T1. Each topic that somebody here listens to is one subscription: the server sends a node what it asked
 *     for, and drops what nobody did. A node that is alone sends nothing.
 * T2. The hints of a thread in one moment, such as those that one commit leads to, travel as one message.
 * T3. After a connection was lost, by this node or by one that tells of it, all listeners look (B4).
 * T4. A message that arrives and is not ours is ignored, counted, and logged once a kind and reason.
 * T5. All that leaves is signed. What is not is taken only while a node of the version before is alive, which does
 *     not sign; a node without a key in common is asked nothing, and that is said.
 */
import { Effect, Layer, Result } from "effect"
import type { Msg } from "@nats-io/transport-node"
import type { Lease } from "../journal/Lease.ts"
import { busLost, busRequests, busSent, record } from "../telemetry/metrics.ts"
import { Bus } from "./Bus.ts"
import { type Hint, type News, NoAnswer, type Watch } from "./hints.ts"
import { makeInProcess } from "./inProcess.ts"
import { makeInterest, roundMs } from "./interest.ts"
import { keepLink, signed } from "./NatsLink.ts"
import type { NatsSettings } from "./natsSettings.ts"
import { makePeerNews } from "./peerNews.ts"
import { makeNodePeers } from "./peers.ts"
import { type BusKind, makeReceiving } from "./receiving.ts"
import { type BusKey, makeSignatures } from "./signature.ts"
import { topicWatched } from "./topics.ts"
import * as wire from "./wire.ts"

/** Requests of others that are answered at once; more are told to come again. */
const mostAnswering = 1_000
/** Nobody waits longer for an answer. */
const mostAnswerMs = 60_000
/** All looks of a moment are one. */
const lookMs = 200

export interface NatsBusOptions {
  readonly settings: NatsSettings
  /** This node's name, for the server's own lists. */
  readonly name: string
  /** The first signs, all verify. */
  readonly keys: ReadonlyArray<BusKey>
  /** Who is alive and what their rows say, and the clock that nodes share. */
  readonly lease: Pick<Lease["Service"], "nodes" | "now">
  readonly pingMs?: number
}

const make = Effect.fnUntraced(function* ({ keys, lease, name, pingMs, settings }: NatsBusOptions) {
  const services = yield* Effect.context<never>()
  const run = Effect.runForkWith(services)
  const signatures = makeSignatures(keys, lease.now)
  const peers = makeNodePeers(
    keys.map(({ name }) => name),
    lease.nodes
  )

  const { ignore, mistrusted, take } = makeReceiving({ peers, run, signatures })
  const tellOfPeers = makePeerNews(peers, run)

  let looking: NodeJS.Timeout | undefined
  const lookSoon = () => {
    looking ??= setTimeout(() => {
      looking = undefined
      local.lookAll()
    }, lookMs)
  }
  yield* Effect.addFinalizer(() => Effect.sync(() => clearTimeout(looking)))

  const link = yield* keepLink({
    settings,
    name,
    ...(pingMs === undefined ? {} : { pingMs }),
    onUp: (hasLost) => {
      send(
        "presence",
        wire.subjects.presence,
        wire.writePresence({ deltas: [], ask: true, ...(hasLost ? { look: true } : {}) })
      )
      interest.renew()
      lookSoon()
    }
  })

  // What leaves

  const send = (kind: BusKind, subject: string, data: Uint8Array) => {
    if (link.send(subject, data, signatures.sign(subject, data))) record(busSent.with({ kind }))
    else record(busLost)
  }
  const interest = makeInterest((message) => {
    if (link.up()) send("presence", wire.subjects.presence, wire.writePresence(message))
  })
  let rounded = performance.now()
  let away = false
  const round = Effect.sync(() => {
    // Who was stopped for long has been forgotten, and may have missed something; so does whoever is cut off, from now
    // on.
    if (performance.now() - rounded > 2 * roundMs || (!away && !link.up())) lookSoon()
    away = !link.up()
    rounded = performance.now()
    interest.round()
    tellOfPeers()
  })
  yield* Effect.forkScoped(Effect.forever(Effect.delay(round, roundMs)))

  /** T2. */
  const leaving = new Map<string, Array<News>>()
  const leave = () => {
    for (const [subject, hints] of leaving) for (const message of wire.writeHints(hints)) send("hint", subject, message)
    leaving.clear()
  }
  yield* Effect.addFinalizer(() => Effect.sync(leave))
  const post = (hint: Hint) => {
    if (hint.type === "delta" || hint.type === "discard" ? !interest.wanted(hint) : !interest.accompanied()) return
    if (!link.up()) {
      record(busLost)
      return void link.lose()
    }
    const subject = wire.hintSubject(hint)
    if (subject === undefined) return
    const { agentId, threadId, workspace, ...news } = hint
    const already = leaving.get(subject)
    if (already !== undefined) return void already.push(news)
    if (leaving.size === 0) setImmediate(leave)
    leaving.set(subject, [news])
  }

  // Who listens here (T1)

  const subscriptions = new Map<string, () => void>()
  const local = yield* makeInProcess({
    onListening: (topic, watch) => {
      const hear = take(
        "hint",
        ({ data, subject }) =>
          Result.flatMap(wire.readHintSubject(subject), (about) =>
            Result.map(wire.readHints(data), (hints) => ({ about, hints }))
          ),
        ({ about, hints }) => {
          for (const news of hints) local.dispatch(topic, { ...about, ...news })
        }
      )
      const ends = wire.watchSubjects(watch).map((subject) => link.subscribe(subject, hear))
      if (ends.length > 0)
        subscriptions.set(topic, () => {
          for (const end of ends) end()
        })
    },
    onSilent: (topic) => {
      subscriptions.get(topic)?.()
      subscriptions.delete(topic)
    }
  })

  const always = (subject: string, handler: (message: Msg) => void) =>
    Effect.acquireRelease(
      Effect.sync(() => link.subscribe(subject, handler)),
      (end) => Effect.sync(end)
    )
  /** What every node hears, whoever listens here. */
  const hearOthers = Effect.gen(function* () {
    yield* always(
      wire.subjects.wakes,
      take(
        "wake",
        ({ data, subject }) => Result.flatMap(wire.readBare(data), () => wire.readWakeSubject(subject)),
        (shards) => shards.forEach(local.wake)
      )
    )
    yield* always(
      wire.subjects.auth,
      take(
        "auth",
        ({ data }) => wire.readBare(data),
        () => local.authChanged()
      )
    )
    yield* always(
      wire.subjects.nodes,
      take(
        "nodes",
        ({ data }) => wire.readBare(data),
        () => local.nodesChanged()
      )
    )
    yield* always(
      wire.subjects.presence,
      take(
        "presence",
        ({ data }) => wire.readPresence(data),
        (message) => {
          interest.heard(message)
          if (message.look === true) lookSoon()
        }
      )
    )
  })
  yield* hearOthers

  const subscribe = (watch: Watch, listener: (hint: Hint) => void) =>
    Effect.gen(function* () {
      if (watch.deltas === true && wire.watchSubjects(watch).length > 0) {
        yield* Effect.acquireRelease(
          Effect.sync(() => interest.want(topicWatched(watch))),
          (end) => Effect.sync(end)
        )
      }
      yield* local.subscribe(watch, listener)
      yield* link.settled
    })

  // Questions

  /** The answer vouches for the question that it answers. */
  const respond = (message: Msg, answer: Uint8Array) => {
    const data = answer.length > link.mostBytes() ? wire.writeRefusal("failed") : answer
    try {
      message.respond(data, {
        headers: signed(signatures.sign(message.reply ?? "", data, message.headers?.get(wire.signatureHeader)))
      })
    } catch {
      // The connection is gone: whoever asked knows by now.
      record(busLost)
    }
  }
  let answering = 0
  const answerOne = (incarnation: string) =>
    take(
      "request",
      ({ data, reply }): Result.Result<string, wire.Strange> =>
        reply === undefined || reply === "" ? Result.fail("foreign") : wire.readRequest(data),
      (request, message) => {
        if (answering >= mostAnswering) return respond(message, wire.writeRefusal("busy"))
        answering++
        run(
          local.request(incarnation, request, mostAnswerMs).pipe(
            Effect.match({
              onSuccess: (answer) => respond(message, wire.writeAnswer(answer)),
              onFailure: () => respond(message, wire.writeRefusal("failed"))
            }),
            Effect.ensuring(
              Effect.sync(() => {
                answering--
              })
            )
          )
        )
      }
    )

  const ask = Effect.fnUntraced(function* (incarnation: string, message: string, timeoutMs: number) {
    const subject = wire.nodeSubject(incarnation)
    if (subject === undefined || !peers.shares(incarnation))
      return yield* new NoAnswer({ incarnation, reason: "nobody" })
    const data = wire.writeRequest(message)
    const requested = link.request(subject, data, () => signatures.sign(subject, data), timeoutMs)
    const { answer, signature } = yield* Effect.mapError(requested, (reason) => new NoAnswer({ incarnation, reason }))
    const doubt = mistrusted("answer", answer, { about: signature })
    const found = doubt === undefined ? wire.readWireAnswer(answer.data) : Result.fail(doubt)
    if (Result.isFailure(found)) {
      ignore("answer", found.failure, answer)
      return yield* new NoAnswer({ incarnation, reason: "failed" })
    }
    if ("refused" in found.success) return yield* new NoAnswer({ incarnation, reason: found.success.refused })
    return found.success.answer
  })

  /** Each subject once a moment. */
  const ringing = new Set<string>()
  const ring = (kind: "wake" | "auth" | "nodes", subject: string) => {
    if (ringing.has(subject)) return
    ringing.add(subject)
    queueMicrotask(() => {
      ringing.delete(subject)
      send(kind, subject, wire.bare)
    })
  }

  return Bus.of({
    publish: (hint) => {
      local.publish(hint)
      post(hint)
    },
    watched: (about) => local.watched(about) || interest.accompanied(),
    wantsDeltas: (about) => local.wantsDeltas(about) || interest.wanted(about),
    subscribe,
    request: (incarnation, message, timeoutMs) =>
      local.serves(incarnation)
        ? local.request(incarnation, message, timeoutMs)
        : ask(incarnation, message, timeoutMs).pipe(
            Effect.tap(() => Effect.sync(() => record(busRequests.with({ outcome: "answered" })))),
            Effect.tapError(({ reason }) => Effect.sync(() => record(busRequests.with({ outcome: reason }))))
          ),
    serve: Effect.fnUntraced(function* (incarnation, answer) {
      yield* local.serve(incarnation, answer)
      const subject = wire.nodeSubject(incarnation)
      if (subject === undefined) return
      yield* always(subject, answerOne(incarnation))
      yield* link.settled
    }),
    wake: (shard) => {
      local.wake(shard)
      ring("wake", wire.subjects.wake(shard))
    },
    onWake: local.onWake,
    authChanged: () => {
      local.authChanged()
      ring("auth", wire.subjects.auth)
    },
    onAuthChanged: local.onAuthChanged,
    nodesChanged: () => {
      local.nodesChanged()
      ring("nodes", wire.subjects.nodes)
    },
    onNodesChanged: local.onNodesChanged,
    state: () => (link.up() ? "connected" : "disconnected")
  })
})

export const layerNats = (options: NatsBusOptions) => Layer.effect(Bus, make(options))
