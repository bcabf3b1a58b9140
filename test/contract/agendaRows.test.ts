/** What is due as it stands in rows, beside nodes of the versions before and after (G1 to G4 of agenda.ts). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted } from "effect"
import fc from "fast-check"
import { fromUuid, toUuid } from "../../src/domain/ids.ts"
import { nearMs } from "../../src/journal/agenda.ts"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { allShards } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { migrate } from "../../src/database/migrate.ts"
import { migrations } from "../../src/database/migrations/all.ts"
import { type Owner, postgresWorld } from "./journals.ts"
import { during } from "../setup/during.ts"
import { thread, birth, move, born, idsOf, dueOf } from "./dueActors.ts"

const world = await during(postgresWorld())

describe("the agenda in PostgreSQL", () => {
  const sql = (text: string, values: ReadonlyArray<unknown> = []) => Effect.promise(() => world.sql(text, values))
  const uuids = (actors: ReadonlyArray<ActorRef>) => actors.map(({ id }) => toUuid(id))
  const agenda = (actors: ReadonlyArray<ActorRef>, table = "agenda") =>
    Effect.map(
      sql(`select owner, cardinality(actors) as size from ${table} where actors && $1::uuid[] order by owner`, [
        uuids(actors)
      ]),
      (rows) =>
        rows.map(({ owner, size }) => ({
          owner: typeof owner === "string" ? fromUuid("node", owner) : null,
          size: Number(size)
        }))
    )

  it.live("keeps those who still have something to do, and no others for long", () =>
    Effect.gen(function* () {
      const { journal, lease } = yield* world.open("a")
      const at = Math.floor(Date.now() / 1000) * 1000 - 5_000
      const actors = yield* born({ journal, lease }, 8, at)
      const sizes = Effect.map(agenda(actors), (rows) => rows.reduce((sum, { size }) => sum + size, 0))
      // One statement, one moment, one row; the others were sent while the first was under way.
      assert.isBelow((yield* agenda(actors)).length, actors.length)
      yield* Effect.forEach(actors.slice(0, 6), (actor) => journal.append(move(actor, 1, 1, null)), {
        concurrency: "unbounded"
      })
      yield* journal.tend(false)
      assert.isAtMost(yield* sizes, 4)
      yield* Effect.forEach(actors.slice(6), (actor) => journal.append(move(actor, 1, 1, null)), {
        concurrency: "unbounded"
      })
      yield* journal.tend(false)
      assert.strictEqual(yield* sizes, 0)
    }).pipe(Effect.scoped)
  )

  it.live("leaves rows of the living to them, and notes for them what they took", () =>
    Effect.gen(function* () {
      const [a, b, c] = [yield* world.open("a"), yield* world.open("b"), yield* world.open("c")]
      const actors = yield* born(a, 1)
      const rowsOf = (owner: Owner | null) => [{ owner: owner?.lease.incarnation() ?? null, size: 1 }]
      yield* c.journal.tend(true)
      assert.deepStrictEqual(yield* agenda(actors), rowsOf(a))
      yield* a.journal.release(actors.map((actor) => ({ actor, epoch: 1 })))
      yield* b.journal.claim(actors[0]!)
      yield* c.journal.tend(true)
      yield* a.journal.tend(false)
      const kept = yield* agenda(actors)
      assert.deepStrictEqual([...new Set(kept.map(({ owner }) => owner))], [b.lease.incarnation()])
    }).pipe(Effect.scoped)
  )

  it.live("keeps for all to see what a node of an earlier version took, which gives back without a note", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* world.open("a"), yield* world.open("b")]
      const actors = yield* born(a, 2)
      const [taken] = actors
      const old = toUuid(freshId("node"))
      yield* sql(
        "insert into nodes (incarnation, name, deadline, status) values ($1, 'old', now() + interval '1 hour', '{}')",
        [old]
      )
      yield* a.journal.release(actors.map((actor) => ({ actor, epoch: 1 })))
      yield* sql("update heads set owner = $1, epoch = epoch + 1 where id = $2", [old, toUuid(taken!.id)])
      for (const { journal } of [a, b, a]) yield* journal.tend(true)
      assert.deepStrictEqual(yield* dueOf(b, actors), idsOf(actors.slice(1)))
      yield* sql("update heads set owner = null where id = $1", [toUuid(taken!.id)])
      assert.deepStrictEqual(yield* dueOf(b, actors), idsOf(actors))
      // What such a node notes has no owner; it tidies by what it knows.
      const own = thread()
      yield* a.journal.append(birth(own, null))
      yield* sql("update heads set owner = $1, runnable_at = now() - interval '1 second' where id = $2", [
        old,
        toUuid(own.id)
      ])
      yield* sql("insert into agenda (at, actors) values (now() - interval '1 second', array[$1::uuid])", [
        toUuid(own.id)
      ])
      for (const { journal } of [a, b]) yield* journal.tend(true)
      assert.deepStrictEqual(yield* dueOf(b, [own]), [])
      yield* sql("delete from nodes where incarnation = $1", [old])
      assert.deepStrictEqual(yield* dueOf(b, [own]), [own.id])
    }).pipe(Effect.scoped)
  )

  it.live("holds what is far ahead apart until it is near, whoever noted it", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* world.open("a"), yield* world.open("b")]
      const far = Date.now() + 2 * nearMs
      const mine = yield* born(a, 2, far)
      const [given, kept] = [mine.slice(0, 1), mine.slice(1)]
      yield* a.journal.release(given.map((actor) => ({ actor, epoch: 1 })))
      yield* b.journal.tend(true)
      assert.deepStrictEqual(yield* agenda(mine), [])
      assert.isNotEmpty((yield* agenda(given, "agenda_later")).filter(({ owner }) => owner === null))
      // Time goes by.
      yield* sql("update agenda_later set at = at - interval '3 minutes' where actors && $1::uuid[]", [uuids(mine)])
      yield* sql("update heads set runnable_at = runnable_at - interval '3 minutes' where id = any($1::uuid[])", [
        uuids(mine)
      ])
      assert.deepStrictEqual(yield* dueOf(b, mine), [])
      yield* b.journal.tend(false)
      assert.deepStrictEqual(yield* agenda(mine, "agenda_later"), [])
      assert.deepStrictEqual(yield* dueOf(b, mine), idsOf(given))
      yield* Effect.promise(() => world.lapse(a.lease.incarnation()))
      assert.deepStrictEqual(yield* dueOf(b, mine), idsOf([...given, ...kept]))
    }).pipe(Effect.scoped)
  )

  it.live("is whole for the version before after one statement, and for this one again after its migration", () =>
    Effect.gen(function* () {
      const a = yield* world.open("a")
      const far = yield* born(a, 2, Date.now() + 2 * nearMs)
      yield* sql(`with later as (delete from agenda_later returning at, actors),
      noted as (insert into agenda (at, actors) select at, actors from later)
      delete from kysely_migration where name >= '005'`)
      const notes = yield* agenda(far)
      assert.deepStrictEqual(
        notes.map(({ owner }) => owner),
        notes.map(() => null)
      )
      assert.strictEqual(
        notes.reduce((sum, { size }) => sum + size, 0),
        2
      )
      assert.deepStrictEqual(
        yield* migrate(Redacted.make(world.url)),
        Object.keys(migrations).filter((name) => name >= "005")
      )
      yield* sql("update heads set runnable_at = now() - interval '1 second' where id = any($1::uuid[])", [uuids(far)])
      yield* sql("update agenda set at = now() - interval '1 second' where actors && $1::uuid[]", [uuids(far)])
      yield* a.journal.release(far.slice(0, 1).map((actor) => ({ actor, epoch: 1 })))
      assert.deepStrictEqual(yield* dueOf(a, far), idsOf(far.slice(0, 1)))
    }).pipe(Effect.scoped)
  )

  it.live("passes over kinds that this version does not know, however many", () =>
    Effect.gen(function* () {
      const a = yield* world.open("a")
      yield* sql("truncate agenda, agenda_later, heads, inbox")
      const actors = yield* born(a, 30)
      const known = actors.slice(20)
      yield* a.journal.release(actors.map((actor) => ({ actor, epoch: 1 })))
      yield* sql(
        "update heads set kind = 'subscription', runnable_at = runnable_at - interval '1 hour' where id = any($1::uuid[])",
        [uuids(actors.slice(0, 20))]
      )
      assert.deepStrictEqual(yield* dueOf(a, actors, 1_000), idsOf(known))
      assert.strictEqual((yield* dueOf(a, known, 10)).length, 10)
      for (const actor of actors) yield* a.journal.post({ id: freshId("input"), actor, command: "{}" })
      yield* sql("update inbox set kind = 'subscription' where actor = any($1::uuid[])", [uuids(actors.slice(0, 20))])
      const rows = yield* a.journal.inbox({ actors: 10, rows: 5, shards: allShards, after: undefined, except: [] })
      assert.deepStrictEqual(idsOf(rows.map(({ actor }) => actor)), idsOf(known))
    }).pipe(Effect.scoped)
  )

  it.live(
    "has a note of every moment, whatever happens in whatever order",
    () =>
      Effect.gen(function* () {
        const step = fc.oneof(
          fc.record({
            what: fc.constant("move" as const),
            actor: fc.nat(5),
            ms: fc.constantFrom(null, -5_000, -1_000, 30_000, 3 * nearMs)
          }),
          fc.record({ what: fc.constant("release" as const), actor: fc.nat(5) }),
          fc.record({ what: fc.constant("claim" as const), actor: fc.nat(5), by: fc.nat(2) }),
          fc.record({ what: fc.constant("tend" as const), by: fc.nat(2), others: fc.boolean() }),
          fc.record({ what: fc.constant("lapse" as const), by: fc.nat(2) })
        )
        const owners = [yield* world.open("a"), yield* world.open("b"), yield* world.open("c")]
        const run = Effect.fnUntraced(function* (
          steps: ReadonlyArray<typeof step extends fc.Arbitrary<infer Step> ? Step : never>
        ) {
          const actors = Array.from({ length: 6 }, () => ({ ref: thread(), owner: owners[0], epoch: 1, rev: 1 }))
          for (const { ref } of actors) yield* owners[0]!.journal.append(birth(ref, null))
          const moment = { at: Date.now() }
          for (const now of steps) {
            if (now.what === "tend") yield* owners[now.by]!.journal.tend(now.others)
            else if (now.what === "lapse") {
              const { lease } = owners[now.by]!
              yield* Effect.promise(() => world.lapse(lease.incarnation()))
              yield* lease.beat
              for (const actor of actors) if (actor.owner === owners[now.by]) actor.owner = undefined
            } else {
              const actor = actors[now.actor]!
              if (now.what === "claim") {
                const claimed = yield* Effect.exit(owners[now.by]!.journal.claim(actor.ref))
                if (Exit.isSuccess(claimed))
                  Object.assign(actor, {
                    owner: owners[now.by],
                    epoch: claimed.value.epoch,
                    rev: claimed.value.head.rev
                  })
              } else if (actor.owner !== undefined && now.what === "release") {
                yield* actor.owner.journal.release([{ actor: actor.ref, epoch: actor.epoch }])
                actor.owner = undefined
              } else if (actor.owner !== undefined && now.what === "move") {
                yield* actor.owner.journal.append(
                  move(actor.ref, actor.epoch, actor.rev++, now.ms === null ? null : moment.at + now.ms)
                )
              }
            }
            // G1: by its owner, or by none.
            const forgotten = yield* sql(
              `select h.id, h.owner, h.runnable_at from heads h where h.id = any($1::uuid[]) and h.runnable_at is not null
          and not exists (select from (select owner, at, actors from agenda union all select owner, at, actors from agenda_later) a
            where h.id = any(a.actors) and a.at >= h.runnable_at - interval '1 millisecond'
              and (a.owner is null or a.owner = h.owner or not exists (select from nodes n where n.incarnation = a.owner and n.deadline > now())))`,
              [uuids(actors.map(({ ref }) => ref))]
            )
            assert.deepStrictEqual(forgotten, [], JSON.stringify(now))
          }
          const free = actors.filter(({ owner }) => owner === undefined).map(({ ref }) => ref)
          const [rows] = yield* sql(
            "select coalesce(array_agg(id), '{}') as ids from heads where id = any($1::uuid[]) and runnable_at <= now()",
            [uuids(free)]
          )
          const found = yield* dueOf(
            owners[1]!,
            actors.map(({ ref }) => ref)
          )
          assert.deepStrictEqual(found.map(toUuid).sort(), [...row(rows?.ids)].sort())
        })
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), (steps) =>
              Effect.runPromise(run(steps))
            ),
            { numRuns: 40 }
          )
        )
      }).pipe(Effect.scoped),
    120_000
  )
})

const row = (ids: unknown): ReadonlyArray<string> => (Array.isArray(ids) ? ids.map(String) : assert.fail("no ids"))
