/** A thread's log, as the API reads it page by page. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ThreadEvent } from "../../src/threads/threadEvent.ts"
import { sibling } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { freshId } from "../../src/seed.ts"
import { message, threadReadsDuring, twoTurns, workspace } from "./threadRows.ts"

const world = await threadReadsDuring()
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(ThreadEvent), { onExcessProperty: "error" })
const seqs = (page: { readonly events: ReadonlyArray<string> } | undefined) =>
  page?.events.map((text) => decode(text).seq)

describe("what the API reads of threads", () => {
  it.live("gives events as the contract says them, text unharmed", () =>
    world((reads, write) =>
      Effect.gen(function* () {
        const { log, t1, t2 } = twoTurns()
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
        const { log, t1, t2 } = twoTurns()
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
        const { log, steer } = twoTurns()
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
        const turn = freshId("turn")
        const big = (n: number, bytes: number) =>
          message(turn, freshId("input"), { n, event: JSON.stringify({ modelId: "m".repeat(bytes) }) })
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
})
