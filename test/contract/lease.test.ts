import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, Scope, Stream } from "effect"
import { allShards } from "../../src/journal/shard.ts"
import { memoryWorld, type PostgresWorld, postgresWorld, type World } from "./journals.ts"

const until = (condition: () => boolean) =>
  Effect.gen(function* () {
    while (!condition()) yield* Effect.sleep("5 millis")
  })

/** The first element after now: a stream subscribes when it runs. */
const first = <A>(stream: Stream.Stream<A>) => Effect.forkChild(Stream.runHead(stream), { startImmediately: true })

for (const [name, make] of Object.entries<() => Promise<World>>({
  memory: async () => memoryWorld(),
  PostgreSQL: postgresWorld
})) {
  describe(`a lease in ${name}`, () => {
    let world: World
    beforeAll(async () => {
      world = await make()
    })
    afterAll(() => world.close())

    it.live("knows the live nodes by name, those that leave no longer", () =>
      Effect.gen(function* () {
        const b = yield* world.open("b", 1_000)
        const a = yield* world.open("a", 1_000)
        assert.deepStrictEqual(
          a.lease.nodes().map(({ incarnation, name }) => ({ incarnation, name })),
          [
            { incarnation: a.lease.incarnation(), name: "a" },
            { incarnation: b.lease.incarnation(), name: "b" }
          ]
        )
        yield* until(() => b.lease.nodes().length === 2)
        yield* a.lease.leave
        assert.isTrue(a.lease.fenced())
        yield* until(() => b.lease.nodes().length === 1)
        yield* b.lease.leave
      }).pipe(Effect.scoped)
    )

    it.live("stays alive beyond its TTL while it beats, and never falls back in time", () =>
      Effect.gen(function* () {
        const { lease } = yield* world.open("a", 300)
        const { incarnation } = lease
        const me = incarnation()
        const start = lease.now()
        let last = start
        yield* until(() => {
          assert.isAtLeast(lease.now(), last)
          last = lease.now()
          return last > start + 700
        })
        assert.strictEqual(incarnation(), me)
        assert.isFalse(lease.fenced())
        assert.isBelow(Math.abs(lease.now() - Date.now()), 500)
        yield* lease.leave
      }).pipe(Effect.scoped)
    )

    it.live("once lapsed, is not renewed: the node rejoins under another name and says so", () =>
      Effect.gen(function* () {
        const { lease } = yield* world.open("a", 500)
        const before = lease.incarnation()
        const rejoined = yield* first(lease.rejoined)
        yield* Effect.promise(() => world.lapse(before))
        const after = yield* Fiber.join(rejoined)
        assert.strictEqual(after._tag === "Some" && after.value, lease.incarnation())
        assert.notStrictEqual(lease.incarnation(), before)
        assert.isFalse(lease.fenced())
        yield* lease.leave
      }).pipe(Effect.scoped)
    )

    it.live("that lapses is one warning with the length of the silence", () => {
      const logs: Array<string> = []
      return Effect.gen(function* () {
        const { lease } = yield* world.open("a", 500)
        const before = lease.incarnation()
        const rejoined = yield* first(lease.rejoined)
        yield* Effect.promise(() => world.lapse(before))
        yield* Fiber.join(rejoined)
        yield* lease.leave
        const lines = logs.filter((line) => line.includes("lease has lapsed"))
        assert.lengthOf(lines, 1)
        assert.include(lines[0], before)
        assert.match(lines[0] ?? "", /"ms":\d+/)
      }).pipe(
        Effect.scoped,
        Effect.provide(
          Logger.layer([
            Logger.map(Logger.formatJson, (line) => {
              logs.push(line)
            })
          ])
        )
      )
    })

    it.live("tells the others what its node says of itself", () =>
      Effect.gen(function* () {
        const a = yield* world.open("a", 1_000)
        const b = yield* world.open("b", 1_000)
        const status = { actors: 7, births: 9, draining: true, bus: "connected" }
        a.lease.describe(() => status)
        yield* a.lease.beat
        yield* b.lease.beat
        assert.deepInclude(
          b.lease.nodes().find(({ name }) => name === "a"),
          { ...status, incarnation: a.lease.incarnation() }
        )
        assert.deepInclude(
          a.lease.nodes().find(({ name }) => name === "a"),
          status
        )
        yield* a.lease.leave
        yield* b.lease.leave
      }).pipe(Effect.scoped)
    )

    it.live(
      "says from its first moment on, and in each of its lives, by which keys its node signs; who does not say so is known by that",
      () =>
        Effect.gen(function* () {
          const older = yield* world.open("older", 60_000)
          const b = yield* world.open("b", 60_000)
          const signsOf = (wanted: string) => b.lease.nodes().find(({ name }) => name === wanted)?.signs
          // Before it has described itself, and before its first beat.
          const a = yield* world.open("a", 500, ["first", "second"])
          yield* b.lease.beat
          assert.deepStrictEqual(signsOf("a"), ["first", "second"])
          assert.isUndefined(signsOf("older"))
          a.lease.describe(() => ({ actors: 1, births: 1, draining: false, bus: "connected" }))
          yield* a.lease.beat
          yield* b.lease.beat
          assert.deepStrictEqual(signsOf("a"), ["first", "second"])
          const rejoined = yield* first(a.lease.rejoined)
          yield* Effect.promise(() => world.lapse(a.lease.incarnation()))
          yield* Fiber.join(rejoined)
          yield* b.lease.beat
          assert.deepStrictEqual(signsOf("a"), ["first", "second"])
          yield* Effect.forEach([a, b, older], ({ lease }) => lease.leave, { discard: true })
        }).pipe(Effect.scoped)
    )

    it.live("is off the list of the others in the moment in which it lapses", () =>
      Effect.gen(function* () {
        const a = yield* world.open("a", 60_000)
        const scope = yield* Scope.make()
        yield* Scope.provide(world.open("b", 500), scope)
        yield* a.lease.beat
        assert.strictEqual(a.lease.nodes().length, 2)
        // It beats no more; and the first one does not ask again for a second.
        yield* Scope.close(scope, Exit.void)
        const before = a.lease.now()
        yield* until(() => a.lease.nodes().length === 1)
        assert.isBelow(a.lease.now() - before, 900)
      }).pipe(Effect.scoped)
    )

    it.live("once lapsed, has what was owned dropped before its next life begins", () =>
      Effect.gen(function* () {
        const { lease } = yield* world.open("a", 500)
        const before = lease.incarnation()
        const seen: Array<readonly [string, boolean]> = []
        yield* lease.onLapse(() =>
          seen.push([lease.incarnation(), lease.nodes().some(({ incarnation }) => incarnation === before)])
        )
        yield* Effect.promise(() => world.lapse(before))
        yield* until(() => lease.incarnation() !== before && !lease.fenced())
        assert.deepStrictEqual(seen, [[before, true]])
        yield* lease.leave
      }).pipe(Effect.scoped)
    )

    it.live("says so once when another node goes on living under its name, and nothing of its own former life", () =>
      Effect.gen(function* () {
        const warnings: Array<unknown> = []
        const logger = Logger.layer([
          Logger.make(({ logLevel, message }) => {
            if (logLevel === "Warn") warnings.push(message)
          })
        ])
        const former = yield* Scope.make()
        yield* Scope.provide(world.open("twin", 5_000), former)
        yield* Scope.close(former, Exit.void)
        const { lease } = yield* Effect.provide(world.open("twin", 500), logger)
        for (let i = 0; i < 3; i++) yield* lease.beat
        assert.deepStrictEqual(warnings, [])
        const twin = yield* world.open("twin", 500)
        const seen = lease.now()
        yield* until(() => lease.now() > seen + 450)
        assert.strictEqual(warnings.length, 1)
        assert.strictEqual(lease.nodes().filter(({ name }) => name === "twin").length, 3)
        yield* twin.lease.leave
        yield* lease.leave
      }).pipe(Effect.scoped)
    )

    it.live("brings news of credentials with a beat", () =>
      Effect.gen(function* () {
        const { lease } = yield* world.open("a", 500)
        const before = lease.authRevision()
        const changed = yield* first(lease.authChanges)
        yield* Effect.promise(() => world.raiseAuthRevision())
        const revision = yield* Fiber.join(changed)
        assert.strictEqual(revision._tag === "Some" && revision.value, before + 1)
        assert.strictEqual(lease.authRevision(), before + 1)
        yield* lease.leave
      }).pipe(Effect.scoped)
    )
  })
}

describe("a lease in PostgreSQL alone", () => {
  let world: PostgresWorld
  beforeAll(async () => {
    world = await postgresWorld()
  })
  afterAll(() => world.close())

  it.live("fences its node when the database is out of reach, before others may take over", () =>
    Effect.gen(function* () {
      const { lease } = yield* world.open("a", 1_000)
      const me = lease.incarnation()
      world.proxy.hold(true)
      const alive = async () => (await world.sql("select from nodes where deadline > now()")).length === 1
      yield* until(() => lease.fenced())
      assert.isTrue(yield* Effect.promise(alive))
      // Cut off for longer than its lease, it comes back as another.
      while (yield* Effect.promise(alive)) yield* Effect.sleep("10 millis")
      const rejoined = yield* first(lease.rejoined)
      world.proxy.hold(false)
      yield* Fiber.join(rejoined)
      assert.notStrictEqual(lease.incarnation(), me)
      assert.isFalse(lease.fenced())
    }).pipe(Effect.scoped)
  )

  it.live("survives the end of its connections, and so does the journal", () =>
    Effect.gen(function* () {
      const { journal, lease } = yield* world.open("a", 2_000)
      const me = lease.incarnation()
      yield* Effect.promise(() =>
        world.sql(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'troupe %'"
        )
      )
      assert.deepStrictEqual(yield* Effect.retry(journal.due(1, allShards), { times: 3 }), [])
      const before = lease.now()
      yield* until(() => lease.now() > before + 800)
      assert.strictEqual(lease.incarnation(), me)
      assert.isFalse(lease.fenced())
    }).pipe(Effect.scoped)
  )
})
