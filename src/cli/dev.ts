/** `troupe dev`: one process with everything embedded, ready for a first message. */
import { Console, Effect, Redacted } from "effect"
import { Command } from "effect/cli"
import { join } from "node:path"
import { type NodeSettings, Settings } from "../config.ts"
import { Embedded } from "../postgres/Embedded.ts"
import { ensureKey, ensureWorkspace, UnusableKey } from "../store/workspaces.ts"
import * as Telemetry from "../telemetry/Telemetry.ts"
import { demoAgent, ensureDemo } from "./demo.ts"
import { explained, failure } from "./failure.ts"
import { onDatabase, prepareSchema, startNode } from "./node.ts"
import { keepDevKey, keepEncryptionKey } from "./secrets.ts"

const banner = (base: string, key: string) => `
  API        ${base}
  Reference  ${base}/docs
  OpenAPI    ${base}/v1/openapi.json
  Key        ${key}

  Try it:

curl -s ${base}/v1/threads -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"agentId":"${demoAgent}","message":{"content":[{"type":"text","text":"Hello, Troupe"}]}}'
`

const up = Effect.fn("cli.dev")(function*(found: Settings["Service"]) {
  const key = found.devKey === undefined ? yield* keepDevKey(found.dataFolder) : Redacted.value(found.devKey)
  const encryptionKeys = found.encryptionKeys.length > 0 ? found.encryptionKeys : [yield* keepEncryptionKey(found.dataFolder)]
  const databaseUrl = found.databaseUrl ?? (yield* Embedded.make(found.dataFolder)).url
  const settings: NodeSettings = { ...found, encryptionKeys, databaseUrl }
  yield* prepareSchema(settings)
  yield* onDatabase(databaseUrl, (db) => db.transaction().execute(async (tx) => {
    const workspace = await ensureWorkspace(tx, "default")
    await ensureKey(tx, workspace, key, undefined, "development")
    await ensureDemo(tx, workspace)
  })).pipe(Effect.catchIf(
    (error) => error instanceof UnusableKey,
    (error) => Effect.fail(failure(`${found.devKey === undefined ? join(found.dataFolder, "dev-key") : "TROUPE_DEV_KEY"}: ${error.message}. Remove it, and a new one is made.`, error))
  ))
  const base = yield* startNode(settings)
  yield* Console.log(banner(base, key))
  return yield* Effect.never
}, Effect.scoped, (effect, found) => effect.pipe(explained(found.port), Effect.provide(Telemetry.layer(found))))

export const dev = Command.make("dev", {}, () => Effect.flatMap(Settings.read("dev"), up)).pipe(
  Command.withDescription("One process, nothing else needed: embedded PostgreSQL, scripted models, a key and a demo agent")
)
