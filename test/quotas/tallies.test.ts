import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { sql } from "kysely"
import pg from "pg"
import { toUuid } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"
import { Database } from "../../src/database/Database.ts"
import { migrate } from "../../src/database/migrate.ts"
import { addTallies, closedTallies, foldTallies, recentTallies } from "../../src/quotas/tallies.ts"
import { freshDatabase } from "../setup/database.ts"
import { eventually } from "../waiting.ts"

const opened = Effect.gen(function* () {
  const { url } = yield* Effect.acquireRelease(
    Effect.promise(() => freshDatabase()),
    ({ drop }) => Effect.promise(drop)
  )
  const context = yield* Layer.build(Database.layer({ url: Redacted.make(url) }))
  return { url, database: yield* Effect.provide(Database, Layer.succeedContext(context)) }
})

const [workspace, other, node] = [freshId("workspace"), freshId("workspace"), freshId("node")]

/** Rows of another node, so many minutes ago. */
const insert = (
  database: Database["Service"],
  rows: ReadonlyArray<readonly [minutesAgo: number, resource: string, amount: number]>
) =>
  database.run("test.tallies", (db) =>
    sql`insert into tallies (workspace, minute, resource, node, amount)
    select ${toUuid(workspace)}::uuid, floor(extract(epoch from now()) / 60)::int - m, r, ${toUuid(node)}::uuid, a
    from unnest(${rows.map(([m]) => m)}::int[], ${rows.map(([, r]) => r)}::text[], ${rows.map(([, , a]) => a)}::bigint[]) as given (m, r, a)`.execute(
      db
    )
  )

describe("tallies as rows", () => {
  it.live("add up in the minute of the database, and are found from that minute on", () =>
    Effect.gen(function* () {
      const { database } = yield* opened
      for (let times = 0; times < 2; times++) {
        yield* addTallies(database, node, [
          { workspace, resource: "threads", amount: 2 },
          { workspace, resource: "stored_bytes", amount: 3_000_000_000 }
        ])
      }
      const [closed] = yield* closedTallies(database, [workspace])
      assert.deepStrictEqual(closed?.amounts, [])
      const recent = yield* recentTallies(database, [
        { workspace, since: closed?.until ?? 0 },
        { workspace: other, since: 0 }
      ])
      assert.deepStrictEqual(
        recent.toSorted((a, b) => (a.resource < b.resource ? -1 : 1)),
        [
          { workspace, resource: "stored_bytes", amount: 6_000_000_000 },
          { workspace, resource: "threads", amount: 4 }
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live(
    "of minutes that are over are summed by the hour of the window; bytes of before it do not count, threads do",
    () =>
      Effect.gen(function* () {
        const { database } = yield* opened
        yield* insert(database, [
          [1_450, "stored_bytes", 1],
          [1_450, "threads", 1],
          [1_430, "stored_bytes", 2],
          [30, "stored_bytes", 4],
          [30, "threads", 8],
          [5, "of a newer version", 9]
        ])
        const [closed] = yield* closedTallies(database, [workspace])
        assert.deepStrictEqual(
          closed?.amounts.toSorted((a, b) => a.amount - b.amount),
          [
            { workspace, resource: "threads", amount: 1, hour: 0 },
            { workspace, resource: "stored_bytes", amount: 2, hour: 0 },
            { workspace, resource: "stored_bytes", amount: 4, hour: 23 },
            { workspace, resource: "threads", amount: 8, hour: 23 }
          ]
        )
      }).pipe(Effect.scoped)
  )

  it.live("of threads are made anew by an upgrade: what was archived before does not count, bytes stay", () =>
    Effect.gen(function* () {
      const { database, url } = yield* opened
      yield* insert(database, [
        [3, "threads", 7],
        [3, "stored_bytes", 100]
      ])
      const threads = Array.from({ length: 3 }, () => toUuid(freshId("thread")))
      yield* database.run("test.earlier", async (db) => {
        await sql`insert into heads (workspace, id, kind, attributes, epoch, pos, seq, rev, status, carry, created_at,
            updated_at, touched)
          select ${toUuid(workspace)}::uuid, t, 'thread', '{}', 1, 0, 0, 1, 'idle', '{}', now(), now(), 0
          from unnest(${threads}::uuid[]) as given (t)`.execute(db)
        await sql`insert into archived_threads (workspace, thread, at)
          values (${toUuid(workspace)}, ${threads[0]}, now())`.execute(db)
        await sql`delete from kysely_migration where name = '027_unarchived_threads'`.execute(db)
      })
      yield* migrate(Redacted.make(url))
      const { rows } = yield* database.run("test.sums", (db) =>
        sql`select resource, sum(amount)::int as amount from tallies group by 1 order by 1`.execute(db)
      )
      assert.deepStrictEqual(rows, [
        { resource: "stored_bytes", amount: 100 },
        { resource: "threads", amount: 2 }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("of threads are made anew beside a node that folds at that moment: the upgrade waits for it", () =>
    Effect.gen(function* () {
      const { database, url } = yield* opened
      yield* database.run("test.earlier", (db) =>
        sql`delete from kysely_migration where name = '027_unarchived_threads'`.execute(db)
      )
      const [folder, watcher] = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const clients = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })] as const
          for (const client of clients) await client.connect()
          return clients
        }),
        (clients) => Effect.promise(() => Promise.all(clients.map((client) => client.end())))
      )
      const thread = toUuid(freshId("thread"))
      yield* Effect.promise(async () => {
        await folder.query(
          `insert into heads (workspace, id, kind, attributes, epoch, pos, seq, rev, status, carry, created_at, updated_at,
            touched) values ($1, $2, 'thread', '{}', 1, 0, 0, 1, 'idle', '{}', now(), now(), 0)`,
          [toUuid(workspace), thread]
        )
        await folder.query("begin")
        await folder.query(
          `insert into tallies (workspace, minute, resource, node, amount)
            values ($1, 0, 'threads', '00000000-0000-0000-0000-000000000000', 9)`,
          [toUuid(workspace)]
        )
      })
      const upgrade = yield* Effect.forkChild(migrate(Redacted.make(url)), { startImmediately: true })
      yield* Effect.promise(() =>
        eventually(
          async () => ((await watcher.query("select from pg_locks where not granted")).rowCount ?? 0) > 0,
          "the upgrade waits"
        )
      )
      yield* Effect.promise(() => folder.query("commit"))
      assert.deepStrictEqual(yield* Fiber.join(upgrade), ["027_unarchived_threads"])
      const { rows } = yield* database.run("test.sums", (db) =>
        sql`select amount::int as amount from tallies`.execute(db)
      )
      assert.deepStrictEqual(rows, [{ amount: 1 }])
    }).pipe(Effect.scoped)
  )

  it.live("of old minutes are folded, and threads stay as many", () =>
    Effect.gen(function* () {
      const { database } = yield* opened
      yield* insert(database, [
        [2_000, "stored_bytes", 1],
        [2_000, "threads", 1],
        [1_900, "threads", 2],
        [60, "threads", 4],
        [60, "stored_bytes", 8]
      ])
      const threads = () =>
        Effect.map(closedTallies(database, [workspace]), ([closed]) =>
          (closed?.amounts ?? [])
            .filter(({ resource }) => resource === "threads")
            .reduce((sum, { amount }) => sum + amount, 0)
        )
      assert.strictEqual(yield* threads(), 7)
      const fold = foldTallies().pipe(Effect.provideService(Database, database))
      assert.deepStrictEqual([yield* fold, yield* fold], [3, 0])
      assert.strictEqual(yield* threads(), 7)
      yield* insert(database, [[1_800, "threads", 16]])
      assert.strictEqual(yield* fold, 1)
      assert.strictEqual(yield* threads(), 23)
      const { rows } = yield* database.run("test.rows", (db) =>
        sql<{ readonly minute: number }>`select minute from tallies`.execute(db)
      )
      assert.strictEqual(rows.filter(({ minute }) => minute === 0).length, 1)
      assert.lengthOf(rows, 3)
    }).pipe(Effect.scoped)
  )

  it.live("begin with the threads that there are, counted by the migration, and again after a rollback", () =>
    Effect.gen(function* () {
      const { database, url } = yield* opened
      const born = (kind: string) =>
        database.run("test.head", (db) =>
          sql`insert into heads
      (workspace, id, created_at, kind, attributes, epoch, touched, pos, seq, rev, updated_at, status, carry)
      values (${toUuid(workspace)}, ${toUuid(freshId("thread"))}, now(), ${kind}, '{}', 1, 0, 0, 0, 1, now(), 'idle', '{}')`.execute(
            db
          )
        )
      const forgotten = database.run("test.rollback", (db) =>
        sql`delete from kysely_migration where name >= '009_quotas'`.execute(db)
      )
      const counted = Effect.map(closedTallies(database, [workspace]), ([closed]) => closed?.amounts)
      for (const threads of [1, 2]) {
        yield* born("thread")
        yield* born("identity")
        yield* forgotten
        assert.strictEqual((yield* migrate(Redacted.make(url)))[0], "009_quotas")
        assert.deepStrictEqual(yield* counted, [{ workspace, resource: "threads", amount: threads, hour: 0 }])
      }
    }).pipe(Effect.scoped)
  )
})
