/** A process that holds an embedded PostgreSQL until it is told to stop: `node embeddedServer.ts <data folder>`. */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Redacted } from "effect"
import { Embedded } from "../../src/postgres/Embedded.ts"

const t0 = performance.now()
Embedded.make(process.argv[2] ?? "").pipe(
  Effect.tap((e) => Console.log(JSON.stringify({ url: Redacted.value(e.url), pid: e.pid, folder: e.folder, ms: Math.round(performance.now() - t0) }))),
  Effect.andThen(Effect.never),
  Effect.scoped,
  NodeRuntime.runMain
)
