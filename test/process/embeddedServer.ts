/**
 * A process that holds an embedded PostgreSQL until it is told to stop: `node embeddedServer.ts <data folder>`.
 * On SIGUSR2 it leaves at once, without a finalizer.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Redacted } from "effect"
import { Embedded } from "../../src/postgres/Embedded.ts"

process.once("SIGUSR2", () => process.exit(3))
const t0 = performance.now()
Embedded.make(process.argv[2] ?? "").pipe(
  Effect.tap((e) =>
    Console.log(
      JSON.stringify({
        url: Redacted.value(e.url),
        pid: e.pid,
        folder: e.folder,
        ms: Math.round(performance.now() - t0)
      })
    )
  ),
  Effect.andThen(Effect.never),
  Effect.scoped,
  NodeRuntime.runMain
)
