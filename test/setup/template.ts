/** Brings the template database of the test run to the newest schema. */
import { Effect, Redacted } from "effect"
import { migrate } from "../../src/database/migrate.ts"

export const migrateTemplate = (url: string) => Effect.runPromise(migrate(Redacted.make(url)))
