/**
 * Which database an operator's command works on: the one of TROUPE_DATABASE_URL, else the embedded one of the data
 * folder.
 */
import { Effect, Option, type Redacted } from "effect"
import { Settings } from "../config.ts"
import { Embedded, runningUrl } from "../postgres/Embedded.ts"

/** The embedded one is used as it runs, or started for as long as the command takes. */
export const withDatabase = <A, E, R>(work: (url: Redacted.Redacted<string>) => Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const settings = yield* Settings.readDatabase
      if (settings.databaseUrl !== undefined) return yield* work(settings.databaseUrl)
      const running = yield* runningUrl(settings.dataFolder)
      const url = Option.isSome(running) ? running.value : (yield* Embedded.make(settings.dataFolder)).url
      return yield* work(url)
    })
  )
