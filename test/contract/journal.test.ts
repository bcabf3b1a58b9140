import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Redacted } from "effect"
import type {
  ActorRef,
  Append,
  Claimed,
  FactRow,
  Head,
  IdempotencyRow,
  InboxWanted,
  WaitRow
} from "../../src/journal/Journal.ts"
import { body, toUuid } from "../../src/domain/ids.ts"
import { allShards, coarseOf, shardCount, shardOf, type Shards, shardsOf } from "../../src/journal/shard.ts"
import { identityActorId } from "../../src/identities/actorId.ts"
import { appends } from "../../src/journal/appends.ts"
import { appendStatement, sizeOf } from "../../src/journal/appendStatement.ts"
import { wholeLog } from "../../src/journal/wholeLog.ts"
import { freshId } from "../../src/seed.ts"
import { Database } from "../../src/database/Database.ts"
import { type Fault, MemoryStore } from "../../src/journal/MemoryStore.ts"
import { memoryWorld, type Owner, type PostgresWorld, postgresWorld, type World } from "./journals.ts"

const workspace = freshId("workspace")
const agent = freshId("agent")
const thread = (): ActorRef => ({ workspace, kind: "thread", id: freshId("thread") })
const turn = freshId("turn")
const key = (scope: string = freshId("key")): IdempotencyRow => ({
  scope,
  fingerprint: "f",
  status: 201,
  body: `{"id":1}`
})

/** How the tests see an actor: they keep its head, as a host does. */
const headOf = (head: Partial<Head> = {}): Head => ({
  pos: 0,
  seq: 0,
  rev: 1,
  status: "idle",
  runnableAt: null,
  since: null,
  carry: "{}",
  updatedAt: Date.now(),
  ...head
})

const fact = (over: Partial<FactRow> = {}): FactRow => ({
  type: "user_message",
  turn,
  n: 0,
  public: true,
  event: `{"text":"a \\u0000 \\ud800 é"}`,
  detail: null,
  once: null,
  at: Date.now(),
  ...over
})

const waking = (append: Append): Append =>
  append.head.runnableAt === null ? append : { ...append, wakes: append.head.runnableAt }

const birth = (actor: ActorRef, over: Partial<Append> = {}): Append =>
  waking({
    actor,
    epoch: 1,
    rev: 0,
    head: headOf(),
    facts: [],
    birth: { parent: agent, attributes: `{"title":"t"}` },
    ...over
  })

/** The append after `rev`, of `facts` behind `pos` and `seq`. */
const next = (
  actor: ActorRef,
  at: { readonly epoch?: number; readonly rev: number; readonly pos?: number; readonly seq?: number },
  over: Partial<Append> & { readonly of?: Partial<Head> } = {}
): Append => {
  const { of, ...rest } = over
  const facts = over.facts ?? []
  return waking({
    actor,
    epoch: at.epoch ?? 1,
    rev: at.rev,
    facts,
    head: headOf({
      pos: (at.pos ?? 0) + facts.length,
      seq: (at.seq ?? 0) + facts.filter((row) => row.public).length,
      rev: at.rev + 1,
      ...of
    }),
    ...rest
  })
}

const together = <A, E>(effects: ReadonlyArray<Effect.Effect<A, E>>) =>
  Effect.all(effects.map(Effect.exit), { concurrency: "unbounded" })
const tags = (exits: ReadonlyArray<Exit.Exit<unknown, unknown>>) =>
  exits.map((exit) =>
    Exit.isSuccess(exit) ? "done" : Cause.hasDies(exit.cause) ? "defect" : tagOf(Cause.squash(exit.cause))
  )
const loading = (journal: Owner["journal"], actor: ActorRef) => Effect.flatMap(journal.claim(actor), journal.load)
const wanted = (shards: Shards): InboxWanted => ({ actors: 100, rows: 100, shards, after: undefined, except: [] })
const tagOf = (error: unknown) => (typeof error === "object" && error !== null && "_tag" in error ? error._tag : error)

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

    const factsOf = (actor: ActorRef) => Effect.promise(() => world.facts(actor))
    const owners = (test: (a: Owner, b: Owner) => Effect.Effect<void, unknown>) =>
      Effect.gen(function* () {
        yield* test(yield* world.open("a"), yield* world.open("b"))
      }).pipe(Effect.scoped)
    const alone = (test: (journal: Owner["journal"], owner: Owner) => Effect.Effect<void, unknown>) =>
      Effect.gen(function* () {
        const owner = yield* world.open("a")
        yield* test(owner.journal, owner)
      }).pipe(Effect.scoped)

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
          const kept = yield* Effect.promise(() => world.waits(actor))
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
            world.lose(when)
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
            world.lose(when)
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
          yield* Effect.promise(() => world.age(workspace, kept.scope))
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
          yield* Effect.promise(() => world.lapse(a.lease.incarnation()))
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
          yield* Effect.promise(() => world.lapse(a.lease.incarnation()))
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
          yield* Effect.promise(() => world.lapse(a.lease.incarnation()))
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
          yield* Effect.promise(() => world.lapse(a.lease.incarnation()))
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
            yield* Effect.promise(() => world.age(workspace, late.scope))
            assert.isTrue(yield* b.journal.post(row(), { ...late, body: "3" }))
            assert.strictEqual((yield* a.journal.key(workspace, late.scope))?.body, "3")
            // And the other way round: the key was taken between look-up and effect.
            assert.deepStrictEqual(
              tags(yield* together([a.journal.append(next(actor, { rev: 2 }, { keys: [once] }))])),
              ["Superseded"]
            )
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

    it.live("books what was spent to whom it is said, of the winners only", () =>
      alone((journal) =>
        Effect.gen(function* () {
          const subject = freshId("agent")
          const actors = Array.from({ length: 4 }, thread)
          yield* together(actors.map((actor) => journal.append(birth(actor, { spent: { subject, amount: 1 } }))))
          yield* together(
            actors.map((actor, i) =>
              journal.append(
                next(actor, { rev: i === 0 ? 5 : 1 }, { facts: [fact()], spent: { subject, amount: 0.25 } })
              )
            )
          )
          assert.strictEqual(yield* Effect.promise(() => world.spent(workspace, subject)), 4.75)
        })
      )
    )
  })
}

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
