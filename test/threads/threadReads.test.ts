/** What the API reads of threads beside their logs: details, queues, inputs, attributes, lists. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { toUuid } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"
import type { ThreadPosition } from "../../src/threads/lists.ts"
import type { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { principal, threadReadsDuring, twoTurns, workspace } from "./threadRows.ts"

const world = await threadReadsDuring()

type ThreadPage = Effect.Success<ReturnType<ThreadReads["Service"]["list"]>>

describe("what the API reads of threads", () => {
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
        const { log, steer, t1 } = twoTurns()
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
})
