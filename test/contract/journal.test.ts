/** What a journal keeps of appends: facts, waits, keys and what was spent, each once. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { WaitRow } from "../../src/journal/Journal.ts"
import { body } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"
import {
  agent,
  birth,
  everyJournal,
  fact,
  headOf,
  key,
  loading,
  next,
  tags,
  thread,
  together,
  workspace
} from "./journalRows.ts"

everyJournal(({ alone, factsOf, owners, world }) => {
  it.live("loads an actor as it was written", () =>
    alone((journal) =>
      Effect.gen(function* () {
        const actor = thread()
        const input = { id: freshId("input"), ord: 7, state: "pending" as const, body: `{"a":"\\u0000"}` }
        const cancelled = { ...input, id: freshId("input"), state: "cancelled" as const }
        const at = Date.now() - 5
        const wait = {
          id: freshId("wait"),
          target: "client" as const,
          state: "open" as const,
          createdAt: at,
          body: `{"b":1}`
        }
        const facts = [
          fact({ at, once: body(actor.id) }),
          fact({ at, public: false, type: "private", n: 1, detail: `{"d":2}` }),
          fact({ at, n: 2, type: "tool_intent" })
        ]
        yield* journal.append(birth(actor))
        yield* journal.append(
          next(
            actor,
            { rev: 1 },
            {
              facts,
              inputs: { put: [input, cancelled], drop: [] },
              waits: [wait],
              of: { status: "running", runnableAt: at, since: 2, carry: `{"c":"ü"}`, updatedAt: at }
            }
          )
        )
        const loaded = yield* loading(journal, actor)
        assert.deepStrictEqual(loaded.head, {
          pos: 3,
          seq: 2,
          rev: 2,
          status: "running",
          runnableAt: at,
          since: 2,
          carry: `{"c":"ü"}`,
          updatedAt: at
        })
        assert.deepStrictEqual(
          [loaded.parent, loaded.attributes, loaded.epoch, loaded.takeovers],
          [agent, `{"title":"t"}`, 2, 0]
        )
        assert.deepStrictEqual(loaded.inputs, [input])
        assert.deepStrictEqual(
          loaded.facts.map(({ pos, seq }) => [pos, seq]),
          [
            [2, null],
            [3, 2]
          ]
        )
        assert.deepStrictEqual(
          yield* factsOf(actor),
          facts.map((row, i) => ({ ...row, pos: i + 1, seq: [1, null, 2][i]! }))
        )
        const logged = facts.map(({ detail, event, n, turn, type }, i) => ({
          pos: i + 1,
          seq: [1, null, 2][i],
          type,
          turn,
          n,
          event: { type, ...JSON.parse(event) },
          ...(detail !== null && { detail: JSON.parse(detail) })
        }))
        const types = ["user_message", "private", "tool_intent"]
        const whole = yield* journal.log(actor, 0, types)
        assert.deepStrictEqual([whole.facts, whole.pos], [logged, 3])
        const rest = yield* journal.log(actor, 2, types)
        assert.deepStrictEqual([rest.facts, rest.pos], [logged.slice(2), 3])
        assert.isAbove(whole.characters, rest.characters)
        const some = yield* journal.log(actor, 0, ["private", "turn_completed"])
        assert.deepStrictEqual([some.facts, some.pos], [logged.slice(1, 2), 2])
        for (const nothing of [
          yield* journal.log(actor, 3, types),
          yield* journal.log(actor, 0, ["tool"]),
          yield* journal.log({ ...actor, workspace: freshId("workspace") }, 0, types)
        ]) {
          assert.deepStrictEqual(nothing, { facts: [], pos: undefined, characters: 0 })
        }

        yield* journal.append(
          next(
            actor,
            { epoch: 2, rev: 2, pos: 3, seq: 2 },
            { inputs: { put: [], drop: [input.id] }, waits: [{ ...wait, state: "resolved" }] }
          )
        )
        const again = yield* loading(journal, actor)
        assert.deepStrictEqual([again.inputs, again.facts, again.head.rev], [[], [], 3])
      })
    )
  )

  it.live("keeps waits when they are over, with the call that a client owed the result of", () =>
    alone((journal) =>
      Effect.gen(function* () {
        const actor = thread()
        const at = Date.now()
        const open = (call?: WaitRow["call"]) => ({
          id: freshId("wait"),
          target: "client" as const,
          state: "open" as const,
          createdAt: at,
          body: `{"b":1}`,
          ...(call !== undefined && { call })
        })
        const waits = [
          open(),
          open({ id: freshId("call") }),
          open({ id: freshId("call"), toolset: freshId("toolset") })
        ].sort((a, b) => (a.id < b.id ? -1 : 1))
        yield* journal.append(birth(actor, { waits }))
        yield* journal.append(
          next(
            actor,
            { rev: 1 },
            { waits: waits.map((wait) => ({ ...wait, state: "resolved", body: `{"b":"\\u0000"}` })) }
          )
        )
        const kept = yield* Effect.promise(() => world().waits(actor))
        assert.deepStrictEqual(
          kept,
          waits.map(({ call, id }) => ({
            id,
            state: "resolved",
            body: `{"b":"\\u0000"}`,
            ...(call !== undefined && { call })
          }))
        )
      })
    )
  )

  it.live("lets one of ten appends lose without harm to the nine", () =>
    alone((journal) =>
      Effect.gen(function* () {
        const actors = Array.from({ length: 10 }, thread)
        yield* together(actors.map((actor) => journal.append(birth(actor))))
        const exits = yield* together(
          actors.map((actor, i) => journal.append(next(actor, { rev: i === 4 ? 2 : 1 }, { facts: [fact()] })))
        )
        assert.deepStrictEqual(
          tags(exits),
          actors.map((_, i) => (i === 4 ? "Superseded" : "done"))
        )
        assert.deepStrictEqual(
          (yield* Effect.all(actors.map(factsOf))).map((facts) => facts.length),
          actors.map((_, i) => (i === 4 ? 0 : 1))
        )
      })
    )
  )

  it.live("makes the guilty append of a group a defect, and only that", () =>
    alone((journal) =>
      Effect.gen(function* () {
        const actors = Array.from({ length: 10 }, thread)
        yield* together(actors.map((actor) => journal.append(birth(actor))))
        yield* journal.append(next(actors[6]!, { rev: 1 }, { facts: [fact({ once: body(actors[6]!.id) })] }))
        const exits = yield* together(
          actors.map((actor, i) =>
            journal.append(
              next(actor, i === 6 ? { rev: 2, pos: 1, seq: 1 } : { rev: 1 }, {
                facts: [fact({ once: body(actor.id) })]
              })
            )
          )
        )
        assert.deepStrictEqual(
          tags(exits),
          actors.map((_, i) => (i === 6 ? "defect" : "done"))
        )
        assert.deepStrictEqual((yield* journal.claim(actors[6]!)).head.rev, 2)
      })
    )
  )

  it.live("refuses what may happen once a second time, whichever actor says so", () =>
    alone((journal) =>
      Effect.gen(function* () {
        const [one, other] = [thread(), thread()]
        const once = body(freshId("input"))
        yield* journal.append(birth(one, { facts: [fact({ once })], head: headOf({ pos: 1, seq: 1 }) }))
        yield* journal.append(birth(other))
        assert.deepStrictEqual(
          tags(yield* together([journal.append(next(other, { rev: 1 }, { facts: [fact({ once })] }))])),
          ["defect"]
        )
        const twice = [fact({ once: body(other.id) }), fact({ n: 1, once: body(other.id) })]
        assert.deepStrictEqual(tags(yield* together([journal.append(next(other, { rev: 1 }, { facts: twice }))])), [
          "defect"
        ])
        assert.deepStrictEqual(yield* factsOf(other), [])
      })
    )
  )

  for (const when of ["before", "after"] as const) {
    it.live(`an append whose connection is lost ${when} its commit happens once`, () =>
      alone((journal) =>
        Effect.gen(function* () {
          const actors = Array.from({ length: 3 }, thread)
          yield* together(actors.map((actor) => journal.append(birth(actor))))
          world().lose(when)
          const exits = yield* together(
            actors.map((actor, i) =>
              journal.append(next(actor, { rev: i === 1 ? 9 : 1 }, { facts: [fact({ once: body(actor.id) })] }))
            )
          )
          assert.deepStrictEqual(tags(exits), ["done", "Superseded", "done"])
          assert.deepStrictEqual((yield* factsOf(actors[0]!)).length, 1)
          assert.deepStrictEqual((yield* journal.claim(actors[2]!)).head.rev, 2)
        })
      )
    )

    it.live(`a birth with a key whose connection is lost ${when} its commit happens once`, () =>
      alone((journal) =>
        Effect.gen(function* () {
          const actor = thread()
          const kept = key()
          world().lose(when)
          yield* journal.append(birth(actor, { keys: [kept] }))
          assert.deepStrictEqual(yield* journal.key(workspace, kept.scope), kept)
          assert.strictEqual((yield* journal.claim(actor)).head.rev, 1)
        })
      )
    )
  }

  it.live("refuses a second birth, and one whose key is kept already, whole", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        const actor = thread()
        yield* a.journal.append(birth(actor))
        const late = key()
        const second = yield* together([b.journal.append(birth(actor, { keys: [late] }))])
        assert.deepStrictEqual(tags(second), ["Superseded"])
        assert.isUndefined(yield* a.journal.key(workspace, late.scope))

        const kept = key()
        const [first, other] = [thread(), thread()]
        yield* a.journal.append(birth(first, { keys: [kept] }))
        assert.deepStrictEqual(tags(yield* together([b.journal.append(birth(other, { keys: [kept] }))])), [
          "Superseded"
        ])
        assert.deepStrictEqual(tags(yield* together([a.journal.claim(other)])), ["NoSuchActor"])
        assert.deepStrictEqual(yield* b.journal.key(workspace, kept.scope), kept)
        assert.isUndefined(yield* b.journal.key(freshId("workspace"), kept.scope))
      })
    )
  )

  it.live("of births with one key at the same instant, one happens", () =>
    owners((a, b) =>
      Effect.gen(function* () {
        for (let round = 0; round < 10; round++) {
          const kept = key()
          const actors = Array.from({ length: 6 }, thread)
          const exits = yield* together(
            actors.map((actor, i) => (i % 2 === 0 ? a : b).journal.append(birth(actor, { keys: [kept] })))
          )
          assert.deepStrictEqual(tags(exits).toSorted(), [
            "Superseded",
            "Superseded",
            "Superseded",
            "Superseded",
            "Superseded",
            "done"
          ])
          const born = yield* together(actors.map((actor, i) => (i % 2 === 0 ? a : b).journal.claim(actor)))
          assert.deepStrictEqual(
            tags(born),
            tags(exits).map((tag) => (tag === "done" ? "done" : "NoSuchActor"))
          )
        }
      })
    )
  )

  it.live("forgets a key after a day", () =>
    alone((journal) =>
      Effect.gen(function* () {
        const kept = key()
        yield* journal.append(birth(thread(), { keys: [kept] }))
        yield* Effect.promise(() => world().age(workspace, kept.scope))
        assert.isUndefined(yield* journal.key(workspace, kept.scope))
        yield* journal.append(birth(thread(), { keys: [{ ...kept, body: "2" }] }))
        assert.strictEqual((yield* journal.key(workspace, kept.scope))?.body, "2")
      })
    )
  )

  it.live("knows no actor that was not born, nor another workspace's", () =>
    alone((journal) =>
      Effect.gen(function* () {
        const actor = thread()
        yield* journal.append(birth(actor))
        assert.deepStrictEqual(
          tags(
            yield* together([journal.claim(thread()), journal.claim({ ...actor, workspace: freshId("workspace") })])
          ),
          ["NoSuchActor", "NoSuchActor"]
        )
      })
    )
  )

  it.live("books what was spent to whom it is said, of the winners only", () =>
    alone((journal) =>
      Effect.gen(function* () {
        const subject = freshId("agent")
        const actors = Array.from({ length: 4 }, thread)
        yield* together(actors.map((actor) => journal.append(birth(actor, { spent: { subject, amount: 1 } }))))
        yield* together(
          actors.map((actor, i) =>
            journal.append(next(actor, { rev: i === 0 ? 5 : 1 }, { facts: [fact()], spent: { subject, amount: 0.25 } }))
          )
        )
        assert.strictEqual(yield* Effect.promise(() => world().spent(workspace, subject)), 4.75)
      })
    )
  )
})
