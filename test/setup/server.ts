/**
 * A whole node in this process for a test file: a fresh database, the real layers, a port of its own,
 * and clients with keys of two workspaces.
 *
 *     const server = await sharedServer()                          // no settings: the worker's
 *     const server = await during(startServer({ idleMs: 50 }))     // settings: the file's own
 *     const { status, body } = await server.alpha.post("/v1/profiles", { name: "A", models: ["troupe/scripted"] })
 *
 * A second node on the same database and bus: `startServer({ beside: server })`.
 */
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { HttpServer } from "effect/http"
import type { RawBuilder } from "kysely"
import type { SlotLimits } from "../../actors/Bulkheads.ts"
import * as Actors from "../../actors/layer.ts"
import { Credentials } from "../../http/Credentials.ts"
import { Idempotency } from "../../http/Idempotency.ts"
import { Leases } from "../../http/Leases.ts"
import { type Listener, listen, portOf } from "../../http/listen.ts"
import { Cursors } from "../../http/Cursors.ts"
import { RateLimit, type Rates } from "../../http/RateLimit.ts"
import { Coverage } from "../../http/Coverage.ts"
import { Readiness } from "../../http/Readiness.ts"
import { layerActions, operationsChores } from "../../http/operations/chore.ts"
import { layerChores } from "../../src/chores/chores.ts"
import { builtConsole } from "../../http/console/files.ts"
import { routes, type Served } from "../../http/Routes.ts"
import { streamDefaults, type StreamOptions, Streams } from "../../http/streams/Streams.ts"
import { Bus } from "../../src/bus/Bus.ts"
import { layerInProcess } from "../../src/bus/inProcess.ts"
import { Connections } from "../../src/connections/Connections.ts"
import { generateKey } from "../../src/keys/keyText.ts"
import { SecretEnvelope } from "../../src/crypto/envelope.ts"
import type { Scope } from "../../src/keys/apiKey.ts"
import { scopes as allScopes } from "../../src/keys/scopes.ts"
import { DeliveryTokens } from "../../src/hooks/deliveryToken.ts"
import { AgentLeases } from "../../src/keys/AgentLeases.ts"
import { Hooks } from "../../src/hooks/Hooks.ts"
import { Reviewers } from "../../src/hooks/Reviewers.ts"
import type { Journal } from "../../src/journal/Journal.ts"
import { layerPostgresLease } from "../../src/journal/PostgresLease.ts"
import { layerPostgres } from "../../src/journal/postgres.ts"
import { layer as layerModels, layerScripted, type ModelsSettings } from "../../src/models/layer.ts"
import { Outbound, type OutboundOptions } from "../../src/outbound/Outbound.ts"
import { Quotas } from "../../src/quotas/Quotas.ts"
import type { QuotasFile } from "../../src/quotas/quotasFile.ts"
import { Policies } from "../../src/operations/Policies.ts"
import { Roles } from "../../src/roles/Roles.ts"
import { createKey } from "../../src/keys/rows.ts"
import { Database } from "../../src/database/Database.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { keysPostgres } from "../../src/keys/postgres.ts"
import { Budgets } from "../../src/agents/Budgets.ts"
import { Spending } from "../../src/agents/Spending.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { ensureWorkspace } from "../../src/workspaces/ensure.ts"
import type { Lines } from "../../src/telemetry/lines.ts"
import { layerLogs } from "../../src/telemetry/logs.ts"
import { observe } from "../../src/telemetry/Telemetry.ts"
import { ConditionJudge } from "../../src/subscriptions/ConditionJudge.ts"
import { Subscriptions } from "../../src/subscriptions/Subscriptions.ts"
import { Schemas } from "../../src/tools/Schemas.ts"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import { Images } from "../../src/images/Images.ts"
import { WebhookInterest } from "../../src/webhooks/Interest.ts"
import { layerSenders } from "../../src/webhooks/senders.ts"
import { UsageCounts } from "../../src/usage/UsageCounts.ts"
import { freshDatabase } from "./database.ts"

const parse = (text: string) => (text === "" ? undefined : JSON.parse(text))

/** Requests of one credential. A body that is not a string is sent as JSON. */
export class Client {
  readonly base: string
  readonly token: string | undefined
  constructor(base: string, token: string | undefined) {
    this.base = base
    this.token = token
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(this.base + path, {
      method,
      headers: {
        ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers
      },
      ...(body !== undefined && {
        body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
      })
    })
    const text = await response.text()
    const json = response.headers.get("content-type")?.includes("json") === true
    return { status: response.status, headers: response.headers, text, body: json ? parse(text) : undefined }
  }

  get(path: string, headers?: Record<string, string>) {
    return this.send("GET", path, undefined, headers)
  }
  post(path: string, body: unknown = {}, headers?: Record<string, string>) {
    return this.send("POST", path, body, headers)
  }
  put(path: string, body: unknown, headers?: Record<string, string>) {
    return this.send("PUT", path, body, headers)
  }
  patch(path: string, body: unknown, headers?: Record<string, string>) {
    return this.send("PATCH", path, body, headers)
  }
  delete(path: string, headers?: Record<string, string>) {
    return this.send("DELETE", path, undefined, headers)
  }
}

export interface KeyOptions {
  readonly scopes?: ReadonlyArray<Scope>
  readonly identity?: string
  readonly expiresAt?: number
}

export interface ServerOptions {
  /** A server whose database this one shares, and whose bus. It is stopped after this one. */
  readonly beside?: { readonly url: string; readonly bus: Bus["Service"] }
  /** The node's name; `test` unless told. */
  readonly name?: string
  /** Milliseconds at rest after which an actor leaves memory. */
  readonly idleMs?: number
  /** What TROUPE_PUBLIC_URL would hold. */
  readonly publicUrl?: string
  readonly leaseTtlMs?: number
  /** Looks after operations now and then, as every node does. */
  readonly tendsOperations?: true
  /** Slots of one workspace; no limit unless told. */
  readonly slots?: SlotLimits
  /** No limit unless told. */
  readonly rates?: Rates
  /** How patient the listener is, and how much clients may hold of it. */
  readonly listener?: Pick<Listener, "pace" | "room">
  /** The folder of the console's build, and the host names by which requests may come. */
  readonly served?: Partial<Pick<Served, "console" | "hosts">>
  /** Real models beside the scripted ones; without it there are none. */
  readonly models?: ModelsSettings
  readonly streams?: Partial<StreamOptions>
  /** What TROUPE_QUOTAS would hold. */
  readonly quotas?: QuotasFile
  /** Private networks are allowed unless told otherwise: tools and hooks of tests listen on this machine. */
  readonly outbound?: Partial<OutboundOptions>
  /** Takes what the server logs, all of it. */
  readonly lines?: Lines
  /** In place of the bus of one process. */
  readonly bus?: Layer.Layer<Bus>
  /** Other limits of what schemas may take. */
  readonly schemas?: Layer.Layer<Schemas>
  /** Who reviews for agent hooks, in place of agents. */
  readonly reviewers?: Layer.Layer<Reviewers>
  /** What stands before the journal, and may fail. */
  readonly journal?: Layer.Layer<Journal, never, Journal | Database>
  /** What stands before the database of all but the lease. */
  readonly database?: Layer.Layer<Database, never, Database>
}

const busOf = ({ beside, bus }: ServerOptions) =>
  bus ?? (beside === undefined ? layerInProcess : Layer.succeed(Bus, beside.bus))

const services = (url: string, options: ServerOptions) => {
  const database = Database.layer({ url: Redacted.make(url) })
  const lease = layerPostgresLease({ name: options.name ?? "test", ttl: options.leaseTtlMs ?? 3_000 }).pipe(
    Layer.provide(database)
  )
  const asked = options.database?.pipe(Layer.provide(database)) ?? database
  const models = options.models === undefined ? layerScripted : layerModels(options.models)
  const envelope = SecretEnvelope.layer([{ id: "test", key: Redacted.make(new Uint8Array(32).fill(9)) }])
  const outbound = Outbound.layer({ allowPrivateNetwork: true, ...options.outbound })
  const ground = Layer.mergeAll(
    asked,
    lease,
    busOf(options),
    models,
    outbound,
    envelope,
    options.schemas ?? Schemas.layer,
    ThreadReads.layer.pipe(Layer.provide(database))
  )
  const hooks = Hooks.layer({ publicUrl: options.publicUrl }).pipe(
    Layer.provideMerge(options.reviewers ?? Reviewers.layer),
    Layer.provide(Connections.layer),
    Layer.provideMerge(DeliveryTokens.layer([new Uint8Array(32).fill(5)]))
  )
  const toolsets = Toolsets.layer.pipe(Layer.provide(Connections.layer))
  const stores = Layer.mergeAll(
    AgentLeases.layer({ secrets: [new Uint8Array(32).fill(5)], publicUrl: options.publicUrl }),
    options.journal?.pipe(Layer.provide(layerPostgres())) ?? layerPostgres(),
    keysPostgres,
    Connections.layer,
    Directory.layer,
    hooks,
    Images.layer,
    Quotas.layer(options.quotas),
    Policies.layer,
    Roles.layer,
    Budgets.layer,
    Spending.layer,
    toolsets,
    Subscriptions.layer,
    ConditionJudge.layer,
    UsageCounts.layer,
    WebhookInterest.layer
  ).pipe(Layer.provideMerge(ground))
  const edge = Layer.mergeAll(
    Credentials.layer,
    Idempotency.layer,
    Leases.layer,
    Coverage.layer,
    Cursors.layer(new Uint8Array(32).fill(7)),
    Streams.layerWith({ ...streamDefaults, ...options.streams }).pipe(Layer.provide([Credentials.layer, Leases.layer])),
    RateLimit.layer(options.rates ?? { credential: 0 }),
    Layer.succeed(Readiness, Readiness.of({ check: Effect.succeed({ status: "ready", bus: "in-process" }) }))
  )
  return edge.pipe(
    Layer.provideMerge(
      Actors.layer({
        ...(options.idleMs !== undefined && { idleMs: options.idleMs }),
        ...(options.slots !== undefined && { slots: options.slots })
      })
    ),
    Layer.provideMerge(stores)
  )
}

export const startServer = async (options: ServerOptions = {}) => {
  const { beside, lines } = options
  const fresh = beside === undefined ? await freshDatabase() : { url: beside.url, drop: async () => {} }
  const listening = Layer.unwrap(
    Effect.map(observe, (watch) =>
      listen(routes({ metrics: true, console: builtConsole, hosts: undefined, ...options.served }), {
        host: "127.0.0.1",
        port: 0,
        drainSeconds: 0,
        ...options.listener,
        ...(lines !== undefined && { observe: watch })
      })
    )
  )
  const chores = options.tendsOperations === true ? layerChores(operationsChores) : Layer.empty
  const logs = lines === undefined ? Layer.empty : layerLogs({ level: "trace", format: "json", lines })
  const runtime = ManagedRuntime.make(
    listening.pipe(
      Layer.provideMerge(chores),
      Layer.provideMerge(layerSenders),
      Layer.provideMerge(layerActions),
      Layer.provideMerge(services(fresh.url, options)),
      Layer.provideMerge(logs)
    )
  )
  const database = await runtime.runPromise(Database)
  const bus = await runtime.runPromise(Bus)
  const port = await runtime.runPromise(Effect.flatMap(HttpServer.HttpServer, portOf))
  const base = `http://127.0.0.1:${port}`

  const workspace = (name: string) =>
    runtime.runPromise(database.atomically("test.workspace", (tx) => ensureWorkspace(tx, name)))
  const alpha = await workspace("alpha")
  const beta = await workspace("beta")

  /** A client with a new key of a workspace, with all scopes unless told otherwise. */
  const client = async (workspaceId: string, { scopes = allScopes, ...key }: KeyOptions = {}) => {
    const made = generateKey()
    await runtime.runPromise(
      database.atomically("test.key", (tx) =>
        createKey(
          tx,
          workspaceId,
          { public: made.publicPart, hash: made.hash, name: "test", scopes, ...key },
          Date.now()
        )
      )
    )
    return new Client(base, made.key)
  }

  return {
    base,
    url: fresh.url,
    /** The id of a workspace of that name. */
    workspace,
    /** `wsp_…` of the two workspaces. */
    workspaces: { alpha, beta },
    alpha: await client(alpha),
    beta: await client(beta),
    anonymous: new Client(base, undefined),
    /** A client of this server with the credential of another server's client. */
    at: ({ token }: Client) => new Client(base, token),
    client,
    /** For what tests look up or change behind the server's back. */
    database,
    bus,
    runtime,
    /** A statement behind the server's back. */
    query: <Row>(statement: RawBuilder<Row>) => runtime.runPromise(database.run("test", (db) => statement.execute(db))),
    stop: async () => {
      await runtime.dispose()
      await fresh.drop()
    }
  }
}
export type TestServer = Awaited<ReturnType<typeof startServer>>

/**
 * A worker's server for several files, with two workspaces of the caller's own: for those that look at what is theirs
 * and have no settings but these. It ends with the worker, and not when a file stops it.
 */
export const sharing = (start: () => Promise<TestServer>) => {
  let shared: Promise<TestServer> | undefined
  let shares = 0
  return async (): Promise<TestServer> => {
    const server = await (shared ??= start())
    const share = ++shares
    const [alpha, beta] = [await server.workspace(`alpha ${share}`), await server.workspace(`beta ${share}`)]
    return {
      ...server,
      workspaces: { alpha, beta },
      alpha: await server.client(alpha),
      beta: await server.client(beta),
      stop: async () => {}
    }
  }
}

/** The worker's server without any settings. */
export const sharedServer = sharing(() => startServer())
