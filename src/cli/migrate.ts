/** `troupe migrate`: brings the database to this version's tables. */
import { Console, Effect } from "effect"
import { migrate } from "../database/migrate.ts"
import { explained } from "./failure.ts"
import { withDatabase } from "./operator.ts"

export const migrateNow = Effect.fn("cli.migrate")(function* () {
  const ran = yield* withDatabase((url) => migrate(url).pipe(explained(0)))
  yield* Console.log(ran.length === 0 ? "The database is up to date." : `Ran ${ran.join(", ")}.`)
})
