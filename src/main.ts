/**
 * The layers composed: the only place that knows them all.
 *
 * N1. Leaving is in order: not ready, no new work, streams say goodbye, running steps end within the
 *     drain's time, actors are given back, the lease ends, the listener closes.
 */
import { Effect, Fiber, Layer, Redacted } from "effect"
import { createHmac } from "node:crypto"
import { layerActions, operationsChores } from "../http/operations/chore.ts"
import { Credentials } from "../http/Credentials.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { Leases } from "../http/Leases.ts"
import { listen } from "../http/listen.ts"
import * as metrics from "../http/metrics.ts"
import { Cursors } from "../http/Cursors.ts"
import { RateLimit } from "../http/RateLimit.ts"
import { Coverage } from "../http/Coverage.ts"
import { Readiness } from "../http/Readiness.ts"
import { builtConsole } from "../http/console/files.ts"
import { routes } from "../http/Routes.ts"
import { streamDefaults, Streams } from "../http/streams/Streams.ts"
import * as Actors from "../actors/layer.ts"
import { Sweep } from "../actors/Sweep.ts"
import { Bus } from "./bus/Bus.ts"
import { layerInProcess } from "./bus/inProcess.ts"
import { layerNats } from "./bus/nats.ts"
import { natsSettings } from "./bus/natsSettings.ts"
import { type BusKey, busKeys } from "./bus/signature.ts"
import { environment, type NodeSettings } from "./config.ts"
import { Connections } from "./connections/Connections.ts"
import { SecretEnvelope } from "./crypto/envelope.ts"
import { DeliveryTokens } from "./hooks/deliveryToken.ts"
import { AgentLeases } from "./keys/AgentLeases.ts"
import { Hooks } from "./hooks/Hooks.ts"
import { Reviewers } from "./hooks/Reviewers.ts"
import { Lease } from "./journal/Lease.ts"
import { layerPostgres } from "./journal/postgres.ts"
import { layerPostgresLease } from "./journal/PostgresLease.ts"
import * as Models from "./models/layer.ts"
import { Outbound } from "./outbound/Outbound.ts"
import { Policies } from "./operations/Policies.ts"
import { Quotas } from "./quotas/Quotas.ts"
import { Roles } from "./roles/Roles.ts"
import { makeAnswers } from "./database/answers.ts"
import { Database } from "./database/Database.ts"
import { Directory } from "./agents/Directory.ts"
import { keysPostgres } from "./keys/postgres.ts"
import { Budgets } from "./agents/Budgets.ts"
import { Spending } from "./agents/Spending.ts"
import { ThreadReads } from "./threads/ThreadReads.ts"
import { chores, layerChores } from "./chores/chores.ts"
import { watchNode } from "../actors/gauges.ts"
import { observe } from "./telemetry/Telemetry.ts"
import { ConditionJudge } from "./subscriptions/ConditionJudge.ts"
import { Subscriptions } from "./subscriptions/Subscriptions.ts"
import { Schemas } from "./tools/Schemas.ts"
import { Toolsets } from "./tools/Toolsets.ts"
import { Images } from "./images/Images.ts"
import { WebhookInterest } from "./webhooks/Interest.ts"
import { layerSenders } from "./webhooks/senders.ts"
import { UsageCounts } from "./usage/UsageCounts.ts"

/** Cursors are signed with what all nodes of an installation share. */
const cursorSecret = (settings: NodeSettings) => {
  const first = settings.encryptionKeys[0]
  if (first === undefined) throw new Error("a node has an encryption key")
  return createHmac("sha256", Redacted.value(first.key)).update("troupe cursors").digest()
}

/**
 * Hints and questions between nodes; without NATS there is one node, or they find each other's work in the database.
 */
const busOf = (settings: NodeSettings, keys: ReadonlyArray<BusKey>) => {
  const nats = natsSettings(settings)
  return nats === undefined
    ? layerInProcess
    : Layer.unwrap(Effect.map(Lease, (lease) => layerNats({ name: settings.nodeId, settings: nats, keys, lease })))
}

/** Set once, when the node begins to leave. */
class Leaving {
  begun = false
}

const readiness = (leaving: Leaving) =>
  Layer.effect(
    Readiness,
    Effect.gen(function* () {
      const database = yield* Database
      const lease = yield* Lease
      const bus = yield* Bus
      const answers = yield* makeAnswers(database)
      return Readiness.of({
        check: Effect.gen(function* () {
          if (leaving.begun) return { status: "draining" as const, reason: "this node is shutting down" }
          if (lease.fenced())
            return { status: "unready" as const, reason: "this node has lost its lease and is joining again" }
          if (!(yield* answers)) return { status: "unready" as const, reason: "PostgreSQL does not answer" }
          const state = bus.state()
          return { status: state === "disconnected" ? ("degraded" as const) : ("ready" as const), bus: state }
        })
      })
    })
  )

/** Built last, so that its end is the beginning of the end (N1). */
const farewell = (leaving: Leaving, drainSeconds: number) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const lease = yield* Lease
      const streams = yield* Streams
      const sweep = yield* Sweep
      yield* Effect.addFinalizer(() =>
        Effect.gen(function* () {
          leaving.begun = true
          yield* Effect.logInfo("draining", { count: sweep.live() })
          // What is handed over is found at once by whoever has a second left to claim it.
          const farewells = yield* Effect.forkChild(streams.drain, { startImmediately: true })
          const drain = sweep.drain(Math.max(0, drainSeconds - 1) * 1000, () => farewells.pollUnsafe() === undefined)
          yield* Effect.ensuring(drain, lease.leave)
          yield* Fiber.join(farewells)
        })
      )
    })
  )

const secretsOf = ({ encryptionKeys }: NodeSettings) => encryptionKeys.map(({ key }) => Redacted.value(key))

/** The database, the lease, the bus, and the ways out of the node. */
const groundOf = (settings: NodeSettings) => {
  const keys = busKeys(secretsOf(settings))
  return busOf(settings, keys).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        SecretEnvelope.layer(settings.encryptionKeys),
        Outbound.layer({ allowPrivateNetwork: settings.allowPrivateNetwork }),
        Schemas.layer,
        Models.layer({
          env: environment,
          scripted: settings.scriptedModels,
          ...(settings.modelsFile === undefined ? {} : { modelsFile: settings.modelsFile })
        }),
        layerPostgresLease({ name: settings.nodeId, ttl: settings.leaseTtlMs, signs: keys.map(({ name }) => name) })
      )
    ),
    Layer.provideMerge(Database.layer({ url: settings.databaseUrl }))
  )
}

/** What is read and written, by the noun. */
const storesOf = (settings: NodeSettings) => {
  const hooks = Hooks.layer({ publicUrl: settings.publicUrl }).pipe(
    Layer.provideMerge(Reviewers.layer),
    Layer.provide(Connections.layer),
    Layer.provideMerge(DeliveryTokens.layer(secretsOf(settings)))
  )
  const toolsets = Toolsets.layer.pipe(Layer.provide(Connections.layer))
  return Layer.mergeAll(
    AgentLeases.layer({
      secrets: secretsOf(settings),
      publicUrl: settings.publicUrl
    }),
    Connections.layer,
    Directory.layer,
    hooks,
    Images.layer,
    keysPostgres,
    layerPostgres(),
    Policies.layer,
    Quotas.layer(settings.quotasFile),
    Roles.layer,
    Budgets.layer,
    Spending.layer,
    Subscriptions.layer,
    ConditionJudge.layer,
    ThreadReads.layer,
    toolsets,
    UsageCounts.layer,
    WebhookInterest.layer
  )
}

/** What the interface stands on beside the actors. */
const edgeOf = (settings: NodeSettings, leaving: Leaving) =>
  Layer.mergeAll(
    Cursors.layer(cursorSecret(settings)),
    Idempotency.layer,
    Coverage.layer,
    RateLimit.layer({
      credential: settings.rateLimit,
      burst: settings.rateBurst,
      workspace: settings.workspaceRateLimit
    }),
    readiness(leaving),
    Streams.layerWith({ ...streamDefaults, perKey: settings.maxStreams })
  ).pipe(Layer.provideMerge(Layer.mergeAll(Credentials.layer, Leases.layer)))

/**
 * One node, listening once the layer is built; leaving the scope drains it. Provides HttpServer, whose address is the
 * real one.
 */
export const serveNode = (settings: NodeSettings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const watch = yield* observe
      const leaving = new Leaving()
      const scraped = typeof settings.metrics === "string" ? Layer.empty : metrics.layerAt(settings.metrics)
      const served = routes({
        metrics: settings.metrics === "api",
        console: settings.console ? builtConsole : undefined,
        hosts: settings.allowedHosts
      })
      const listener = listen(served, {
        host: settings.host,
        port: settings.port,
        drainSeconds: settings.drainSeconds,
        observe: watch
      })
      return farewell(leaving, settings.drainSeconds).pipe(
        Layer.provideMerge(listener),
        Layer.provideMerge(scraped),
        Layer.provideMerge(watchNode),
        Layer.provideMerge(layerSenders),
        Layer.provideMerge(layerChores(chores)),
        Layer.provideMerge(layerChores(operationsChores)),
        Layer.provideMerge(layerActions),
        Layer.provideMerge(edgeOf(settings, leaving)),
        Layer.provideMerge(Actors.layer({ slots: { turns: settings.maxTurns, calls: settings.maxCalls } })),
        Layer.provideMerge(storesOf(settings)),
        Layer.provideMerge(groundOf(settings))
      )
    })
  )
