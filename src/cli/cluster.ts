/** `troupe dev --nodes N`: as many production nodes as processes on this machine, one PostgreSQL, one NATS. */
import { Deferred, Effect, Redacted } from "effect"
import { resolve } from "node:path"
import { environment as inherited, type NodeSettings } from "../config.ts"
import type { EncryptionKey } from "../crypto/envelope.ts"
import { freePort } from "../postgres/cluster.ts"
import { failure } from "./failure.ts"
import { keep, keepBeside, type KeepsDying, type Program } from "./kept.ts"
import { prepareNatsServer, requireNatsServer } from "./natsServer.ts"

const entry = resolve(import.meta.dirname, "clusterNode.mjs")

const written = (keys: ReadonlyArray<EncryptionKey>) =>
  keys.map(({ id, key }) => `${id}:${Buffer.from(Redacted.value(key)).toString("base64")}`).join(",")

/** The same settings for all, except the name and the port. */
const environment = (settings: NodeSettings, natsUrl: Redacted.Redacted<string> | undefined): NodeJS.ProcessEnv => ({
  ...inherited,
  TROUPE_HOST: settings.host,
  TROUPE_DATABASE_URL: Redacted.value(settings.databaseUrl),
  TROUPE_ENCRYPTION_KEYS: written(settings.encryptionKeys),
  TROUPE_RATE_LIMIT: String(settings.rateLimit),
  TROUPE_WORKSPACE_RATE_LIMIT: String(settings.workspaceRateLimit),
  // One address is not enough for several nodes.
  TROUPE_METRICS: settings.metrics === "off" ? "off" : "api",
  TROUPE_ALLOW_PRIVATE_NETWORK: String(settings.allowPrivateNetwork),
  TROUPE_ALLOWED_HOSTS: settings.allowedHosts?.join(",") ?? "*",
  TROUPE_CONSOLE: String(settings.console),
  TROUPE_SCRIPTED_MODELS: String(settings.scriptedModels),
  TROUPE_LOG_FORMAT: settings.logFormat,
  ...(natsUrl === undefined ? {} : { TROUPE_NATS_URL: Redacted.value(natsUrl) })
})

const isReady = (base: string) => async () => (await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok

const program = (
  env: NodeJS.ProcessEnv,
  settings: NodeSettings,
  index: number,
  port: number
): Program & { readonly base: string } => {
  const name = `node${index + 1}`
  const base = `http://${settings.host.includes(":") ? `[${settings.host}]` : settings.host}:${port}`
  return {
    name,
    base,
    command: process.execPath,
    args: [entry, "serve", "--no-migrate"],
    shown: true,
    listens: true,
    env: { ...env, TROUPE_PORT: String(port), TROUPE_NODE_ID: name, TROUPE_PUBLIC_URL: settings.publicUrl ?? base },
    isReady: isReady(base),
    patienceMs: (settings.drainSeconds + 2) * 1_000
  }
}

/** Before anything is started: what is missing that it needs. */
export const requireCluster = (settings: { readonly natsUrls: unknown }) =>
  settings.natsUrls === undefined ? requireNatsServer : Effect.void

/** Runs for ever; `onUp` is given the nodes' URLs once all of them answer. */
export const runCluster = Effect.fn("cli.runCluster")(function* (
  settings: NodeSettings,
  count: number,
  onUp: (bases: ReadonlyArray<string>) => Effect.Effect<void>
) {
  const broken = yield* Deferred.make<never, KeepsDying>()
  const nats = settings.natsUrls === undefined ? yield* prepareNatsServer(settings.dataFolder) : undefined
  if (nats !== undefined) yield* keepBeside(nats.program, (cause) => Effect.asVoid(Deferred.fail(broken, cause)))
  const env = environment(settings, nats?.url)
  const nodes = yield* Effect.forEach(
    Array.from({ length: count }, (_, i) => i),
    (i) =>
      Effect.map(settings.port === 0 ? Effect.promise(() => freePort()) : Effect.succeed(settings.port + i), (port) =>
        program(env, settings, i, port)
      )
  )
  let up = 0
  const oneUp = Effect.suspend(() => (++up === count ? onUp(nodes.map(({ base }) => base)) : Effect.void))
  // All at once, so that they leave all at once.
  const running = Effect.forEach(nodes, (node) => keep(node, oneUp), { concurrency: "unbounded", discard: true })
  yield* Effect.raceFirst(running, Deferred.await(broken)).pipe(
    Effect.catchTag("KeepsDying", (cause) =>
      Effect.fail(
        failure(
          `${cause.message} What it said is ` +
            `above${cause.name.startsWith("nats") ? `, or in ${settings.dataFolder}/nats.log` : ""}. All are ` +
            "stopped.",
          cause
        )
      )
    )
  )
})
