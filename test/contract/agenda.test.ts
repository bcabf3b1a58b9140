/**
 * What is due, and what is posted, is found by those who may take it, and nothing hides it (G1 to G4 of agenda.ts, X1
 * and X2 of inbox.ts).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import type { ActorRef, InboxRow, InboxWanted } from "../../src/journal/Journal.ts"
import { allShards } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { memoryWorld, type Owner, postgresWorld, type World } from "./journals.ts"
import { move, past, born, idsOf, dueOf } from "./dueActors.ts"

for (const [name, make] of Object.entries<() => Promise<World>>({
  memory: async () => memoryWorld(),
  PostgreSQL: postgresWorld
})) {
  describe(`the journal in ${name}`, () => {
    let world: World
    beforeAll(async () => {
      world = await make()
    })
    afterAll(() => world.close())
    const owners = (test: (a: Owner, b: Owner, c: Owner) => Effect.Effect<void, unknown, Scope.Scope>) =>
      Effect.gen(function* () {
        yield* test(yield* world.open("a"), yield* world.open("b"), yield* world.open("c"))
      }).pipe(Effect.scoped)
    const lapse = ({ lease }: Owner) => Effect.promise(() => world.lapse(lease.incarnation()))
    const tended = (...some: ReadonlyArray<Owner>) =>
      Effect.forEach(some, ({ journal }) => journal.tend(true), { discard: true })

    /** How an actor with a moment comes to have nobody who answers for it. */
    const ways: Record<string, (actor: ActorRef, a: Owner, b: Owner) => Effect.Effect<unknown, unknown>> = {
      "was given back": (actor, a) => a.journal.release([{ actor, epoch: 1 }]),
      "has an owner whose lease is over": (_, a) => lapse(a),
      "has an owner that left and gave nothing back": (_, a) => a.lease.leave,
      "has an owner that lives on under another name": (_, a) => Effect.andThen(lapse(a), a.lease.beat),
      "was taken over from a dead node, by one that died": (actor, a, b) =>
        lapse(a).pipe(Effect.andThen(b.journal.claim(actor)), Effect.andThen(lapse(b))),
      "was given back, and taken by a node that died": (actor, a, b) =>
        a.journal
          .release([{ actor, epoch: 1 }])
          .pipe(Effect.andThen(b.journal.claim(actor)), Effect.andThen(tended(a, b)), Effect.andThen(lapse(b))),
      "was given back, and taken and given back by another": (actor, a, b) =>
        Effect.gen(function* () {
          yield* a.journal.release([{ actor, epoch: 1 }])
          const { epoch } = yield* b.journal.claim(actor)
          yield* tended(a, b, a)
          yield* b.journal.release([{ actor, epoch }])
        }),
      "had no moment, and got one from an owner that died": (actor, a) =>
        Effect.gen(function* () {
          yield* a.journal.append(move(actor, 1, 1, null))
          yield* tended(a)
          yield* a.journal.append(move(actor, 1, 2, past()))
          yield* lapse(a)
        })
    }
    for (const [way, happen] of Object.entries(ways)) {
      it.live(`names an actor with a moment that ${way}`, () =>
        owners((a, b, c) =>
          Effect.gen(function* () {
            const actors = yield* born(a, 1)
            assert.deepStrictEqual(yield* dueOf(c, actors), [])
            yield* happen(actors[0]!, a, b)
            assert.deepStrictEqual(yield* dueOf(c, actors), idsOf(actors))
            for (let i = 0; i < 3; i++) yield* tended(c, b, a)
            assert.deepStrictEqual(yield* dueOf(c, actors), idsOf(actors), "after the agenda was tidied")
            const { epoch, head } = yield* c.journal.claim(actors[0]!)
            yield* tended(c)
            assert.deepStrictEqual(yield* dueOf(b, actors), [])
            yield* c.journal.append(move(actors[0]!, epoch, head.rev, null))
            yield* c.journal.release([{ actor: actors[0]!, epoch }])
            assert.deepStrictEqual(yield* dueOf(b, actors), [])
          })
        )
      )
    }

    it.live("gives the first rows of several actors, in their order, from where the last look ended", () =>
      owners((a) =>
        Effect.gen(function* () {
          const actors = (yield* born(a, 5, null)).toSorted((x, y) => (x.id < y.id ? -1 : 1))
          const rows: Array<InboxRow> = []
          for (let n = 0; n < 4; n++)
            for (const actor of actors.toReversed()) rows.push({ id: freshId("input"), actor, command: `{"n":${n}}` })
          for (const row of rows) yield* a.journal.post(row)
          const line = (actor: ActorRef) => rows.filter((row) => row.actor === actor)
          const wanted: InboxWanted = { actors: 2, rows: 3, shards: allShards, after: undefined, except: [] }
          const looks: Array<ReadonlyArray<InboxRow>> = []
          for (let after: string | undefined, ended = false; !ended; ) {
            const found = yield* a.journal.inbox({ ...wanted, after })
            if (found.length > 0) looks.push(found)
            after = found.at(-1)?.actor.id
            ended = after === undefined
          }
          assert.deepStrictEqual(
            looks.flat(),
            actors.flatMap((actor) => line(actor).slice(0, 3))
          )
          assert.deepStrictEqual(
            looks.map((look) => new Set(look.map(({ actor }) => actor.id)).size),
            [2, 2, 1]
          )

          // Rows that cannot be read take nobody's place.
          const except = [...line(actors[0]!), ...line(actors[1]!).slice(0, 3)].map(({ id }) => id)
          assert.deepStrictEqual(yield* a.journal.inbox({ ...wanted, except }), [
            ...line(actors[1]!).slice(3),
            ...line(actors[2]!).slice(0, 3)
          ])
        })
      )
    )
  })
}
