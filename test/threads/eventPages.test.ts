/** Pages of events beside what else is read. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { QueryResultRow } from "pg"
import type { Database } from "../../src/database/Database.ts"
import { threadEvents } from "../../src/threads/events.ts"
import { makeAgent, makeThread } from "../http/threadFixture.ts"
import { sharedServer } from "../setup/server.ts"

const server = await sharedServer()
const { alpha } = server.workspaces

const text = "page ".repeat(1_600)

/** A thread with some pages of more than 64 KiB. */
const largeThread = async () => {
  const id = await makeThread(server.alpha, await makeAgent(server.alpha))
  for (let i = 0; i < 12; i++) {
    const sent = await server.alpha.post(`/v1/threads/${id}/messages`, { content: [{ type: "text", text }] })
    assert.strictEqual(sent.status, 201, sent.text)
  }
  return id
}

describe("pages of events", () => {
  it("take one connection, whatever their order, and the largest a turn of the event loop each", async () => {
    const threadId = await largeThread()
    let [now, most] = [0, 0]
    const query = async <Row extends QueryResultRow>(statement: Parameters<Database["Service"]["query"]>[0]) => {
      most = Math.max(most, ++now)
      const rows = await server.database.query<Row>(statement)
      now--
      return rows
    }
    const read = threadEvents({ query })
    /** The turn of the event loop in which each page came. */
    const turns: Array<number> = []
    let turn = 0
    const count = () => {
      turn++
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    const orders = ["asc", "desc"] as const
    const pages = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        Effect.runPromise(
          Effect.tap(read({ workspace: alpha, threadId, order: orders[i % 2] ?? "asc", limit: 100 }), () =>
            Effect.sync(() => turns.push(turn))
          )
        )
      )
    )
    clearImmediate(timer)
    for (const page of pages) assert.isAbove(page?.events.join("").length ?? 0, 64 * 1024)
    assert.strictEqual(most, 1)
    assert.isAtLeast(new Set(turns).size, 12)
  })
})
