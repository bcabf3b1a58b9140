/** What changes nothing, and so writes nothing. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { sharedServer } from "../setup/server.ts"
import { assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "./threadFixture.ts"
import { isPast, makeGet } from "./edgeFixture.ts"
import { fresh } from "./toolFixture.ts"

const server = await sharedServer()
const agentId = await makeAgent(server.alpha)
const { get } = makeGet(server)

// contract C2.14
describe("a PATCH that changes nothing changes no ETag, updatedAt or updatedBy, anywhere", () => {
  it("of an agent", async () => {
    const id = await makeAgent(server.alpha, ["troupe/scripted"], { tags: ["a"], budget: { limit: 1, window: "7d" } })
    const before = await get(`/v1/agents/${id}`)
    for (const patch of [{}, { name: "Tester" }, { tags: ["a"], budget: { window: "7d" } }, { description: null }]) {
      const patched = await server.alpha.patch(`/v1/agents/${id}`, patch)
      assert.deepStrictEqual(
        [patched.status, patched.headers.get("etag"), patched.body],
        [200, before.headers.get("etag"), before.body],
        JSON.stringify(patch)
      )
    }
    assert.deepStrictEqual((await get(`/v1/agents/${id}`)).body, before.body)
    assert.notStrictEqual(
      (await server.alpha.patch(`/v1/agents/${id}`, { tags: ["b"] })).headers.get("etag"),
      before.headers.get("etag")
    )
  })

  it("of a thread", async () => {
    const path = `/v1/threads/${await makeThread(server.alpha, agentId, { title: "t", metadata: { a: "1" }, maxCost: 2 })}`
    const before = await get(path)
    const other = await server.client(server.workspaces.alpha)
    for (const patch of [{}, { title: "t" }, { metadata: { a: "1", b: null } }, { maxCost: 2 }]) {
      const patched = await other.patch(path, patch)
      assert.deepStrictEqual(
        [patched.status, patched.headers.get("etag"), patched.body.thread],
        [200, before.headers.get("etag"), before.body.thread],
        JSON.stringify(patch)
      )
    }
    const changed = await other.patch(path, { title: "u" })
    assert.notStrictEqual(changed.headers.get("etag"), before.headers.get("etag"))
    assert.notDeepEqual(changed.body.thread.updatedBy, before.body.thread.updatedBy)
  })
})

describe("a PATCH of a toolset that says what stood there unsaid", () => {
  it("changes nothing either", async () => {
    const own = await server.alpha.post("/v1/toolsets", {
      namespace: fresh("unsaid"),
      kind: "client",
      tools: [{ name: "t", inputSchema: { type: "object" } }]
    })
    const far = await server.alpha.post("/v1/toolsets", {
      namespace: fresh("far"),
      kind: "mcp",
      url: "http://127.0.0.1:1/mcp"
    })
    for (const [made, patches] of [
      [own, [{ exposure: "always" }, { exposure: null }]],
      [
        far,
        [
          { exposure: "always" },
          { transport: "streamable_http" },
          { transport: null },
          { trusted: false },
          { trusted: null }
        ]
      ]
    ] as const) {
      for (const patch of patches) {
        const patched = await server.alpha.patch(`/v1/toolsets/${made.body.toolset.id}`, patch)
        assert.deepStrictEqual(
          [patched.status, patched.headers.get("etag")],
          [200, made.headers.get("etag")],
          JSON.stringify(patch)
        )
        assert.strictEqual(patched.body.toolset.updatedAt, made.body.toolset.updatedAt)
      }
    }
  })
})

// contract C14.17
describe("a cancel at rest writes nothing but the key's own row, and its answer shows the same updatedAt as a GET", () => {
  const rowOf = (threadId: string) =>
    server.runtime.runPromise(
      server.database.run("test.head", (db) =>
        db
          .selectFrom("heads")
          .select(["pos", "rev", "touched", "updated_at", sql<string>`xmin::text`.as("written")])
          .where("id", "=", toUuid(threadId))
          .executeTakeFirstOrThrow()
      )
    )

  it.each([
    ["without an Idempotency-Key", undefined],
    ["with one", "cancel-at-rest"]
  ])("%s", async (_, key) => {
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "hello")
    await logOf(server.alpha, threadId, ended(1))
    const newer = await makeThread(server.alpha, agentId)
    const [before, row] = [await get(`/v1/threads/${threadId}`), await rowOf(threadId)]
    await isPast(before.body.updatedAt)
    const headers = key === undefined ? {} : { "idempotency-key": key }
    const cancel = () => server.alpha.post(`/v1/threads/${threadId}/cancel`, {}, headers)
    const cancelled = await cancel()
    assert.strictEqual(cancelled.status, 200, cancelled.text)
    assert.deepStrictEqual(
      [cancelled.body.updatedAt, cancelled.body.thread],
      [before.body.updatedAt, before.body.thread]
    )
    assert.deepStrictEqual(await rowOf(threadId), row)
    const { threads } = (await get("/v1/threads?limit=200")).body as {
      readonly threads: ReadonlyArray<{ readonly thread: { readonly id: string } }>
    }
    const places = [newer, threadId].map((id) => threads.findIndex(({ thread }) => thread.id === id))
    assert.isBelow(places[0]!, places[1]!)
    if (key === undefined) return
    const again = await cancel()
    assert.deepStrictEqual(
      [again.status, again.headers.get("idempotency-replayed"), again.text],
      [200, "true", cancelled.text]
    )
    assertRefused(
      await server.alpha.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true }, headers),
      422,
      "idempotency_key_reused"
    )
  })
})
