/**
 * Whether PostgreSQL answers, for probes: anybody may ask, without a key and as often as they like, so that one look a
 * second serves all of them. A caller that leaves takes nobody's answer away.
 */
import { Effect } from "effect"
import type { Database } from "./Database.ts"

/** False where PostgreSQL cannot be reached, or has no connection free in time. */
export const makeAnswers = ({ read }: Pick<Database["Service"], "read">): Effect.Effect<Effect.Effect<boolean>> =>
  Effect.cachedWithTTL(
    read({ name: "ready", text: "select 1", values: [] }).pipe(
      Effect.as(true),
      Effect.catchTag("DatabaseUnavailable", () => Effect.succeed(false))
    ),
    "1 second"
  )
