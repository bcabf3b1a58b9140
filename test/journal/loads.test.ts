/** Loads in pages, of actors that keep each other from nothing; and what is never behind them. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { toUuid } from "../../src/domain/ids.ts"
import {
  type ActorRef,
  type Append,
  type Claimed,
  type FactRow,
  Journal,
  type Loaded
} from "../../src/journal/Journal.ts"
import { loads } from "../../src/journal/loads.ts"
import { layerPostgres } from "../../src/journal/postgres.ts"
import { layerPostgresLease } from "../../src/journal/PostgresLease.ts"
import { allShards } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { Database } from "../../src/database/Database.ts"
import { ownConnection } from "../setup/database.ts"

const workspace = freshId("workspace")
const turn = freshId("turn")

describe("loads", async () => {
  const { query, url } = await ownConnection()
  const node = Effect.gen(function* () {
    const context = yield* Layer.build(
      layerPostgres().pipe(
        Layer.provideMerge(layerPostgresLease({ name: "a", ttl: 60_000 })),
        Layer.provideMerge(Database.layer({ url: Redacted.make(url) }))
      )
    )
    return { journal: Context.get(context, Journal), database: Context.get(context, Database) }
  })

  /** An actor with so many facts of an unfinished turn, each of so many characters, and so many inputs that wait. */
  const born = (facts: number, characters = 10, inputs = 0): Append => {
    const actor: ActorRef = { workspace, kind: "thread", id: freshId("thread") }
    const rows = Array.from(
      { length: facts },
      (_, n): FactRow => ({
        type: "user_message",
        turn,
        n,
        public: true,
        event: JSON.stringify({ text: "x".repeat(characters), n }),
        detail: null,
        once: null,
        at: Date.now()
      })
    )
    return {
      actor,
      epoch: 1,
      rev: 0,
      facts: rows,
      birth: { parent: null, attributes: "{}" },
      head: {
        pos: facts,
        seq: facts,
        rev: 1,
        status: "running",
        runnableAt: null,
        since: facts === 0 ? null : 1,
        carry: "{}",
        updatedAt: Date.now()
      },
      inputs: {
        put: Array.from({ length: inputs }, (_, i) => ({
          id: freshId("input"),
          ord: i - 1,
          state: "pending" as const,
          body: JSON.stringify("y".repeat(characters))
        })),
        drop: []
      }
    }
  }
  const claimAll = (journal: Journal["Service"], appends: ReadonlyArray<Append>) =>
    Effect.gen(function* () {
      yield* Effect.forEach(appends, journal.append, { concurrency: "unbounded", discard: true })
      return yield* Effect.forEach(appends, ({ actor }) => journal.claim(actor), { concurrency: "unbounded" })
    })
  const loadAll = <E>(claimed: ReadonlyArray<Claimed>, load: (claimed: Claimed) => Effect.Effect<Loaded, E>) =>
    Effect.forEach(claimed, (each) => Effect.exit(load(each)), { concurrency: "unbounded" })
  const assertWhole = (appends: ReadonlyArray<Append>, loaded: ReadonlyArray<Loaded>, message?: string) => {
    const sizes = (facts: number, inputs: ReadonlyArray<unknown>) => ({ facts, inputs })
    assert.deepStrictEqual(
      loaded.map(({ facts, inputs }) => sizes(facts.length, inputs)),
      appends.map(({ facts, inputs }) => sizes(facts.length, inputs?.put ?? [])),
      message
    )
    for (const { facts } of loaded)
      assert.deepStrictEqual(
        facts.map(({ pos }) => pos),
        facts.map((_, i) => i + 1),
        message
      )
  }
  const tagOf = (exit: Exit.Exit<Loaded, { readonly _tag: string }>) =>
    Exit.isSuccess(exit) ? exit.value.facts.length : Cause.hasDies(exit.cause) ? "defect" : "unavailable"

  it.live("come in pages of so many facts and bytes, whole and in order, whatever the page's end cuts", () =>
    Effect.gen(function* () {
      const { database, journal } = yield* node
      const appends = [born(3), born(0), born(7, 500, 3), born(1, 2_000), born(0, 900, 4), born(12, 50, 1), born(2)]
      const claimed = yield* claimAll(journal, appends)
      const enough = { facts: 1_000, bytes: 1_000_000 }
      for (const shared of [
        enough,
        { facts: 1, bytes: 1 },
        { facts: 4, bytes: 1_000_000 },
        { facts: 1_000, bytes: 600 },
        { facts: 5, bytes: 1_500 }
      ]) {
        for (const alone of [enough, { facts: 2, bytes: 1 }]) {
          for (const many of [1_000, 5]) {
            const load = loads(database, { shared, alone, many, most: 1_000_000 })
            const loaded = yield* Effect.forEach(claimed, load, { concurrency: "unbounded" })
            assertWhole(appends, loaded, JSON.stringify({ shared, alone, many }))
          }
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("share one statement where the actors are small", () =>
    Effect.gen(function* () {
      const { database, journal } = yield* node
      const appends = Array.from({ length: 100 }, () => born(20))
      const claimed = yield* claimAll(journal, appends)
      const before = database.counts.api
      assertWhole(appends, yield* Effect.forEach(claimed, journal.load, { concurrency: "unbounded" }))
      assert.strictEqual(database.counts.api - before, 1)
    }).pipe(Effect.scoped)
  )

  it.live("fail for one that is too large, that cannot be read or not be asked for, and load the others", () =>
    Effect.gen(function* () {
      const { database, journal } = yield* node
      const appends = [born(2), born(40, 1_000), born(3), born(4), born(5)]
      const claimed = yield* claimAll(journal, appends)
      yield* Effect.promise(() =>
        query("update facts set event = 'nonsense' where actor = $1 and pos = 2", [toUuid(appends[2]!.actor.id)])
      )
      const load = loads(database, {
        shared: { facts: 100, bytes: 5_000 },
        alone: { facts: 10, bytes: 5_000 },
        many: 50,
        most: 20_000
      })
      const asked = claimed.map((each, i) => (i === 3 ? { ...each, head: { ...each.head, pos: 2 ** 40 } } : each))
      const wide = loads(database, {
        shared: { facts: 2 ** 42, bytes: 5_000 },
        alone: { facts: 10, bytes: 5_000 },
        many: 2 ** 42,
        most: 20_000
      })
      assert.deepStrictEqual((yield* loadAll(claimed, load)).map(tagOf), [2, "defect", "defect", 4, 5])
      assert.deepStrictEqual((yield* loadAll(asked, wide)).map(tagOf), [2, "defect", "defect", "defect", 5])
    }).pipe(Effect.scoped)
  )

  it.live(
    "that hang, and whole logs that hang, keep nobody else: claims, actors at rest, what is due, keys, the inbox",
    () =>
      Effect.gen(function* () {
        const { database, journal } = yield* node
        const [large, small, resting] = [born(1_500), born(3), born(0, 10, 2)]
        const claimed = yield* claimAll(journal, [large, small, resting])
        yield* Effect.promise(() => query("begin", []))
        yield* Effect.promise(() => query("lock table facts in access exclusive mode", []))
        const hung = yield* Effect.forEach(
          [
            ...Array.from({ length: 6 }, () => Effect.asVoid(journal.log(large.actor, 0, ["user_message"]))),
            ...claimed.slice(0, 2).map((each) => Effect.asVoid(journal.load(each)))
          ],
          (effect) => Effect.forkChild(Effect.exit(effect), { startImmediately: true })
        )
        const waiting = Effect.promise(() =>
          query<{ n: number }>(
            "select pg_stat_clear_snapshot(), count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
            []
          )
        )
        while ((yield* waiting).rows[0]?.n !== 3) yield* Effect.sleep("5 millis")
        const start = performance.now()
        const again = yield* journal.claim(resting.actor)
        assertWhole([resting], [yield* journal.load(again)])
        yield* journal.due(10, allShards)
        yield* journal.key(workspace, "none")
        yield* journal.inbox({ actors: 10, rows: 10, shards: allShards, after: undefined, except: [] })
        yield* journal.inboxRows(resting.actor, { rows: 10, except: [] })
        yield* journal.release([{ actor: resting.actor, epoch: again.epoch }])
        assert.isBelow(performance.now() - start, 1_000)
        assert.isAtLeast(database.pool().waiting, 5)
        yield* Effect.promise(() => query("rollback", []))
        assert.isTrue((yield* Effect.forEach(hung, Fiber.join)).every(Exit.isSuccess))
        assert.strictEqual(database.pool().waiting, 0)
      }).pipe(Effect.scoped)
  )
})
