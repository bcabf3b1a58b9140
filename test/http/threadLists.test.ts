/** Threads as they are listed. */
import { assert, describe, it } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"
import { sharedServer } from "../setup/server.ts"
import { assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "./threadFixture.ts"
import { decodeDetail, makeDetailTools } from "./threadDetailFixture.ts"
import { fresh } from "./toolFixture.ts"

const server = await sharedServer()
const alpha = server.alpha
const { detailOf } = makeDetailTools(server)

describe("listing threads", () => {
  it("pages through them by their last change, newest first", async () => {
    const own = await makeAgent(alpha)
    const made: Array<string> = []
    for (let i = 0; i < 5; i++) made.unshift(await makeThread(alpha, own, { title: `t${i}` }))
    const pages: Array<ReadonlyArray<string>> = []
    let path = `/v1/threads?agentId=${own}&limit=2`
    for (;;) {
      const page = await alpha.get(path)
      assert.strictEqual(page.status, 200, page.text)
      pages.push(page.body.threads.map((summary: { thread: { id: string } }) => summary.thread.id))
      if (page.body.nextCursor === undefined) break
      path = `/v1/threads?limit=2&cursor=${encodeURIComponent(page.body.nextCursor)}`
    }
    assert.deepStrictEqual(
      pages.map(({ length }) => length),
      [2, 2, 1]
    )
    assert.deepStrictEqual(pages.flat(), made)
    const newest = await alpha.get(`/v1/threads?agentId=${own}&limit=1`)
    assert.deepStrictEqual(Object.keys(newest.body.threads[0]).sort(), [
      "lastSeq",
      "pendingWaits",
      "status",
      "thread",
      "updatedAt",
      "usage"
    ])
    await submit(alpha, made.at(-1)!, "hello")
    await logOf(alpha, made.at(-1)!, ended(1))
    const first = (await alpha.get(`/v1/threads?agentId=${own}&limit=1`)).body.threads[0]
    assert.strictEqual(first.thread.id, made.at(-1))
    assert.deepInclude(first, { status: "idle", lastSeq: 3, model: "troupe/scripted", pendingWaits: [] })
  })

  it("filters by agent, identity and state, within the workspace", async () => {
    const own = await makeAgent(alpha)
    const identity = fresh("list ann")
    const ann = await makeThread(alpha, own, { identity })
    await makeThread(alpha, own, { identity: "list bob" })
    const ids = async (query: string, client = alpha) =>
      (await client.get(`/v1/threads?${query}`)).body.threads.map(
        (summary: { thread: { id: string } }) => summary.thread.id
      )
    assert.deepStrictEqual(await ids(`identity=${encodeURIComponent(identity)}`), [ann])
    assert.deepStrictEqual(await ids(`identity=${encodeURIComponent(` ${identity} `)}`), [ann])
    assert.deepStrictEqual(await ids(`agentId=${own}&identity=${encodeURIComponent(identity)}`), [ann])
    assert.deepStrictEqual((await ids(`agentId=${own}`)).length, 2)
    assert.deepStrictEqual(await ids(`agentId=${own}&state=waiting`), [])
    assert.deepStrictEqual(await ids(`agentId=${own}`, server.beta), [])
  })

  it("with state=waiting are those with an open wait for a person or a client, with their waits", async () => {
    const own = await makeAgent(alpha)
    const threads = [
      await makeThread(alpha, own),
      await makeThread(alpha, own),
      await makeThread(alpha, own),
      await makeThread(alpha, own)
    ]
    const turnId = freshId("turn")
    // As the thread would write them: no tool parks yet.
    const park = async (threadId: string, target: "person" | "client" | "url") => {
      const id = freshId("wait")
      const wait = {
        turnId,
        type: "client_tool" as const,
        state: "open" as const,
        target,
        expiresAt: "2030-01-01T00:00:00.000Z",
        toolName: "t",
        toolInput: { a: "\u0000" }
      }
      await server.runtime.runPromise(
        server.database.run("test.wait", (db) =>
          db
            .insertInto("waits")
            .values({
              workspace: toUuid(server.workspaces.alpha),
              actor: toUuid(threadId),
              id: toUuid(id),
              target,
              state: "open",
              created_at: new Date(),
              body: JSON.stringify(wait)
            })
            .execute()
        )
      )
      return { id, ...wait }
    }
    const first = await park(threads[1]!, "client")
    const second = await park(threads[1]!, "url")
    const other = await park(threads[2]!, "person")
    await park(threads[3]!, "url")
    const { body } = await alpha.get(`/v1/threads?agentId=${own}&state=waiting`)
    assert.deepStrictEqual(
      body.threads.map((summary: { thread: { id: string } }) => summary.thread.id),
      [threads[2], threads[1]]
    )
    assert.deepStrictEqual(
      body.threads.map((summary: { pendingWaits: unknown }) => summary.pendingWaits),
      [[other], [first, second]]
    )
    const detail = decodeDetail(await detailOf(threads[1]!))
    assert.deepStrictEqual(detail.inFlightWaitIds, [first.id, second.id])
    assert.deepStrictEqual([...detail.pendingWaits], [first, second])
  })

  it("refuses other states, limits, cursors and parameters", async () => {
    for (const limit of ["0", "201", "-1", "1.5", "1e2", "%205", "", "x"]) {
      assertRefused(await alpha.get(`/v1/threads?limit=${limit}`), 400, "invalid_request", "limit_out_of_range")
    }
    assert.strictEqual((await alpha.get("/v1/threads?limit=200")).status, 200)
    assert.strictEqual((await alpha.get("/v1/threads?limit=1")).status, 200)
    for (const state of ["running", "Waiting", ""])
      assertRefused(await alpha.get(`/v1/threads?state=${state}`), 400, "invalid_request")
    assertRefused(await alpha.get("/v1/threads?agentId=agt_1"), 400, "invalid_request")
    assertRefused(await alpha.get("/v1/threads?stage=idle"), 400, "invalid_request", "unknown_parameter")
    assertRefused(await alpha.get("/v1/threads?limit=1&limit=2"), 400, "invalid_request", "repeated_parameter")
    const { nextCursor } = (await alpha.get("/v1/threads?limit=1")).body
    assertRefused(await alpha.get(`/v1/threads?cursor=${nextCursor}x`), 400, "invalid_request", "invalid_cursor")
    assertRefused(await alpha.get(`/v1/threads?cursor=nonsense`), 400, "invalid_request", "invalid_cursor")
    assertRefused(await server.beta.get(`/v1/threads?cursor=${nextCursor}`), 400, "invalid_request", "invalid_cursor")
    assertRefused(
      await alpha.get(`/v1/threads?state=waiting&cursor=${nextCursor}`),
      400,
      "invalid_request",
      "invalid_cursor"
    )
  })
})
