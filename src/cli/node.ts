/** Starts one node and keeps it up until a signal: what `dev` and `serve` have in common. */
import { Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { Kysely, PostgresDialect } from "kysely"
import type { NodeSettings } from "../config.ts"
import { checkMigrated, migrate } from "../database/migrate.ts"
import { makePool } from "../database/pool.ts"
import type { Tables } from "../database/tables.ts"

/** One piece of work on a database of which the server is not yet, or never, up. */
export const onDatabase = <A>(url: Redacted.Redacted<string>, work: (db: Kysely<Tables>) => Promise<A>) =>
  Effect.acquireUseRelease(
    Effect.sync(
      () =>
        new Kysely<Tables>({
          dialect: new PostgresDialect({
            pool: makePool({ connectionString: Redacted.value(url), max: 1, connectionTimeoutMillis: 5_000 })
          })
        })
    ),
    (db) => Effect.tryPromise({ try: () => work(db), catch: (cause) => cause }),
    (db) => Effect.promise(() => db.destroy())
  )

export const prepareSchema = Effect.fn("cli.prepareSchema")(function* (settings: NodeSettings) {
  if (!settings.migrate) return yield* checkMigrated(settings.databaseUrl)
  const ran = yield* migrate(settings.databaseUrl)
  if (ran.length > 0) yield* Effect.logInfo("migrated", { count: ran.length })
})

const baseAt = (host: string, port: number) => `http://${host.includes(":") ? `[${host}]` : host}:${port}`

/**
 * Whoever receives something of a development server is on the same machine. A free port is not known before the server
 * has it.
 */
const reachable = (settings: NodeSettings): NodeSettings =>
  settings.mode !== "dev" || settings.port === 0
    ? settings
    : { ...settings, publicUrl: settings.publicUrl ?? baseAt(settings.host, settings.port) }

/** Builds the server in the caller's scope; its base URL once it accepts requests. */
export const startNode = Effect.fn("cli.startNode")(function* (settings: NodeSettings) {
  for (const stranger of settings.strangers) yield* Effect.logWarning(stranger)
  // Here, not above: `troupe --help` need not load the whole server.
  const main = yield* Effect.promise(() => import("../main.ts"))
  yield* Effect.promise(() => import("./engine.ts"))
  const context = yield* Layer.build(main.serveNode(reachable(settings)))
  const { address } = yield* Effect.provide(HttpServer.HttpServer, context)
  const port = address._tag === "UnixPathAddress" ? settings.port : address.port
  return baseAt(settings.host, port)
})
