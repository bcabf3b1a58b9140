/** `troupe dev`: one process with everything embedded, or a cluster of several, ready for a first message. */
import { Console, Effect, Redacted } from "effect"
import { join } from "node:path"
import { type NodeSettings, Settings } from "../config.ts"
import { Embedded } from "../postgres/Embedded.ts"
import { ensureKey, ensureWorkspace, UnusableKey } from "../workspaces/ensure.ts"
import * as Telemetry from "../telemetry/Telemetry.ts"
import { banner } from "./banner.ts"
import { requireCluster, runCluster } from "./cluster.ts"
import { ensureDemo } from "./demo.ts"
import { explained, failure } from "./failure.ts"
import { type Farewell, withFarewell } from "./farewell.ts"
import { onDatabase, prepareSchema, startNode } from "./node.ts"
import { keepDevKey, keepEncryptionKey } from "./secrets.ts"
import { watchSignals } from "./signals.ts"

/** A database with tables, a key and a demo agent; up as long as the scope is open. */
const prepare = Effect.fn("cli.dev.prepare")(function* (found: Settings["Service"], farewell: Farewell) {
  const keyFile = found.devKey === undefined ? join(found.dataFolder, "dev-key") : undefined
  const key = found.devKey === undefined ? yield* keepDevKey(found.dataFolder) : Redacted.value(found.devKey)
  const encryptionKeys =
    found.encryptionKeys.length > 0 ? found.encryptionKeys : [yield* keepEncryptionKey(found.dataFolder)]
  const databaseUrl = found.databaseUrl ?? (yield* Embedded.make(found.dataFolder)).url
  const settings: NodeSettings = { ...found, encryptionKeys, databaseUrl }
  yield* prepareSchema(settings)
  yield* onDatabase(databaseUrl, (db) =>
    db.transaction().execute(async (tx) => {
      const workspace = await ensureWorkspace(tx, "default")
      await ensureKey(tx, workspace, key, undefined, "development")
      await ensureDemo(tx, workspace)
    })
  ).pipe(
    Effect.catchIf(
      (error) => error instanceof UnusableKey,
      (error) =>
        Effect.fail(
          failure(`${keyFile ?? "TROUPE_DEV_KEY"}: ${error.message}. Remove it, and a new one is made.`, error)
        )
    )
  )
  // Other nodes may go on with what is left in a database of the operator's.
  if (found.databaseUrl === undefined) yield* farewell.count(databaseUrl)
  return {
    settings,
    greeting: (bases: ReadonlyArray<string>) => banner({ bases, key, keyFile, terminal: process.stdout.isTTY === true })
  }
})

const one = Effect.fn("cli.dev")(function* (found: Settings["Service"], farewell: Farewell) {
  const { greeting, settings } = yield* prepare(found, farewell)
  const base = yield* startNode(settings)
  yield* Console.log(greeting([base]))
  return yield* Effect.never
})

const several = Effect.fn("cli.dev.cluster")(function* (found: Settings["Service"], nodes: number, farewell: Farewell) {
  yield* requireCluster(found)
  const { greeting, settings } = yield* prepare(found, farewell)
  return yield* runCluster(settings, nodes, (bases) => Console.log(greeting(bases)))
})

const up = Effect.fnUntraced(
  function* (found: Settings["Service"], nodes: number, farewell: Farewell) {
    // From before the first program is started to after the last has ended: a drain, and what PostgreSQL takes to stop.
    yield* watchSignals(found.drainSeconds, 5)
    return yield* nodes === 1 ? one(found, farewell) : several(found, nodes, farewell)
  },
  Effect.scoped,
  (effect, found) => effect.pipe(explained(found.port), Effect.provide(Telemetry.layer(found)))
)

/** A person reads it, and no program. */
const isRead = ({ logFormat }: Settings["Service"]) => process.stdout.isTTY === true && logFormat === "pretty"

export const dev = ({ nodes }: { readonly nodes: number }) =>
  Effect.flatMap(Settings.read("dev"), (found) => withFarewell(isRead(found), (farewell) => up(found, nodes, farewell)))
