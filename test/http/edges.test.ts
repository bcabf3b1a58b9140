/** The contract's edges, each with the rule that it keeps to. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused, assertRefusedAt } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { addToolset, begin, call, makeWorker } from "./toolFixture.ts"
import { isPast, makeGet } from "./edgeFixture.ts"

const server = await during(startServer())
const agentId = await makeAgent(server.alpha)
const { get } = makeGet(server)

// contract C2.13
describe("201 carries the ETag as 200 does, of threads too", () => {
  it("of a thread, with and without a message", async () => {
    for (const more of [{}, { message: { content: text("hello") } }]) {
      const made = await server.alpha.post("/v1/threads", { agentId, ...more })
      assert.strictEqual(made.status, 201, made.text)
      assert.strictEqual(
        made.headers.get("etag"),
        (await get(`/v1/threads/${made.body.thread.id}`)).headers.get("etag")
      )
    }
  })

  it("and a cancel's, after edits as well", async () => {
    const path = `/v1/threads/${await makeThread(server.alpha, agentId)}`
    await server.alpha.patch(path, { title: "new" })
    const cancelled = await server.alpha.post(`${path}/cancel`)
    assert.isNotNull(cancelled.headers.get("etag"))
    assert.strictEqual(cancelled.headers.get("etag"), (await get(path)).headers.get("etag"))
    assert.strictEqual(
      (await server.alpha.patch(path, { title: "newer" }, { "if-match": cancelled.headers.get("etag") ?? "" })).status,
      200
    )
  })
})

// contract C15.15
describe("DELETE of a queue item is 204, again for one that this way was removed before", () => {
  it("and 409 for one that was admitted, or swept away with the queue", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const path = (id: string) => `/v1/threads/${threadId}/queue/${id}`
    const running = await submit(server.alpha, threadId, "/wait 5s\nA")
    const [removed, swept] = [await submit(server.alpha, threadId, "B"), await submit(server.alpha, threadId, "C")]
    for (let times = 0; times < 3; times++)
      assert.strictEqual((await server.alpha.delete(path(removed.id))).status, 204)
    assert.strictEqual((await get(path(removed.id))).body.state, "cancelled")
    await server.alpha.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })
    assert.strictEqual((await server.alpha.delete(path(removed.id))).status, 204)
    assertRefused(await server.alpha.delete(path(swept.id)), 409, "input_not_pending")
    assertRefused(await server.alpha.delete(path(running.id)), 409, "input_not_pending")
  })
})

// contract C15.17
describe("queuedAt of an input is one moment wherever it is shown", () => {
  it("of one admitted at once, one that waited for long, one for less than a second, and a steer", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const shown = async (id: string) => (await get(`/v1/threads/${threadId}/queue/${id}`)).body
    const a = await submit(server.alpha, threadId, "/wait 1200ms\nA")
    const q = await submit(server.alpha, threadId, "/wait 300ms\nQ")
    const s = await submit(server.alpha, threadId, "S", { mode: "steer" })
    const r = await submit(server.alpha, threadId, "R")
    const queue = (await get(`/v1/threads/${threadId}/queue`)).body as ReadonlyArray<{
      readonly id: string
      readonly queuedAt: string
    }>
    for (const { id, queuedAt } of [q, s, r]) {
      assert.strictEqual(queue.find((item) => item.id === id)?.queuedAt, queuedAt)
      assert.strictEqual((await shown(id)).queuedAt, queuedAt)
    }
    await logOf(server.alpha, threadId, ended(3))
    for (const input of [a, q, s, r]) {
      const done = await shown(input.id)
      assert.deepStrictEqual([done.state, done.queuedAt], ["admitted", input.queuedAt])
    }
  })
})

// contract C4.2
describe("a filter left at its default agrees with a cursor made without it, in every list", () => {
  const follows = async (path: string, explicit: string, other: string) => {
    const { nextCursor } = (await get(`${path}?limit=1`)).body
    assert.isString(nextCursor, path)
    const page = await get(`${path}?limit=1&cursor=${nextCursor}`)
    assert.deepStrictEqual((await get(`${path}?limit=1&cursor=${nextCursor}&${explicit}`)).body, page.body)
    const said = (await get(`${path}?limit=1&${explicit}`)).body.nextCursor
    assert.deepStrictEqual(
      (await get(`${path}?limit=1&cursor=${said}`)).body,
      (await get(`${path}?limit=1&cursor=${said}&${explicit}`)).body
    )
    const refused = await server.alpha.get(`${path}?limit=1&cursor=${nextCursor}&${other}`)
    assert.deepStrictEqual([refused.status, refused.body.code], [400, "invalid_cursor"])
  }

  it("agents, includeArchived", async () => {
    await makeAgent(server.alpha)
    await follows("/v1/agents", "includeArchived=false", "includeArchived=true")
  })

  it("profiles, includeArchived", async () => {
    await makeAgent(server.alpha)
    await follows("/v1/profiles", "includeArchived=false", "includeArchived=true")
  })

  it("events, order", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "hello")
    await logOf(server.alpha, threadId, ended(1))
    await follows(`/v1/threads/${threadId}/events`, "order=asc", "order=desc")
  })

  it("tool calls, state", async () => {
    const toolset = await addToolset(server.alpha, {
      kind: "client",
      tools: [{ name: "t", description: "d", inputSchema: { type: "object" } }]
    })
    const worker = await makeWorker(server.alpha, { toolsetIds: [toolset.id] })
    const name = `${toolset.namespace}.t`
    const threadId = await begin(server.alpha, worker, call(name), call(name), call(name))
    await eventually(async () => (await get("/v1/tools/calls")).body.calls.length >= 3, "three calls wait")
    await follows("/v1/tools/calls", "state=pending", `toolsetId=${toolset.id}`)
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
  })
})

// contract C4.2
describe("an empty or overlong cursor is invalid_cursor", () => {
  it.each([
    "/v1/agents",
    "/v1/profiles",
    "/v1/roles",
    "/v1/toolsets",
    "/v1/connections",
    "/v1/threads",
    "/v1/auth/keys",
    "/v1/identities",
    "/v1/operations",
    "/v1/models",
    "/v1/tools/calls",
    "/v1/hooks/decisions",
    "/v1/usage"
  ])("in %s", async (path) => {
    for (const cursor of ["", "x".repeat(2049), "x".repeat(2048)]) {
      const refused = await server.alpha.get(`${path}?cursor=${cursor}`)
      assert.deepStrictEqual(
        [refused.status, refused.body.error, refused.body.code],
        [400, "invalid_request", "invalid_cursor"],
        refused.text
      )
      assert.match(refused.body.message, /^cursor: /)
    }
  })
})

// contract C3.3
describe("the field's path in the request's body stands in message (on thread create message.content[0]…)", () => {
  const image = { type: "image", imageId: `img_${"a".repeat(64)}` }
  it("of an image and of an origin", async () => {
    const create = (message: object) => server.alpha.post("/v1/threads", { agentId, message })
    assertRefusedAt(await create({ content: [image] }), 422, "image_not_found", "message.content[0].imageId")
    assertRefusedAt(
      await create({ content: [...text("a"), image] }),
      422,
      "image_not_found",
      "message.content[1].imageId"
    )
    assertRefusedAt(
      await create({ content: text("a"), origin: { provider: "slack", tenantId: "T", senderId: "U" } }),
      403,
      "origin_not_allowed",
      "message.origin"
    )
    const threadId = await makeThread(server.alpha, agentId)
    assertRefusedAt(
      await server.alpha.post(`/v1/threads/${threadId}/messages`, { content: [image] }),
      422,
      "image_not_found",
      "content[0].imageId"
    )
  })
})

// contract C14.16
describe("the top-level updatedAt is that of the last fact, thread.updatedAt that of the last edit", () => {
  it("a turn moves the one, a PATCH the other", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const path = `/v1/threads/${threadId}`
    const born = (await get(path)).body
    assert.strictEqual(born.thread.updatedAt, born.thread.createdAt)
    await isPast(born.updatedAt)
    await submit(server.alpha, threadId, "hello")
    await logOf(server.alpha, threadId, ended(1))
    const ran = (await get(path)).body
    assert.isTrue(ran.updatedAt > born.updatedAt)
    assert.strictEqual(ran.thread.updatedAt, born.thread.updatedAt)
    await isPast(ran.updatedAt)
    const patched = (await server.alpha.patch(path, { title: "t" })).body
    assert.strictEqual(patched.updatedAt, ran.updatedAt)
    assert.isTrue(patched.thread.updatedAt > ran.updatedAt)
  })
})

// contract C14.20
describe("a PATCH of a thread that keeps losing against others is 503 with retryAfterSeconds, never 500", () => {
  it("where every try finds that somebody was faster", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    const run = (text: string) =>
      server.runtime.runPromise(server.database.run("test.rival", (db) => sql.raw(text).execute(db)))
    // Whoever edits this thread finds that another edit has come before.
    await run(`create or replace function rival() returns trigger language plpgsql as $$ begin
      if pg_trigger_depth() > 1 then return new; end if;
      update heads set version = version + 1 where id = old.id;
      return null;
    end $$`)
    await run(
      `create trigger rival before update of attributes on heads for each row when (old.id = '${toUuid(threadId)}') execute function rival()`
    )
    const refused = await server.alpha.patch(`/v1/threads/${threadId}`, { title: "t" })
    await run("drop trigger rival on heads")
    assertRefused(refused, 503, "runtime_unavailable")
    assert.deepStrictEqual([refused.body.retryAfterSeconds, refused.headers.get("retry-after")], [1, "1"])
    assert.strictEqual((await server.alpha.patch(`/v1/threads/${threadId}`, { title: "t" })).status, 200)
  })
})

// contract C14.21
describe("budgetSpend.spent is rounded to a billionth of a dollar, in every answer", () => {
  it("of a create, a read, an edit, a cancel", async () => {
    const id = await makeAgent(server.alpha)
    await server.runtime.runPromise(
      server.database.run("test.spend", (db) =>
        sql`insert into spend_by_node (workspace, subject, minute, node, amount)
      select ${toUuid(server.workspaces.alpha)}, ${toUuid(id)}, floor(extract(epoch from now()) / 60)::int, n::uuid, a from (values
        ('00000000-0000-0000-0000-000000000001', 0.1::float8), ('00000000-0000-0000-0000-000000000002', 0.2::float8)) as given (n, a)`.execute(
          db
        )
      )
    )
    const made = await server.alpha.post("/v1/threads", { agentId: id })
    const path = `/v1/threads/${made.body.thread.id}`
    const answers = [
      made,
      await get(path),
      await server.alpha.patch(path, { title: "t" }),
      await server.alpha.post(`${path}/cancel`)
    ]
    assert.deepStrictEqual(
      answers.map(({ body }) => body.budgetSpend.spent),
      [0.3, 0.3, 0.3, 0.3]
    )
  })
})
