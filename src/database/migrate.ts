/**
 * Brings a database to this version's tables.
 *
 * G1. Several nodes may start at once: one migrates under an advisory lock, the others wait and find
 *     nothing to do.
 * G2. A migration is all or nothing.
 * G3. Tables of a newer version are left alone, with a word about it: this version does not know what
 *     it would do to them.
 */
import { Data, Effect, Redacted } from "effect"
import { Kysely, PostgresDialect } from "kysely"
import { Migrator } from "kysely/migration"
import type pg from "pg"
import { migrations } from "./migrations/all.ts"
import { makePool } from "./pool.ts"

/** The database has migrations that this version does not know. */
export class NewerSchema extends Data.TaggedError("NewerSchema")<{ readonly migrations: ReadonlyArray<string> }> {
  override get message() {
    return (
      `the database has tables of a newer version (${this.migrations.join(", ")}): start that version, or one ` +
      "after it"
    )
  }
}

/** A statement of a migration failed. */
export class MigrationFailed extends Data.TaggedError("MigrationFailed")<{
  readonly migration: string | undefined
  readonly cause: unknown
}> {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return this.migration === undefined
      ? `the database could not be migrated: ${reason}`
      : `migration ${this.migration} failed: ${reason}`
  }
}

/** The server was told not to migrate, and the database lacks these. */
export class MigrationsPending extends Data.TaggedError("MigrationsPending")<{
  readonly migrations: ReadonlyArray<string>
}> {
  override get message() {
    return `the database lacks ${this.migrations.join(", ")}: start once without --no-migrate`
  }
}

/** Any number, the same for every node of every version. */
const lock = 7_417_316_072

const withMigrator = <A>(url: Redacted.Redacted<string>, use: (migrator: Migrator, pool: pg.Pool) => Promise<A>) =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      makePool({
        connectionString: Redacted.value(url),
        max: 2,
        connectionTimeoutMillis: 10_000,
        application_name: "troupe migrate"
      })
    ),
    (pool) =>
      Effect.tryPromise({
        try: () => {
          const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
          return use(new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } }), pool)
        },
        catch: (cause) =>
          cause instanceof MigrationFailed || cause instanceof NewerSchema
            ? cause
            : new MigrationFailed({ migration: undefined, cause })
      }),
    (pool) => Effect.promise(() => pool.end())
  )

/** G3. */
const refuseNewer = async (client: Pick<pg.Pool, "query">) => {
  const {
    rows: [{ found } = { found: false }]
  } = await client.query<{ found: boolean }>("select to_regclass('kysely_migration') is not null as found")
  if (!found) return
  const { rows } = await client.query<{ name: string }>("select name from kysely_migration order by name")
  const unknown = rows.flatMap(({ name }) => (name in migrations ? [] : [name]))
  if (unknown.length > 0) throw new NewerSchema({ migrations: unknown })
}

/** Runs what is missing; the names of the migrations that it ran. */
export const migrate = (url: Redacted.Redacted<string>) =>
  withMigrator(url, async (migrator, pool) => {
    const held = await pool.connect()
    try {
      await held.query("select pg_advisory_lock($1)", [lock])
      await refuseNewer(held)
      const { error, results = [] } = await migrator.migrateToLatest()
      if (error !== undefined) {
        throw new MigrationFailed({
          migration: results.find((result) => result.status === "Error")?.migrationName,
          cause: error
        })
      }
      return results.map((result) => result.migrationName)
    } finally {
      // Closing the session frees the lock, whatever happened to it.
      held.release(true)
    }
  })

/** Fails with what is missing; changes nothing but the migrator's own tables. */
export const checkMigrated = (url: Redacted.Redacted<string>) =>
  withMigrator(url, async (migrator, pool) => {
    await refuseNewer(pool)
    return migrator.getMigrations()
  }).pipe(
    Effect.flatMap((all) => {
      const missing = all.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name)
      return missing.length === 0 ? Effect.void : Effect.fail(new MigrationsPending({ migrations: missing }))
    })
  )
