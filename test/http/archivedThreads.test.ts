/** Threads that are put away: archived, and deleted with all that they had. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { clearDeleted } from "../../src/threads/deleting.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused } from "./refusals.ts"
import { addToolset, makeWorker, only } from "./toolFixture.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "./threadFixture.ts"

const server = await during(startServer())
const alpha = server.alpha

/** Turns, one after the other. */
const say = async (threadId: string, ...messages: ReadonlyArray<string>) => {
  for (const [before, message] of messages.entries()) {
    await submit(alpha, threadId, message)
    await logOf(alpha, threadId, ended(before + 1))
  }
}

describe("an archived thread", () => {
  const archive = (threadId: string) => alpha.post(`/v1/threads/${threadId}/archive`)
  const listed = async (agentId: string, query = "") =>
    (await alpha.get(`/v1/threads?agentId=${agentId}${query}`)).body.threads.map(
      ({ thread }: { readonly thread: { readonly id: string } }) => thread.id
    )

  it("takes no input, is read as before, and is listed to whoever asks for it", async () => {
    const agentId = await makeAgent(alpha)
    const threadId = await makeThread(alpha, agentId)
    await say(threadId, "one")
    const answer = await archive(threadId)
    assert.strictEqual(answer.status, 200, answer.text)
    assert.match(answer.body.thread.archivedAt, /^\d{4}-/)
    assert.deepStrictEqual((await archive(threadId)).body.thread.archivedAt, answer.body.thread.archivedAt)
    assertRefused(
      await alpha.post(`/v1/threads/${threadId}/messages`, { content: [{ type: "text", text: "two" }] }),
      409,
      "thread_archived"
    )
    assertRefused(await alpha.post(`/v1/threads/${threadId}/compact`), 409, "thread_archived")
    assert.strictEqual(
      (await alpha.get(`/v1/threads/${threadId}`)).body.thread.archivedAt,
      answer.body.thread.archivedAt
    )
    assert.strictEqual((await alpha.get(`/v1/threads/${threadId}/events`)).body.events.length, 3)
    assert.deepStrictEqual(await listed(agentId), [])
    assert.deepStrictEqual(await listed(agentId, "&includeArchived=true"), [threadId])
  })

  it("was at rest with an empty queue", async () => {
    const threadId = await makeThread(alpha, await makeAgent(alpha))
    await submit(alpha, threadId, "/wait 20s")
    assertRefused(await archive(threadId), 409, "turn_conflict")
    await alpha.post(`/v1/threads/${threadId}/cancel`)
    assert.strictEqual((await archive(threadId)).status, 200)
  })

  it("may be deleted, and is unknown from then on; others may not", async () => {
    const agentId = await makeAgent(alpha)
    const threadId = await makeThread(alpha, agentId)
    await say(threadId, "one")
    assertRefused(await alpha.delete(`/v1/threads/${threadId}`), 409, "turn_conflict")
    await archive(threadId)
    assertRefused(await server.beta.delete(`/v1/threads/${threadId}`), 404, "not_found")
    assert.strictEqual((await alpha.delete(`/v1/threads/${threadId}`)).status, 204)
    for (const path of ["", "/events", "/queue", "/events?afterSeq=3"])
      assertRefused(await alpha.get(`/v1/threads/${threadId}${path}`), 404, "not_found")
    assertRefused(await alpha.delete(`/v1/threads/${threadId}`), 404, "not_found")
    assertRefused(
      await alpha.post(`/v1/threads/${threadId}/messages`, { content: [{ type: "text", text: "two" }] }),
      404,
      "not_found"
    )
    assert.deepStrictEqual(await listed(agentId, "&includeArchived=true"), [])
  })

  const rowsOf = async (threadId: string) => {
    const id = toUuid(threadId)
    const { rows } = await server.runtime.runPromise(
      server.database.run("test.left", (db) =>
        sql<Readonly<Record<string, number>>>`select
          (select count(*)::int from facts where actor = ${id}) as facts,
          (select count(*)::int from inputs where actor = ${id}) as inputs,
          (select count(*)::int from waits where actor = ${id}) as waits,
          (select count(*)::int from thread_spend where thread = ${id}) as spend,
          (select count(*)::int from deleted_threads where thread = ${id}) as deleted`.execute(db)
      )
    )
    return rows[0] ?? assert.fail("no counts")
  }

  it("that was deleted leaves no rows, however many portions they are", async () => {
    const { id, namespace } = await addToolset(alpha, {
      kind: "client",
      tools: [{ name: "ask", inputSchema: { type: "object" } }]
    })
    const agentId = await makeWorker(alpha, { models: ["troupe/scripted-paid"], toolsetIds: [id] })
    const threadId = await makeThread(alpha, agentId, { maxCost: 1 })
    await say(threadId, "one", "two")
    await submit(alpha, threadId, `/call ${namespace}.ask`)
    const removed = await submit(alpha, threadId, "never mind")
    assert.strictEqual((await alpha.delete(`/v1/threads/${threadId}/queue/${removed.id}`)).status, 204)
    await logOf(alpha, threadId, (log) => only(log, "wait_created").length === 1)
    await alpha.post(`/v1/threads/${threadId}/cancel`)
    const log = await logOf(alpha, threadId, ended(3))
    await archive(threadId)
    const { deleted, ...before } = await rowsOf(threadId)
    for (const [table, rows] of Object.entries(before)) assert.isAbove(rows, 0, table)
    assert.strictEqual(deleted, 0)
    assert.isAbove(log.length, 8)
    assert.strictEqual((await alpha.delete(`/v1/threads/${threadId}`)).status, 204)
    // The node's own chore may have it in hand.
    await eventually(async () => {
      await server.runtime.runPromise(clearDeleted(2))
      return Object.values(await rowsOf(threadId)).every((rows) => rows === 0)
    }, "its rows are gone")
  })
})
