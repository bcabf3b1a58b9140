/** Actors and appends as the tests of journals write them, and the journals that they are tests of. */
import { afterAll, beforeAll, describe } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import type { ActorRef, Append, FactRow, Head, IdempotencyRow, InboxWanted } from "../../src/journal/Journal.ts"
import type { Shards } from "../../src/journal/shard.ts"
import { freshId } from "../../src/seed.ts"
import { memoryWorld, type Owner, postgresWorld, type World } from "./journals.ts"

export const workspace = freshId("workspace")
export const agent = freshId("agent")
export const thread = (): ActorRef => ({ workspace, kind: "thread", id: freshId("thread") })
export const turn = freshId("turn")
export const key = (scope: string = freshId("key")): IdempotencyRow => ({
  scope,
  fingerprint: "f",
  status: 201,
  body: `{"id":1}`
})

/** How the tests see an actor: they keep its head, as a host does. */
export const headOf = (head: Partial<Head> = {}): Head => ({
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

export const fact = (over: Partial<FactRow> = {}): FactRow => ({
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

export const waking = (append: Append): Append =>
  append.head.runnableAt === null ? append : { ...append, wakes: append.head.runnableAt }

export const birth = (actor: ActorRef, over: Partial<Append> = {}): Append =>
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
export const next = (
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

export const together = <A, E>(effects: ReadonlyArray<Effect.Effect<A, E>>) =>
  Effect.all(effects.map(Effect.exit), { concurrency: "unbounded" })
export const tags = (exits: ReadonlyArray<Exit.Exit<unknown, unknown>>) =>
  exits.map((exit) =>
    Exit.isSuccess(exit) ? "done" : Cause.hasDies(exit.cause) ? "defect" : tagOf(Cause.squash(exit.cause))
  )
export const loading = (journal: Owner["journal"], actor: ActorRef) =>
  Effect.flatMap(journal.claim(actor), journal.load)
export const wanted = (shards: Shards): InboxWanted => ({
  actors: 100,
  rows: 100,
  shards,
  after: undefined,
  except: []
})
export const tagOf = (error: unknown) =>
  typeof error === "object" && error !== null && "_tag" in error ? error._tag : error

/** What the tests of one journal have: its world, and nodes in it. */
export interface Suite {
  readonly world: () => World
  readonly factsOf: (actor: ActorRef) => Effect.Effect<Awaited<ReturnType<World["facts"]>>>
  readonly owners: (test: (a: Owner, b: Owner) => Effect.Effect<void, unknown>) => Effect.Effect<void, unknown>
  readonly alone: (
    test: (journal: Owner["journal"], owner: Owner) => Effect.Effect<void, unknown>
  ) => Effect.Effect<void, unknown>
}

/** The same tests of every journal. */
export const everyJournal = (tests: (suite: Suite) => void) => {
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

      tests({
        world: () => world,
        factsOf: (actor) => Effect.promise(() => world.facts(actor)),
        owners: (test) =>
          Effect.gen(function* () {
            yield* test(yield* world.open("a"), yield* world.open("b"))
          }).pipe(Effect.scoped),
        alone: (test) =>
          Effect.gen(function* () {
            const owner = yield* world.open("a")
            yield* test(owner.journal, owner)
          }).pipe(Effect.scoped)
      })
    })
  }
}
