import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { ThreadEvent } from "../../src/threads/threadEvent.ts"
import { sibling, toUuid } from "../../src/domain/ids.ts"
import { admissionOf, endOf } from "../../src/domain/once.ts"
import { limits } from "../../src/domain/limits.ts"
import { type ActorRef, type FactRow, Journal, type WaitRow } from "../../src/journal/Journal.ts"
import { layerPostgres } from "../../src/journal/postgres.ts"
import { layerPostgresLease } from "../../src/journal/PostgresLease.ts"
import { freshId } from "../../src/seed.ts"
import { Database } from "../../src/database/Database.ts"
import type { ThreadPosition } from "../../src/threads/lists.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { databaseDuring } from "../setup/database.ts"

const workspace = freshId("workspace")
const agent = freshId("agent")
const principal = { type: "api_key", id: freshId("key") }
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
const message = (turn: string, input: string, over: Partial<FactRow> = {}): FactRow => ({
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

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(ThreadEvent), { onExcessProperty: "error" })

describe("what the API reads of threads", async () => {
  const database = await databaseDuring()

  const world = <E>(
    test: (reads: ThreadReads["Service"], write: Write, db: Database["Service"]) => Effect.Effect<void, E>
  ) =>
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

  type Write = (
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

  let t1 = "",
    t2 = "",
    steer = ""
  /** Six public events of two turns; the third and sixth rows are private. */
  let log: ReadonlyArray<FactRow> = []
  beforeEach(() => {
    ;[t1, t2, steer] = [freshId("turn"), freshId("turn"), freshId("input")]
    log = [
      message(t1, t1),
      message(t1, steer, { n: 1 }),
      hidden(t1),
      completed(t1),
      message(t2, t2),
      hidden(t2),
      message(t2, freshId("input"), { n: 1 }),
      completed(t2)
    ]
  })
  const seqs = (page: { readonly events: ReadonlyArray<string> } | undefined) =>
    page?.events.map((text) => decode(text).seq)

  it.live("gives events as the contract says them, text unharmed", () =>
    world((reads, write) =>
      Effect.gen(function* () {
        const threadId = yield* write(log)
        const page = yield* reads.events({ workspace, threadId, order: "asc", limit: 100 })
        const events = page?.events.map((text) => decode(text))
        assert.deepStrictEqual(
          events?.map((event) => [event.seq, event.type, event.turnId]),
          [
            [1, "user_message", t1],
            [2, "user_message", t1],
            [3, "turn_completed", t1],
            [4, "user_message", t2],
            [5, "user_message", t2],
            [6, "turn_completed", t2]
          ]
        )
        assert.deepInclude(events?.[0], { content: [{ type: "text", text: "a\u0000\ud800ü" }] })
        assert.strictEqual(new Set(events?.map((event) => event.eventId)).size, 6)
        assert.deepStrictEqual([page?.position, page?.lastSeq, page?.seq], [undefined, 6, 6])
      })
    )
  )

  it.live("walks a log in both directions, page by page, whatever is private", () =>
    world((reads, write) =>
      Effect.gen(function* () {
        const threadId = yield* write(log)
        for (const order of ["asc", "desc"] as const) {
          for (const turnId of [undefined, t1, t2]) {
            for (const limit of [1, 2, 3, 6, 7]) {
              const whole = turnId === t1 ? [1, 2, 3] : turnId === t2 ? [4, 5, 6] : [1, 2, 3, 4, 5, 6]
              const found: Array<number> = []
              let position: number | undefined
              let pages = 0
              do {
                const page = yield* reads.events({
                  workspace,
                  threadId,
                  order,
                  limit,
                  ...(turnId && { turnId }),
                  ...(position !== undefined && { position })
                })
                found.push(...(seqs(page) ?? []))
                position = page?.position
                pages++
              } while (position !== undefined)
              assert.deepStrictEqual(found, order === "asc" ? whole : whole.toReversed())
              assert.strictEqual(pages, Math.ceil(whole.length / limit))
            }
          }
        }
      })
    )
  )

  it.live("tells an empty page from an unknown thread, and asks many in few statements", () =>
    world((reads, write, db) =>
      Effect.gen(function* () {
        const threadId = yield* write(log)
        const ask = { workspace, threadId, order: "asc" as const, limit: 10 }
        const before = db.counts.api
        const pages = yield* Effect.all(
          [
            reads.events({ ...ask, afterSeq: 4 }),
            reads.events({ ...ask, afterSeq: 6 }),
            reads.events({ ...ask, afterSeq: Number.MAX_SAFE_INTEGER }),
            reads.events({ ...ask, threadId: freshId("thread") }),
            reads.events({ ...ask, workspace: freshId("workspace") }),
            reads.events({ ...ask, turnId: freshId("turn") }),
            reads.events({ ...ask, turnId: "' or 1=1" }),
            reads.events({ ...ask, turnId: sibling("turn", steer) }),
            ...Array.from({ length: 50 }, () => reads.events(ask))
          ],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(pages.slice(0, 8).map(seqs), [[5, 6], [], [], undefined, undefined, [], [], []])
        assert.isAtMost(db.counts.api - before, 3)
      })
    )
  )

  it.live("ends a page at 4 MiB, with at least one event", () =>
    world((reads, write) =>
      Effect.gen(function* () {
        const big = (n: number, bytes: number) =>
          message(t1, freshId("input"), { n, event: JSON.stringify({ modelId: "m".repeat(bytes) }) })
        const half = limits.pageBytes / 2 - 1_000
        const threadId = yield* write([
          big(0, half),
          big(1, half),
          big(2, 10),
          big(3, limits.pageBytes + 10),
          big(4, 10),
          big(5, 10)
        ])
        const pages: Array<ReadonlyArray<number> | undefined> = []
        let position: number | undefined
        do {
          const page = yield* reads.events({
            workspace,
            threadId,
            order: "asc",
            limit: 100,
            ...(position !== undefined && { position })
          })
          pages.push(page?.events.map((text) => Number(/^\{"seq":(\d+)/.exec(text)?.[1])))
          position = page?.position
        } while (position !== undefined)
        assert.deepStrictEqual(pages, [[1, 2, 3], [4], [5, 6]])
      })
    )
  )

  it.live("gives a thread's detail, queue and inputs to its own workspace only", () =>
    world((reads, write) =>
      Effect.gen(function* () {
        const row = (ord: number, state: "pending" | "cancelled" = "pending") => ({
          id: freshId("input"),
          ord,
          state,
          body: `{"o":${ord},"t":"\\u0000"}`
        })
        const inputs = [row(3), row(1), row(2, "cancelled")] as const
        const waits = [
          {
            id: freshId("wait"),
            target: "client" as const,
            state: "open" as const,
            createdAt: Date.now(),
            body: `{"w":1}`
          }
        ]
        const spender = freshId("agent")
        const threadId = yield* write(log, {
          inputs,
          waits,
          spent: 0.5,
          agent: spender,
          attributes: { title: "t" },
          status: "awaiting"
        })
        const detail = yield* reads.detail(workspace, threadId)
        assert.deepStrictEqual(
          [detail?.id, detail?.agentId, detail?.attributes, detail?.version],
          [threadId, spender, `{"title":"t"}`, 1]
        )
        assert.deepStrictEqual(
          [detail?.head.seq, detail?.head.status, detail?.waits, detail?.spend],
          [6, "awaiting", waits.map(({ body, id }) => ({ body, id })), { window: "24h", spent: 0.5 }]
        )
        assert.deepStrictEqual(detail?.inputs, [inputs[1], inputs[0]])
        assert.deepStrictEqual(yield* reads.queue(workspace, threadId), [inputs[1], inputs[0]])
        assert.deepStrictEqual((yield* reads.head(workspace, threadId))?.seq, 6)

        assert.deepStrictEqual(yield* reads.input(workspace, threadId, inputs[0]!.id), {
          state: "pending",
          row: inputs[0]
        })
        assert.deepStrictEqual(yield* reads.input(workspace, threadId, inputs[2]!.id), {
          state: "cancelled",
          row: inputs[2]
        })
        const admitted = yield* reads.input(workspace, threadId, steer)
        assert.deepStrictEqual(admitted?.state === "admitted" && [admitted.fact.seq, admitted.fact.turn], [2, t1])
        assert.isUndefined(yield* reads.input(workspace, threadId, freshId("input")))

        const other = freshId("workspace")
        assert.deepStrictEqual(
          yield* Effect.all([
            reads.detail(other, threadId),
            reads.head(other, threadId),
            reads.queue(other, threadId),
            reads.input(other, threadId, steer),
            reads.updateAttributes(other, threadId, () => "{}")
          ]),
          [undefined, undefined, undefined, undefined, undefined]
        )
      })
    )
  )

  it.live("shows what waits in the inbox at the end of the queue, and nothing that cannot be read", () =>
    world((reads, write, db) =>
      Effect.gen(function* () {
        const inputs = [{ id: freshId("input"), ord: 1, state: "pending" as const, body: "{}" }]
        const threadId = yield* write([], { inputs })
        const posted = { inputId: freshId("input"), content: [{ type: "text", text: "p" }], mode: "queue", principal }
        const post = (id: string, command: string) =>
          db.run("post", (tx) =>
            tx
              .insertInto("inbox")
              .values({ workspace: toUuid(workspace), id, actor: toUuid(threadId), kind: "thread", command })
              .execute()
          )
        for (const command of [
          "{ not JSON",
          `{"type":"submit","input":7}`,
          JSON.stringify({ type: "submit", input: posted })
        ])
          yield* post(freshId("input"), command)
        const queue = (yield* reads.queue(workspace, threadId)) ?? []
        assert.deepStrictEqual(
          queue.map(({ id }) => id),
          [inputs[0]!.id, posted.inputId]
        )
        assert.deepStrictEqual((yield* reads.detail(workspace, threadId))?.inputs, queue)
        assert.deepStrictEqual(yield* reads.input(workspace, threadId, posted.inputId), {
          state: "pending",
          row: queue[1]!
        })
        const body = JSON.parse(queue[1]!.body)
        assert.isBelow(Math.abs(body.queuedAt - Date.now()), 5_000)
        assert.deepStrictEqual(
          { ...body, queuedAt: 0 },
          { content: posted.content, mode: "queue", principal, queuedAt: 0 }
        )
        assert.isUndefined(yield* reads.input(freshId("workspace"), threadId, posted.inputId))
      })
    )
  )

  it.live("changes attributes at the version that the caller saw", () =>
    world((reads, write) =>
      Effect.gen(function* () {
        const threadId = yield* write([], { attributes: { title: "a" } })
        const changed = yield* Effect.all(
          Array.from({ length: 8 }, () => reads.updateAttributes(workspace, threadId, (text) => `${text} `)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(changed.map((each) => each?.version).toSorted(), [2, 3, 4, 5, 6, 7, 8, 9])
        const conflict = yield* Effect.flip(reads.updateAttributes(workspace, threadId, () => "{}", 3))
        assert.deepStrictEqual(conflict._tag === "VersionConflict" && conflict.version, 9)
        assert.deepStrictEqual(yield* reads.updateAttributes(workspace, threadId, () => "{}", 9), {
          attributes: "{}",
          version: 10
        })
      })
    )
  )

  it.live("lists by last change, filtered, without losing or repeating a thread between pages", () =>
    world((reads, write) =>
      Effect.gen(function* () {
        const home = freshId("workspace")
        const [x, y] = [freshId("agent"), freshId("agent")]
        const wait = (target: "person" | "url") => [
          { id: freshId("wait"), target, state: "open" as const, createdAt: 0, body: "{}" }
        ]
        const base = Date.now() - 600_000
        const expected: Array<string> = []
        for (let i = 0; i < 12; i++) {
          // Pairs share their moment; minutes differ every four.
          const updatedAt = base + Math.floor(i / 2) * 30_000
          expected.unshift(
            yield* write([], {
              workspace: home,
              agent: i % 2 === 0 ? x : y,
              updatedAt,
              attributes:
                i % 3 === 0 ? { title: "\u0000\udfff", identity: 'bo"b\u{1f600}' } : { createdBy: { identity: "al" } },
              ...(i % 4 === 0 ? { waits: wait(i === 0 ? "url" : "person") } : {})
            })
          )
        }
        const all = (
          filter: { readonly agentId?: string; readonly identity?: string; readonly waiting?: boolean },
          limit: number
        ) =>
          Effect.gen(function* () {
            const found: Array<string> = []
            let position: ThreadPosition | undefined
            do {
              const page: ThreadPage = yield* reads.list({
                workspace: home,
                waiting: false,
                includeArchived: false,
                limit,
                ...filter,
                ...(position && { position })
              })
              found.push(...page.threads.map((thread) => thread.id))
              position = page.position
            } while (position !== undefined)
            return found
          })
        for (const limit of [1, 2, 5, 12, 50]) assert.deepStrictEqual(yield* all({}, limit), expected)
        const at = (indices: ReadonlyArray<number>) => indices.map((i) => expected[11 - i])
        assert.deepStrictEqual(yield* all({ agentId: x }, 2), at([10, 8, 6, 4, 2, 0]))
        assert.deepStrictEqual(yield* all({ identity: 'bo"b\u{1f600}' }, 1), at([9, 6, 3, 0]))
        assert.deepStrictEqual(yield* all({ identity: "al" }, 10), [])
        assert.deepStrictEqual(yield* all({ waiting: true }, 1), at([8, 4]))
        assert.deepStrictEqual(yield* all({ waiting: true, agentId: y }, 10), [])
      })
    )
  )
  type ThreadPage = Effect.Success<ReturnType<ThreadReads["Service"]["list"]>>
})
