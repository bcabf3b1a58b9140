/** Threads as rows of a database of the file's own, and what the API reads of them. */
import { Context, Effect, Layer, Redacted } from "effect"
import { admissionOf, endOf } from "../../src/domain/once.ts"
import { type ActorRef, type FactRow, Journal, type WaitRow } from "../../src/journal/Journal.ts"
import { layerPostgres } from "../../src/journal/postgres.ts"
import { layerPostgresLease } from "../../src/journal/PostgresLease.ts"
import { freshId } from "../../src/seed.ts"
import { Database } from "../../src/database/Database.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { databaseDuring } from "../setup/database.ts"

export const workspace = freshId("workspace")
const agent = freshId("agent")
export const principal = { type: "api_key", id: freshId("key") }
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
export const message = (turn: string, input: string, over: Partial<FactRow> = {}): FactRow => ({
  type: "user_message",
  turn,
  n: 0,
  public: true,
  detail: null,
  once: admissionOf(input),
  at: Date.now(),
  event: JSON.stringify({
    content: [{ type: "text", text: "a\u0000\ud800ü" }],
    principal,
    submitMode: "queue",
    inputId: input
  }),
  ...over
})
const completed = (turn: string): FactRow => ({
  type: "turn_completed",
  turn,
  n: 9,
  public: true,
  detail: null,
  once: endOf(turn),
  at: Date.now(),
  event: JSON.stringify({ usage, principal })
})
const hidden = (turn: string): FactRow => ({
  type: "call_started",
  turn,
  n: 5,
  public: false,
  detail: "{}",
  once: null,
  at: Date.now(),
  event: "{}"
})

/** Six public events of two turns; the third and sixth rows are private. */
export const twoTurns = () => {
  const [t1, t2, steer] = [freshId("turn"), freshId("turn"), freshId("input")]
  const log: ReadonlyArray<FactRow> = [
    message(t1, t1),
    message(t1, steer, { n: 1 }),
    hidden(t1),
    completed(t1),
    message(t2, t2),
    hidden(t2),
    message(t2, freshId("input"), { n: 1 }),
    completed(t2)
  ]
  return { log, t1, t2, steer }
}

/** Writes a thread, and returns its id. */
export type Write = (
  facts?: ReadonlyArray<FactRow>,
  over?: {
    readonly workspace?: string
    readonly agent?: string
    readonly status?: string
    readonly updatedAt?: number
    readonly attributes?: unknown
    readonly inputs?: ReadonlyArray<{
      readonly id: string
      readonly ord: number
      readonly state: "pending" | "cancelled"
      readonly body: string
    }>
    readonly waits?: ReadonlyArray<WaitRow>
    readonly spent?: number
  }
) => Effect.Effect<string>

/** Runs a test against a database that the file's tests share. */
export const threadReadsDuring = async () => {
  const database = await databaseDuring()
  return <E>(test: (reads: ThreadReads["Service"], write: Write, db: Database["Service"]) => Effect.Effect<void, E>) =>
    Effect.gen(function* () {
      const context = yield* Layer.build(
        Layer.mergeAll(layerPostgres(), ThreadReads.layer).pipe(
          Layer.provideMerge(layerPostgresLease({ name: "a" })),
          Layer.provideMerge(Database.layer({ url: Redacted.make(database.url) }))
        )
      )
      const journal = Context.get(context, Journal)
      const write: Write = (facts = [], over = {}) =>
        Effect.gen(function* () {
          const actor: ActorRef = { workspace: over.workspace ?? workspace, kind: "thread", id: freshId("thread") }
          const seq = facts.filter((fact) => fact.public).length
          yield* journal.append({
            actor,
            epoch: 1,
            rev: 0,
            facts,
            head: {
              pos: facts.length,
              seq,
              rev: 1,
              status: over.status ?? "idle",
              runnableAt: null,
              since: null,
              carry: "{}",
              updatedAt: over.updatedAt ?? Date.now()
            },
            birth: { parent: over.agent ?? agent, attributes: JSON.stringify(over.attributes ?? {}) },
            ...(over.inputs === undefined ? {} : { inputs: { put: over.inputs, drop: [] } }),
            ...(over.waits === undefined ? {} : { waits: over.waits }),
            ...(over.spent === undefined ? {} : { spent: { subject: over.agent ?? agent, amount: over.spent } })
          })
          return actor.id
        }).pipe(Effect.orDie)
      yield* test(ThreadReads.of(Context.get(context, ThreadReads)), write, Context.get(context, Database))
    }).pipe(Effect.scoped)
}
