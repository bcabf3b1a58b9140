/** What only one of the journals does: late appends in memory; shards, pages and doubts in PostgreSQL. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { body, toUuid } from "../../src/domain/ids.ts"
import { coarseOf, shardOf } from "../../src/journal/shard.ts"
import { identityActorId } from "../../src/identities/actorId.ts"
import { appends } from "../../src/journal/appends.ts"
import { appendStatement, sizeOf } from "../../src/journal/appendStatement.ts"
import { wholeLog } from "../../src/journal/wholeLog.ts"
import { freshId } from "../../src/seed.ts"
import { Database } from "../../src/database/Database.ts"
import { type Fault, MemoryStore } from "../../src/journal/MemoryStore.ts"
import { memoryWorld, type Owner, type PostgresWorld, postgresWorld } from "./journals.ts"
import { birth, fact, headOf, key, next, tags, thread, together, workspace } from "./journalRows.ts"

describe("the journal in memory alone", () => {
  const opened = Effect.gen(function* () {
    const store = new MemoryStore()
    const { journal } = yield* memoryWorld(store).open("a")
    const actor = thread()
    yield* journal.append(birth(actor))
    return { actor, journal, store }
  })
  const appending = (fault: Fault) =>
    Effect.gen(function* () {
      const { actor, journal, store } = yield* opened
      store.fault = (commit) => (commit === 2 ? fault : undefined)
      assert.deepStrictEqual(tags(yield* together([journal.append(next(actor, { rev: 1 }, { facts: [fact()] }))])), [
        "JournalUnavailable"
      ])
      return { actor, journal, store }
    })
  const posOf = (journal: Owner["journal"], actor: ActorRef) => Effect.map(journal.claim(actor), ({ head }) => head.pos)

  it.live("lets a late append arrive just before the next claim, and one that is too late be refused after it", () =>
    Effect.gen(function* () {
      for (const [fault, pos] of [
        ["late", 1],
        ["too late", 0]
      ] as const) {
        const { actor, journal } = yield* appending(fault)
        assert.deepStrictEqual([yield* posOf(journal, actor), yield* posOf(journal, actor)], [pos, pos])
      }
    }).pipe(Effect.scoped)
  )

  it.live("lets what is late arrive when the test says so", () =>
    Effect.gen(function* () {
      for (const fault of ["late", "too late"] as const) {
        const { actor, journal, store } = yield* appending(fault)
        store.arrive(Date.now())
        assert.strictEqual(yield* posOf(journal, actor), 1)
      }
    }).pipe(Effect.scoped)
  )

  it.live("fails the reads that a test names, before they do anything", () =>
    Effect.gen(function* () {
      const { actor, journal, store } = yield* opened
      const seen: Array<string> = []
      store.readFault = (read, n) => {
        seen.push(`${read} ${n}`)
        return (read === "claim" && n === 1) || read === "load" ? "unasked" : undefined
      }
      const claims = yield* together([journal.claim(actor)])
      const claimed = yield* journal.claim(actor)
      assert.deepStrictEqual([...tags(claims), claimed.epoch], ["JournalUnavailable", 2])
      assert.deepStrictEqual(tags(yield* together([journal.load(claimed)])), ["JournalUnavailable"])
      assert.deepStrictEqual(seen, ["claim 1", "claim 2", "load 1"])
    }).pipe(Effect.scoped)
  )
})

describe("the journal in PostgreSQL alone", () => {
  let world: PostgresWorld
  beforeAll(async () => {
    world = await postgresWorld()
  })
  afterAll(() => world.close())

  it.live("finds the shard of an id where the program finds it", () =>
    Effect.promise(async () => {
      const ids = (["thread", "agent", "node"] as const).flatMap((noun) =>
        Array.from({ length: 50 }, () => freshId(noun))
      )
      ids.push(...Array.from({ length: 50 }, (_, i) => identityActorId(workspace, `i${i}`)))
      const [row] = await world.sql(
        "select array_agg(fine_shard_of(id) order by o) as shards, array_agg(shard_of(id) order by o) as coarse from unnest($1::uuid[]) with ordinality as u(id, o)",
        [ids.map(toUuid)]
      )
      assert.deepStrictEqual(row?.shards, ids.map(shardOf))
      assert.deepStrictEqual(
        row?.coarse,
        ids.map((id) => coarseOf(shardOf(id))),
        "as nodes of earlier versions ask"
      )
      assert.isAbove(new Set(ids.map(shardOf)).size, 80)
    })
  )

  it.live("reads a whole log in pages of so many facts, of fewer where they are large, each fact once", () =>
    Effect.gen(function* () {
      const { journal } = yield* world.open("a")
      const database = yield* Database
      const actor = thread()
      const written = Array.from({ length: 23 }, (_, n) =>
        fact({
          n,
          event: JSON.stringify({ text: "x".repeat(n === 7 ? 5_000 : 100) }),
          ...(n % 3 === 0 && { type: "turn_completed" })
        })
      )
      yield* journal.append(birth(actor))
      yield* journal.append(next(actor, { rev: 1 }, { facts: written }))
      const types = ["user_message"]
      const whole = yield* journal.log(actor, 0, types)
      assert.deepStrictEqual(
        whole.facts.map(({ n }) => n),
        written.flatMap(({ n, type }) => (type === "user_message" ? [n] : []))
      )
      // Whole pages, a last page that is full, shares that the large fact or every fact exceeds, and both bounds at
      // once.
      for (const most of [
        { facts: 1, bytes: 1 },
        { facts: 5, bytes: 1_000_000 },
        { facts: 15, bytes: 1_000_000 },
        { facts: 100, bytes: 100_000 },
        { facts: 100, bytes: 1 },
        { facts: 5, bytes: 20_000 }
      ]) {
        const { facts, pos } = yield* wholeLog(database, actor, 0, types, most)
        assert.deepStrictEqual([facts, pos], [whole.facts, whole.pos], JSON.stringify(most))
      }
    }).pipe(Effect.provide(Database.layer({ url: Redacted.make(world.url) })), Effect.scoped)
  )

  /** The lock that `held` waits for, after it has written its head and before it commits. */
  const gate = 7
  /** Heads inserted from here on wait, uncommitted, until what runs beside them has ended. */
  const gated = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Effect.promise(async () => {
        await world.sql(
          `create or replace function held() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(${gate}); return null; end'`
        )
        await world.sql("create trigger held after insert on heads for each row execute function held()")
        await world.sql(`select pg_advisory_lock(${gate})`)
      }),
      () => effect,
      () =>
        Effect.promise(async () => {
          await world.sql("select pg_advisory_unlock_all()")
          await world.sql("drop trigger held on heads")
        })
    )
  const waitingWriters = (count: number) =>
    Effect.gen(function* () {
      const waiting = () =>
        world.sql(
          "select pg_stat_clear_snapshot(), count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'troupe writer'"
        )
      while ((yield* Effect.promise(waiting))[0]?.n !== count) yield* Effect.sleep("5 millis")
    })
  /**
   * Appends together in one statement whose connection is lost while it runs on; then it, and the one that tries it
   * again, wait for a lock.
   */
  const doubted = <A, E>(appends: ReadonlyArray<Effect.Effect<A, E>>) =>
    Effect.gen(function* () {
      const sent = world.proxy.cutOnceSent("append ")
      const appending = yield* Effect.forkChild(together(appends), { startImmediately: true })
      yield* Effect.promise(() => sent)
      yield* waitingWriters(2)
      return appending
    })

  it.live("a refused retry that was a success is a success", () =>
    Effect.gen(function* () {
      const { journal } = yield* world.open("a")
      const actor = thread()
      yield* journal.append(birth(actor))
      // The head is locked, so that the first attempt still waits when its connection is lost and the head is read.
      yield* Effect.promise(() => world.sql("begin"))
      yield* Effect.promise(() => world.sql("select from heads for update"))
      const appending = yield* doubted([
        journal.append(next(actor, { rev: 1 }, { facts: [fact({ once: body(actor.id) })] }))
      ])
      yield* Effect.promise(() => world.sql("commit"))
      assert.deepStrictEqual(tags(yield* Fiber.join(appending)), ["done"])
      assert.strictEqual((yield* Effect.promise(() => world.facts(actor))).length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("a birth in doubt that is born by its own first attempt is a success, and its key is its own", () =>
    Effect.gen(function* () {
      const { journal } = yield* world.open("a")
      for (const keys of [[], [key()]]) {
        const actor = thread()
        const appending = yield* gated(doubted([journal.append(birth(actor, { keys }))]))
        assert.deepStrictEqual(tags(yield* Fiber.join(appending)), ["done"])
        assert.strictEqual((yield* journal.claim(actor)).head.rev, 1)
        for (const { scope } of keys) assert.deepStrictEqual(yield* journal.key(workspace, scope), keys[0])
      }
    }).pipe(Effect.scoped)
  )

  it.live("a batch in doubt stays in doubt when it is taken apart: what its first attempt did is done", () =>
    Effect.gen(function* () {
      const { journal } = yield* world.open("a")
      const [born, keyed, moving] = [thread(), thread(), thread()]
      yield* journal.append(birth(moving))
      const kept = key()
      const appending = yield* gated(
        doubted([
          journal.append(birth(born)),
          journal.append(birth(keyed, { keys: [kept] })),
          journal.append(next(moving, { rev: 1 }, { facts: [fact({ once: body(moving.id) })] }))
        ])
      )
      assert.deepStrictEqual(tags(yield* Fiber.join(appending)), ["done", "done", "done"])
      assert.deepStrictEqual(
        (yield* Effect.all([born, keyed, moving].map((actor) => journal.claim(actor)))).map(({ head }) => head.rev),
        [1, 1, 2]
      )
      assert.deepStrictEqual(yield* journal.key(workspace, kept.scope), kept)
    }).pipe(Effect.scoped)
  )

  it.live(
    "an append in doubt is refused when its head has not moved, and stays in doubt when another owner has moved it",
    () =>
      Effect.gen(function* () {
        const { journal } = yield* world.open("a")
        for (const [moves, tag] of [
          [0, "Superseded"],
          [1, "JournalUnavailable"]
        ] as const) {
          const actor = thread()
          yield* journal.append(birth(actor))
          yield* Effect.promise(() => world.sql("begin"))
          yield* Effect.promise(() =>
            world.sql("update heads set owner = gen_random_uuid(), epoch = epoch + 1, rev = rev + $2 where id = $1", [
              toUuid(actor.id),
              moves
            ])
          )
          const appending = yield* doubted([journal.append(next(actor, { rev: 1 }, { facts: [fact()] }))])
          yield* Effect.promise(() => world.sql("commit"))
          assert.deepStrictEqual(tags(yield* Fiber.join(appending)), [tag])
        }
      }).pipe(Effect.scoped)
  )

  it.live(
    "of a batch that waits for one actor's lock, the others pass",
    () =>
      Effect.gen(function* () {
        const { journal } = yield* world.open("a")
        const actors = Array.from({ length: 6 }, thread).sort((a, b) => (a.id < b.id ? -1 : 1))
        yield* together(actors.map((actor) => journal.append(birth(actor))))
        yield* Effect.promise(() => world.sql("begin"))
        yield* Effect.promise(() => world.sql("select from heads where id = $1 for update", [toUuid(actors[5]!.id)]))
        const appending = yield* Effect.forEach(actors, (actor) =>
          Effect.forkChild(journal.append(next(actor, { rev: 1 }, { facts: [fact()] })), { startImmediately: true })
        )
        yield* Effect.forEach(appending.slice(0, 5), Fiber.join)
        yield* Effect.promise(() => world.sql("commit"))
        yield* Fiber.join(appending[5]!)
      }).pipe(Effect.scoped),
    20_000
  )

  it.live(
    "of claims that share a statement, one whose head is locked keeps none of the others",
    () =>
      Effect.gen(function* () {
        const { journal } = yield* world.open("a")
        const actors = Array.from({ length: 6 }, thread).sort((a, b) => (a.id < b.id ? -1 : 1))
        yield* together(actors.map((actor) => journal.append(birth(actor))))
        yield* Effect.promise(() => world.sql("begin"))
        yield* Effect.promise(() => world.sql("select from heads where id = $1 for update", [toUuid(actors[5]!.id)]))
        const claiming = yield* Effect.forEach(actors, (actor) =>
          Effect.forkChild(journal.claim(actor), { startImmediately: true })
        )
        yield* Effect.forEach(claiming.slice(0, 5), Fiber.join)
        yield* Effect.promise(() => world.sql("commit"))
        assert.strictEqual((yield* Fiber.join(claiming[5]!)).epoch, 2)
      }).pipe(Effect.scoped),
    20_000
  )

  it.live("says of a claim that was repeated after a lost connection that nobody knows whose the actor was", () =>
    Effect.gen(function* () {
      const { journal } = yield* world.open("a")
      const actor = thread()
      yield* journal.append(birth(actor))
      world.proxy.cut("claim take", "after")
      const { epoch, mine } = yield* journal.claim(actor)
      assert.deepStrictEqual([epoch, mine], [3, false])
    }).pipe(Effect.scoped)
  )

  it.live(
    "books for an agent without waiting for what another node books for it, and sums what nodes of the version before book",
    () =>
      Effect.gen(function* () {
        const [a, b] = [yield* world.open("a"), yield* world.open("b")]
        const subject = freshId("agent")
        const spending = () => birth(thread(), { spent: { subject, amount: 0.25 } })
        const other = appendStatement([{ ...spending(), owner: b.lease.incarnation() }])
        yield* Effect.promise(() => world.sql("begin"))
        yield* Effect.promise(() => world.sql(other.text, other.values))
        const start = performance.now()
        yield* a.journal.append(spending())
        assert.isBelow(performance.now() - start, 1_000)
        yield* Effect.promise(() => world.sql("commit"))
        yield* Effect.promise(() =>
          world.sql(
            `insert into spend (workspace, subject, minute, amount) select w, s, 0, 1 from unnest($1::uuid[], $2::uuid[]) as g(w, s)
      on conflict (workspace, subject, minute) do update set amount = spend.amount + excluded.amount`,
            [[toUuid(workspace)], [toUuid(subject)]]
          )
        )
        assert.strictEqual(yield* Effect.promise(() => world.spent(workspace, subject)), 1.5)
      }).pipe(Effect.scoped)
  )

  it.live("sends one statement whatever facts say, and only one that names an image has an entry in their index", () =>
    Effect.gen(function* () {
      const { journal, lease } = yield* world.open("a")
      const saying = (block: object) =>
        birth(thread(), {
          head: headOf({ pos: 1, seq: 1 }),
          facts: [fact({ event: JSON.stringify({ content: [block] }) })]
        })
      const words = () => saying({ type: "text", text: "a picture of imageId" })
      const picture = () => saying({ type: "image", imageId: `img_${"0".repeat(64)}` })
      const owner = lease.incarnation()
      const [one, other] = [words, picture].map((make) => appendStatement([{ ...make(), owner }]))
      assert.deepStrictEqual([one?.name, one?.text], [other?.name, other?.text])
      assert.notInclude(one?.text, "image")
      const pages = () =>
        Effect.promise(async () => {
          const [row] = await world.sql("select pg_relation_size('facts_images')::int as bytes")
          return row?.bytes
        })
      // The entry that a run before has left would hide that another one comes.
      for (const statement of [
        `delete from facts where strpos(event, '"imageId":"img_') > 0`,
        "reindex index facts_images"
      ])
        yield* Effect.promise(() => world.sql(statement))
      yield* journal.append(words())
      const before = yield* pages()
      for (let i = 0; i < 20; i++) yield* journal.append(words())
      assert.strictEqual(yield* pages(), before)
      yield* journal.append(picture())
      assert.notStrictEqual(yield* pages(), before)
    }).pipe(Effect.scoped)
  )

  it.live("puts into one statement appends of 8 Mi characters together, and not of one more", () =>
    Effect.gen(function* () {
      const { lease } = yield* world.open("a")
      const database = yield* Database
      for (const [over, statements] of [
        [0, 1],
        [1, 2]
      ] as const) {
        let sent = 0
        const append = appends(
          {
            write: (statement) => {
              sent++
              return database.write(statement)
            }
          },
          1
        )
        const entries = [0, over].map((more) => {
          const sized = (text: string, told = "") => ({
            ...birth(thread(), {
              facts: [fact({ event: JSON.stringify({ text }) })],
              announces: [{ id: freshId("webhookEvent"), type: "turn.completed" as const, body: told, at: Date.now() }],
              head: headOf({ pos: 1, seq: 1 })
            }),
            owner: lease.incarnation()
          })
          return sized("x".repeat(4 * 1024 * 1024 - sizeOf(sized(""))), "x".repeat(more))
        })
        yield* together(entries.map(append))
        assert.strictEqual(sent, statements)
      }
    }).pipe(Effect.provide(Database.layer({ url: Redacted.make(world.url) })), Effect.scoped)
  )
})
