/** What waits for an actor: commands in its inbox, until its owner has accepted them, and inputs. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ActorRef } from "../../src/journal/Journal.ts"
import { body } from "../../src/domain/ids.ts"
import { allShards, shardCount, shardOf, shardsOf } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import type { Owner } from "./journals.ts"
import {
  birth,
  everyJournal,
  fact,
  headOf,
  key,
  next,
  tags,
  thread,
  together,
  wanted,
  workspace
} from "./journalRows.ts"

everyJournal(({ alone, owners, world }) => {
  it.live("keeps a posted command once, for whoever may take the actor, until an append accepts it", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const actor = thread()
        yield* a.journal.append(birth(actor))
        const row = { id: freshId("input"), actor, command: `{"x":"\\u0000"}` }
        yield* b.journal.post(row)
        yield* b.journal.post({ ...row, command: "other" })
        const inbox = (owner: Owner) =>
          Effect.map(owner.journal.inbox(wanted(allShards)), (rows) =>
            rows.filter((each) => each.actor.id === actor.id)
          )
        assert.deepStrictEqual(yield* inbox(a), [row])
        assert.deepStrictEqual(yield* inbox(b), [])
        yield* a.journal.append(next(actor, { rev: 1 }, { facts: [fact()], accepted: [row.id] }))
        assert.deepStrictEqual(yield* inbox(a), [])
      })
    )
  )

  it.live("names what is due, and what is posted, by shards; what its owner is to have by owner alone", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const at = Date.now() - 1_000
        const mine = Array.from({ length: 12 }, thread)
        yield* together(mine.map((actor) => a.journal.append(birth(actor, { head: headOf({ runnableAt: at }) }))))
        const rows = mine.map((actor) => ({ id: freshId("input"), actor, command: "{}" }))
        for (const row of rows) yield* b.journal.post(row)
        const low = shardsOf((shard) => shard < shardCount / 2)
        const isLow = ({ id }: ActorRef) => shardOf(id) < shardCount / 2
        const ofMine = (refs: ReadonlyArray<ActorRef>) =>
          refs
            .filter((ref) => mine.some(({ id }) => id === ref.id))
            .map(({ id }) => id)
            .sort()
        const idsOf = (some: ReadonlyArray<ActorRef>) => some.map(({ id }) => id).sort()
        const posted = (owner: Owner, shards = low) =>
          Effect.map(owner.journal.inbox(wanted(shards)), (found) => ofMine(found.map(({ actor }) => actor)))
        assert.deepStrictEqual(yield* posted(a), idsOf(mine))
        assert.deepStrictEqual(yield* posted(b), [])
        yield* a.journal.release(mine.map((actor) => ({ actor, epoch: 1 })))
        for (const owner of [a, b]) {
          assert.deepStrictEqual(ofMine(yield* owner.journal.due(100, low)), idsOf(mine.filter(isLow)))
          assert.deepStrictEqual(yield* posted(owner), idsOf(mine.filter(isLow)))
          assert.deepStrictEqual(yield* posted(owner, allShards), idsOf(mine))
        }
        // Whoever looked at some shards has taken nothing of the others off the agenda.
        const [rest] = mine.filter((actor) => !isLow(actor))
        for (const actor of mine) {
          if (actor === rest) continue
          const { epoch } = yield* b.journal.claim(actor)
          yield* b.journal.append(next(actor, { epoch, rev: 1 }))
        }
        yield* b.journal.due(100, low)
        assert.deepStrictEqual(ofMine(yield* b.journal.due(100, allShards)), rest === undefined ? [] : [rest.id])
      })
    )
  )

  it.live("lets no input pass one that waits in the inbox, and everything else", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const [actor, other] = [thread(), thread()]
        yield* together([actor, other].map((each) => a.journal.append(birth(each))))
        const rows = [1, 2].map((n) => ({ id: freshId("input"), actor, command: `{"n":${n}}` }))
        for (const row of rows) yield* b.journal.post(row)
        const inboxRows = (ref: ActorRef, most = 10, except: ReadonlyArray<string> = []) =>
          a.journal.inboxRows(ref, { rows: most, except })
        assert.deepStrictEqual(yield* inboxRows(actor), rows)
        assert.deepStrictEqual(yield* inboxRows(actor, 1), rows.slice(0, 1))
        assert.deepStrictEqual(yield* inboxRows(actor, 1, [rows[0]!.id]), rows.slice(1))
        assert.deepStrictEqual(yield* inboxRows({ ...actor, workspace: freshId("workspace") }), [])
        const requiresEmptyInbox = true
        assert.deepStrictEqual(
          tags(
            yield* together([
              a.journal.append(next(actor, { rev: 1 }, { requiresEmptyInbox })),
              a.journal.append(next(other, { rev: 1 }, { requiresEmptyInbox }))
            ])
          ),
          ["Superseded", "done"]
        )
        yield* a.journal.append(next(actor, { rev: 1 }))
        yield* a.journal.append(next(actor, { rev: 2 }, { accepted: [rows[0]!.id] }))
        assert.deepStrictEqual(
          tags(yield* together([a.journal.append(next(actor, { rev: 3 }, { requiresEmptyInbox }))])),
          ["Superseded"]
        )
        yield* a.journal.append(next(actor, { rev: 3 }, { accepted: [rows[1]!.id] }))
        yield* a.journal.append(next(actor, { rev: 4 }, { requiresEmptyInbox }))
      })
    )
  )

  it.live(
    "posts under an idempotency key once, with its answer, and not at all when the key's effect has happened",
    () =>
      owners((a, b) =>
        Effect.gen(function* () {
          const actor = thread()
          yield* a.journal.append(birth(actor))
          const [once, late] = [key(), key()]
          const row = () => ({ id: freshId("input"), actor, command: "{}" })
          const first = row()
          assert.isTrue(yield* b.journal.post(first, once))
          assert.deepStrictEqual(yield* a.journal.key(workspace, once.scope), once)
          assert.isFalse(yield* a.journal.post(row(), { ...once, body: "2" }))
          assert.deepStrictEqual(
            [
              (yield* a.journal.key(workspace, once.scope))?.body,
              (yield* a.journal.inboxRows(actor, { rows: 10, except: [] })).map(({ id }) => id)
            ],
            [once.body, [first.id]]
          )
          yield* a.journal.append(next(actor, { rev: 1 }, { keys: [late] }))
          assert.isFalse(yield* b.journal.post(row(), late))
          yield* Effect.promise(() => world().age(workspace, late.scope))
          assert.isTrue(yield* b.journal.post(row(), { ...late, body: "3" }))
          assert.strictEqual((yield* a.journal.key(workspace, late.scope))?.body, "3")
          // And the other way round: the key was taken between look-up and effect.
          assert.deepStrictEqual(tags(yield* together([a.journal.append(next(actor, { rev: 2 }, { keys: [once] }))])), [
            "Superseded"
          ])
        })
      )
  )

  it.live("knows of an input whether it waits, was cancelled, was admitted, or never came", () =>
    alone((journal) =>
      Effect.gen(function* () {
        const [actor, other] = [thread(), thread()]
        const [waiting, cancelled, admitted] = [freshId("input"), freshId("input"), freshId("input")]
        const put = [
          { id: waiting, ord: 1, state: "pending" as const, body: `{"a":"\\u0000"}` },
          { id: cancelled, ord: 2, state: "cancelled" as const, body: "{}" }
        ]
        yield* journal.append(birth(other))
        yield* journal.append(
          birth(actor, {
            facts: [fact({ once: body(admitted) })],
            head: headOf({ pos: 1, seq: 1 }),
            inputs: { put, drop: [] }
          })
        )
        assert.deepStrictEqual(yield* journal.input(actor, waiting), { state: "pending", row: put[0]! })
        assert.deepStrictEqual(yield* journal.input(actor, cancelled), { state: "cancelled", row: put[1]! })
        const found = yield* journal.input(actor, admitted)
        assert.deepInclude(found?.state === "admitted" ? found.fact : {}, { seq: 1, once: body(admitted) })
        for (const [ref, id] of [
          [actor, freshId("input")],
          [other, waiting],
          [other, admitted],
          [thread(), waiting],
          [{ ...actor, workspace: freshId("workspace") }, waiting]
        ] as const) {
          assert.isUndefined(yield* journal.input(ref, id))
        }
        assert.deepStrictEqual(yield* journal.attributes(actor), { text: `{"title":"t"}`, version: 1 })
        assert.isUndefined(yield* journal.attributes({ ...actor, workspace: freshId("workspace") }))
      })
    )
  )
})
