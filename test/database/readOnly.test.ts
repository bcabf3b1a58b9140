/** While a failover lasts, PostgreSQL is read-only: no bug of an actor. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Redacted } from "effect"
import pg from "pg"
import { Database } from "../../src/database/Database.ts"
import { freshDatabase } from "../setup/database.ts"

describe("a database that is read-only for a moment", () => {
  it.live("is unavailable to who writes, not a defect", () =>
    Effect.gen(function* () {
      const fresh = yield* Effect.promise(() => freshDatabase())
      const admin = new pg.Client({ connectionString: fresh.url })
      yield* Effect.promise(() => admin.connect())
      const name = new URL(fresh.url).pathname.slice(1)
      yield* Effect.promise(() => admin.query(`alter database "${name}" set default_transaction_read_only = on`))
      const exit = yield* Effect.gen(function* () {
        const database = yield* Database
        return yield* Effect.exit(database.read({ name: "writes", text: "update heads set rev = rev", values: [] }))
      }).pipe(Effect.provide(Database.layer({ url: Redacted.make(fresh.url) })))
      yield* Effect.promise(() => admin.end())
      yield* Effect.promise(() => fresh.drop())
      assert.isTrue(Exit.isFailure(exit) && !Cause.hasDies(exit.cause), String(exit))
    })
  )
})
