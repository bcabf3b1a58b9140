/** Whose an actor is, what its owner may do with it, and when others find that it is theirs to take. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ActorRef, Claimed } from "../../src/journal/Journal.ts"
import { allShards } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { birth, everyJournal, fact, headOf, loading, next, tags, thread, together } from "./journalRows.ts"

everyJournal(({ alone, owners, world }) => {
  it.live("takes only what is its own where so asked: not what it gave back, nor what is another's", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const [mine, theirs, nobodys] = [thread(), thread(), thread()]
        yield* a.journal.append(birth(mine))
        yield* a.journal.append(birth(nobodys))
        yield* b.journal.append(birth(theirs))
        yield* a.journal.release([{ actor: nobodys, epoch: 1 }])
        assert.strictEqual((yield* a.journal.claim(mine, true)).epoch, 2)
        assert.strictEqual((yield* Effect.flip(a.journal.claim(theirs, true)))._tag, "OwnedElsewhere")
        assert.strictEqual((yield* Effect.flip(a.journal.claim(nobodys, true)))._tag, "NotOwned")
        assert.strictEqual((yield* Effect.flip(a.journal.claim(thread(), true)))._tag, "NoSuchActor")
        assert.strictEqual((yield* b.journal.claim(nobodys)).epoch, 2)
      })
    )
  )

  it.live("never takes an actor from a live owner", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const actor = thread()
        yield* a.journal.append(birth(actor))
        const refusal = yield* Effect.flip(b.journal.claim(actor))
        assert.deepStrictEqual(
          [refusal._tag, "node" in refusal && refusal.node],
          ["OwnedElsewhere", a.lease.incarnation()]
        )
        assert.strictEqual((yield* a.journal.claim(actor)).epoch, 2)
      })
    )
  )

  it.live("raises the epoch with every claim, and says whose the actor was", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const actor = thread()
        yield* a.journal.append(birth(actor))
        const said = ({ epoch, mine }: Claimed) => [epoch, mine]
        assert.deepStrictEqual(said(yield* a.journal.claim(actor)), [2, true])
        assert.deepStrictEqual(said(yield* a.journal.claim(actor)), [3, true])
        yield* a.journal.release([{ actor, epoch: 3 }])
        assert.deepStrictEqual(said(yield* a.journal.claim(actor)), [4, false])
        yield* Effect.promise(() => world().lapse(a.lease.incarnation()))
        assert.deepStrictEqual(said(yield* b.journal.claim(actor)), [5, false])
      })
    )
  )

  it.live("refuses an append that was sent before its owner claimed the actor anew, and arrives after it", () =>
    alone((journal) =>
      Effect.gen(function* () {
        const actor = thread()
        yield* journal.append(birth(actor))
        yield* journal.claim(actor)
        assert.deepStrictEqual(
          tags(yield* together([journal.append(next(actor, { epoch: 1, rev: 1 }, { facts: [fact()] }))])),
          ["Superseded"]
        )
        yield* journal.append(next(actor, { epoch: 2, rev: 1 }, { facts: [fact()] }))
      })
    )
  )

  it.live("loads an actor as of its claim, whoever has it by then", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const actor = thread()
        yield* a.journal.append(birth(actor))
        yield* a.journal.append(next(actor, { rev: 1 }, { facts: [fact()], of: { since: 1 } }))
        const claimed = yield* a.journal.claim(actor)
        yield* Effect.promise(() => world().lapse(a.lease.incarnation()))
        const { epoch } = yield* b.journal.claim(actor)
        yield* b.journal.append(
          next(actor, { epoch, rev: 2, pos: 1, seq: 1 }, { facts: [fact({ n: 1 })], of: { since: 1 } })
        )
        assert.deepStrictEqual(
          (yield* a.journal.load(claimed)).facts.map(({ pos }) => pos),
          [1]
        )
      })
    )
  )

  it.live("sets an actor aside for its owner, without a fact, and for nobody else", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const actor = thread()
        const at = Date.now() - 1_000
        yield* a.journal.append(birth(actor))
        yield* a.journal.append(
          next(
            actor,
            { rev: 1 },
            { facts: [fact()], of: { since: 1, status: "running", runnableAt: at, updatedAt: at, carry: `{"c":1}` } }
          )
        )
        yield* b.journal.quarantine(actor, 1)
        yield* a.journal.quarantine(actor, 2)
        yield* a.journal.quarantine({ ...actor, workspace: freshId("workspace") }, 1)
        assert.strictEqual((yield* a.journal.claim(actor)).head.status, "running")
        yield* a.journal.quarantine(actor, 2)
        assert.deepStrictEqual(
          tags(yield* together([a.journal.append(next(actor, { epoch: 2, rev: 2, pos: 1, seq: 1 }))])),
          ["Superseded"]
        )
        yield* a.journal.release([{ actor, epoch: 2 }])
        assert.isFalse((yield* b.journal.due(100, allShards)).some(({ id }) => id === actor.id))
        const { facts, head } = yield* loading(b.journal, actor)
        assert.deepStrictEqual(
          { ...head, updatedAt: 0 },
          { pos: 1, seq: 1, rev: 3, status: "failed", runnableAt: null, since: 1, carry: `{"c":1}`, updatedAt: 0 }
        )
        assert.isAbove(head.updatedAt, at)
        assert.strictEqual(facts.length, 1)
      })
    )
  )

  it.live("of two claims of a free actor, one gets it", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const actors = Array.from({ length: 20 }, thread)
        yield* together(actors.map((actor) => a.journal.append(birth(actor))))
        yield* a.journal.release(actors.map((actor) => ({ actor, epoch: 1 })))
        const claims = tags(
          yield* together(actors.flatMap((actor) => [a.journal.claim(actor), b.journal.claim(actor)]))
        )
        for (const i of actors.keys())
          assert.deepStrictEqual(claims.slice(2 * i, 2 * i + 2).toSorted(), ["OwnedElsewhere", "done"])
      })
    )
  )

  it.live("gives the actors of a lapsed owner away, and refuses what that owner still appends", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const [busy, resting] = [thread(), thread()]
        yield* together([busy, resting].map((actor) => a.journal.append(birth(actor))))
        yield* a.journal.append(next(busy, { rev: 1 }, { facts: [fact()], of: { since: 1, runnableAt: Date.now() } }))
        yield* Effect.promise(() => world().lapse(a.lease.incarnation()))
        const loaded = yield* loading(b.journal, busy)
        assert.deepStrictEqual([loaded.epoch, loaded.takeovers, loaded.head.rev, loaded.facts.length], [2, 1, 2, 1])
        assert.strictEqual((yield* b.journal.claim(resting)).takeovers, 0)
        assert.deepStrictEqual(
          tags(yield* together([a.journal.append(next(busy, { rev: 2, pos: 1, seq: 1 }, { facts: [fact()] }))])),
          ["Superseded"]
        )

        // An append without a fact is no progress; one with a fact is.
        yield* b.journal.append(next(busy, { epoch: 2, rev: 2, pos: 1, seq: 1 }, { of: { since: 1 } }))
        assert.strictEqual((yield* b.journal.claim(busy)).takeovers, 1)
        yield* b.journal.append(
          next(busy, { epoch: 3, rev: 3, pos: 1, seq: 1 }, { facts: [fact({ n: 1 })], of: { since: 1 } })
        )
        assert.strictEqual((yield* b.journal.claim(busy)).takeovers, 0)
      })
    )
  )

  it.live("counts no death for an actor that was given back, and gives nothing back at an old epoch", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const actor = thread()
        yield* a.journal.append(birth(actor))
        yield* a.journal.append(next(actor, { rev: 1 }, { facts: [fact()], of: { since: 1 } }))
        yield* a.journal.release([
          { actor, epoch: 1 },
          { actor: thread(), epoch: 1 }
        ])
        assert.deepStrictEqual(tags(yield* together([a.journal.append(next(actor, { rev: 2, pos: 1, seq: 1 }))])), [
          "Superseded"
        ])
        const loaded = yield* b.journal.claim(actor)
        assert.deepStrictEqual([loaded.epoch, loaded.takeovers], [2, 0])
        yield* b.journal.release([{ actor, epoch: 1 }])
        assert.deepStrictEqual(tags(yield* together([a.journal.claim(actor)])), ["OwnedElsewhere"])
      })
    )
  )

  it.live("names what is due to those who may take it, earliest first", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const ids = (due: ReadonlyArray<ActorRef>) =>
          due.map((actor) => actor.id).filter((id) => mine.some((actor) => actor.id === id))
        const mine = Array.from({ length: 4 }, thread)
        const now = Date.now()
        const moments = [now - 1_000, now - 2_000, now + 60_000, null]
        yield* together(
          mine.map((actor, i) => a.journal.append(birth(actor, { head: headOf({ runnableAt: moments[i]! }) })))
        )
        // An owner that lives knows its own moments.
        assert.deepStrictEqual(ids(yield* a.journal.due(100, allShards)), [])
        assert.deepStrictEqual(ids(yield* b.journal.due(100, allShards)), [])
        yield* a.journal.release([{ actor: mine[0]!, epoch: 1 }])
        assert.deepStrictEqual(ids(yield* b.journal.due(100, allShards)), [mine[0]!.id])
        yield* Effect.promise(() => world().lapse(a.lease.incarnation()))
        assert.deepStrictEqual(ids(yield* b.journal.due(100, allShards)), [mine[1]!.id, mine[0]!.id])
        assert.strictEqual((yield* b.journal.due(1, allShards)).length, 1)
        // And, where that is asked, what will be by then.
        assert.deepStrictEqual(ids(yield* b.journal.due(100, allShards, 30_000)), [mine[1]!.id, mine[0]!.id])
        assert.deepStrictEqual(ids(yield* b.journal.due(100, allShards, 61_000)), [
          mine[1]!.id,
          mine[0]!.id,
          mine[2]!.id
        ])
        const taken = yield* b.journal.claim(mine[1]!)
        yield* b.journal.append(
          next(mine[1]!, { epoch: taken.epoch, rev: taken.head.rev }, { of: { runnableAt: null } })
        )
        yield* b.journal.release([{ actor: mine[1]!, epoch: taken.epoch }])
        assert.deepStrictEqual(ids(yield* b.journal.due(100, allShards)), [mine[0]!.id])
      })
    )
  )
})
