import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { sql } from "kysely"
import { Database } from "../../src/database/Database.ts"
import { checkMigrated, migrate } from "../../src/database/migrate.ts"
import { migrations } from "../../src/database/migrations/all.ts"
import { forgetOldKeys } from "../../src/chores/tidy.ts"
import { databaseDuring, freshDatabase } from "../setup/database.ts"

describe("the database", async () => {
  const fresh = await databaseDuring()

  const open = (options: { readonly connections?: number; readonly logs?: number } = {}) =>
    Effect.map(Layer.build(Database.layer({ url: Redacted.make(fresh.url), ...options })), (context) =>
      Context.get(context, Database)
    )

  it.live("answers a caller that finds no connection free after two seconds", () =>
    Effect.gen(function* () {
      const database = yield* open({ connections: 2 })
      const busy = Effect.forkChild(
        database.run("sleep", (db) => sql`select pg_sleep(3)`.execute(db)),
        { startImmediately: true }
      )
      yield* busy
      const start = performance.now()
      const refusal = yield* Effect.flip(database.run("ask", (db) => sql`select 1`.execute(db)))
      assert.strictEqual(refusal._tag, "DatabaseUnavailable")
      assert.isBelow(performance.now() - start, 2_500)
    }).pipe(Effect.scoped)
  )

  it.effect("gives readers of whole logs turns, and answers one that has had none after twenty seconds", () =>
    Effect.gen(function* () {
      const database = yield* open({ logs: 1 })
      const one = database.longRead("one", (read) =>
        read<{ one: number }>({ name: "one", text: "select 1 as one", values: [] })
      )
      const reading = yield* Effect.forkChild(
        database.longRead("long", () => Effect.never),
        { startImmediately: true }
      )
      const left = yield* Effect.forkChild(one, { startImmediately: true })
      const patient = yield* Effect.forkChild(Effect.flip(one), { startImmediately: true })
      assert.strictEqual(database.pool().waiting, 2)
      yield* Fiber.interrupt(left)
      assert.strictEqual(database.pool().waiting, 1)
      yield* TestClock.adjust(20_000)
      assert.strictEqual((yield* Fiber.join(patient))._tag, "DatabaseUnavailable")
      assert.strictEqual(database.pool().waiting, 0)
      yield* Fiber.interrupt(reading)
      assert.deepStrictEqual(yield* one, [{ one: 1 }])
    }).pipe(Effect.scoped)
  )

  it.live("calls a statement that takes too long unavailability, and a wrong one a defect", () =>
    Effect.gen(function* () {
      const database = yield* open()
      const slow = yield* Effect.flip(
        database.atomically("slow", async (tx) => {
          await sql`set local statement_timeout = 20`.execute(tx)
          await sql`select pg_sleep(1)`.execute(tx)
        })
      )
      assert.strictEqual(slow._tag, "DatabaseUnavailable")
      const wrong = yield* Effect.exit(database.run("wrong", (db) => sql`select nothing`.execute(db)))
      assert.isTrue(Exit.hasDies(wrong))
    }).pipe(Effect.scoped)
  )

  it.live("goes on after its connections were ended, idle ones and busy ones", () =>
    Effect.gen(function* () {
      const database = yield* open()
      const one = database.read<{ one: number }>({ name: "one", text: "select 1 as one", values: [] })
      yield* one
      yield* database.run("end", (db) =>
        sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(
          db
        )
      )
      assert.deepStrictEqual(yield* Effect.retry(one, { times: 3 }), [{ one: 1 }])
    }).pipe(Effect.scoped)
  )

  it.live("does not end the process when a connection breaks between two statements of a transaction", () =>
    Effect.gen(function* () {
      const database = yield* open()
      const broken = yield* Effect.flip(
        database.atomically("hold", async (tx) => {
          const {
            rows: [row]
          } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
          const ask = (name: string, text: string) =>
            Effect.runPromise(database.read({ name, text, values: [row?.pid ?? 0] }))
          await ask("end one", "select pg_terminate_backend($1)")
          // By then the connection has told nobody: nobody has asked it anything.
          for (let left = 1; left > 0; )
            left = (await ask("look", "select pid from pg_stat_activity where pid = $1")).length
          await sql`select 1`.execute(tx)
        })
      )
      assert.strictEqual(broken._tag, "DatabaseUnavailable")
      assert.deepStrictEqual(
        (yield* database.run("again", (db) => sql<{ one: number }>`select 1 as one`.execute(db))).rows,
        [{ one: 1 }]
      )
    }).pipe(Effect.scoped)
  )

  it.live("begins a transaction again that lost a deadlock", () =>
    Effect.gen(function* () {
      const database = yield* open()
      yield* database.run("clear", (db) => sql`drop table if exists pair`.execute(db))
      yield* database.run("make", (db) =>
        sql`create table pair (id int primary key, n int not null default 0)`.execute(db)
      )
      yield* database.run("fill", (db) => sql`insert into pair values (1), (2)`.execute(db))
      let first = 0
      const bump = (order: ReadonlyArray<number>) =>
        database.atomically("bump", async (tx) => {
          for (const id of order) {
            await sql`update pair set n = n + 1 where id = ${id}`.execute(tx)
            // Both hold their first row before either asks for its second.
            first++
            while (first < 2) await new Promise(setImmediate)
          }
        })
      yield* Effect.all([bump([1, 2]), bump([2, 1])], { concurrency: 2 })
      const { rows } = yield* database.run("read", (db) =>
        sql<{ n: number }>`select n from pair order by id`.execute(db)
      )
      assert.deepStrictEqual(rows, [{ n: 2 }, { n: 2 }])
    }).pipe(Effect.scoped)
  )

  it.live("forgets idempotency keys that are past their day, and keeps the others", () =>
    Effect.gen(function* () {
      const database = yield* open()
      yield* database.run("clear", (db) => sql`delete from idempotency`.execute(db))
      yield* database.run("fill", (db) =>
        sql`insert into idempotency (workspace, scope, created_at, status, fingerprint, body)
      select gen_random_uuid(), i::text, now() + interval '30 seconds' - i * interval '1 minute', 200, '', '' from generate_series(1, 4500) i`.execute(
          db
        )
      )
      assert.strictEqual(yield* forgetOldKeys().pipe(Effect.provideService(Database, database)), 3_000)
      const { rows } = yield* database.run("count", (db) =>
        sql<{ n: number }>`select count(*)::int as n from idempotency`.execute(db)
      )
      assert.deepStrictEqual(rows, [{ n: 1_500 }])
    }).pipe(Effect.scoped)
  )
})

describe("the migrations", () => {
  it.live("run once, however many nodes start together, and are asked for by name when forbidden", () =>
    Effect.gen(function* () {
      const empty = yield* Effect.acquireRelease(
        Effect.promise(() => freshDatabase({ migrated: false })),
        (database) => Effect.promise(() => database.drop())
      )
      const url = Redacted.make(empty.url)
      const names = Object.keys(migrations)
      const refusal = yield* Effect.flip(checkMigrated(url))
      assert.deepStrictEqual(refusal._tag === "MigrationsPending" && refusal.migrations, names)
      const ran = yield* Effect.all(
        Array.from({ length: 4 }, () => migrate(url)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(ran.flat(), names)
      yield* checkMigrated(url)
    }).pipe(Effect.scoped)
  )

  it.live("leave tables of a newer version alone, and say so, whether they may migrate or not", () =>
    Effect.gen(function* () {
      const newer = yield* Effect.acquireRelease(
        Effect.promise(() => freshDatabase()),
        (database) => Effect.promise(() => database.drop())
      )
      const url = Redacted.make(newer.url)
      const database = Context.get(yield* Layer.build(Database.layer({ url })), Database)
      yield* database.run("newer", (db) =>
        sql`insert into kysely_migration (name, timestamp) values ('999_later', now()::text)`.execute(db)
      )
      for (const refused of [migrate(url), checkMigrated(url)]) {
        const refusal = yield* Effect.flip(refused)
        assert.deepStrictEqual(refusal._tag === "NewerSchema" && refusal.migrations, ["999_later"])
        assert.match(refusal.message, /newer version \(999_later\)/)
      }
    }).pipe(Effect.scoped)
  )

  it.live("say which database they could not reach", () =>
    Effect.gen(function* () {
      const refusal = yield* Effect.flip(migrate(Redacted.make("postgres://nobody@127.0.0.1:1/none")))
      assert.strictEqual(refusal._tag, "MigrationFailed")
      assert.match(refusal.message, /could not be migrated/)
    })
  )
})
