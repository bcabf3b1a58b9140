/** The contract's edges, each with the rule that it keeps to. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { setTimeout as sleep } from "node:timers/promises"
import { toUuid } from "../../src/domain/ids.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { assertRefused } from "./refused.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { addToolset, begin, call, eventually, fresh, makeWorker } from "./toolFixture.ts"

let server: TestServer
let agentId: string
beforeAll(async () => {
  server = await startServer()
  agentId = await makeAgent(server.alpha)
})
afterAll(() => server.stop())

const get = async (path: string) => {
  const answer = await server.alpha.get(path)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer
}

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
      namespace: "unsaid",
      kind: "client",
      tools: [{ name: "t", inputSchema: { type: "object" } }]
    })
    const far = await server.alpha.post("/v1/toolsets", {
      namespace: "unsaid-far",
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
    await sleep(5)
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
    assertRefused(await create({ content: [image] }), 422, "image_not_found", "message.content[0].imageId")
    assertRefused(
      await create({ content: [...text("a"), image] }),
      422,
      "image_not_found",
      "message.content[1].imageId"
    )
    assertRefused(
      await create({ content: text("a"), origin: { provider: "slack", tenantId: "T", senderId: "U" } }),
      403,
      "origin_not_allowed",
      "message.origin"
    )
    const threadId = await makeThread(server.alpha, agentId)
    assertRefused(
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
    await sleep(5)
    await submit(server.alpha, threadId, "hello")
    await logOf(server.alpha, threadId, ended(1))
    const ran = (await get(path)).body
    assert.isTrue(ran.updatedAt > born.updatedAt)
    assert.strictEqual(ran.thread.updatedAt, born.thread.updatedAt)
    await sleep(5)
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
    await run(`create function rival() returns trigger language plpgsql as $$ begin
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

// contract C11.8
describe("DELETE /v1/profiles/{profileId} archives", () => {
  const create = async () =>
    (await server.alpha.post("/v1/profiles", { name: fresh("P"), models: ["troupe/scripted"] })).body.profile
  const listed = async (query = "") =>
    ((await get(`/v1/profiles?limit=200${query}`)).body.profiles as ReadonlyArray<{ readonly id: string }>).map(
      ({ id }) => id
    )

  it("it stays readable, in all its versions, and leaves the list unless includeArchived=true", async () => {
    const { id } = await create()
    await server.alpha.patch(`/v1/profiles/${id}`, { description: "d" })
    const archived = await server.alpha.delete(`/v1/profiles/${id}`)
    assert.deepStrictEqual([archived.status, archived.text], [204, ""])
    assert.strictEqual((await server.alpha.delete(`/v1/profiles/${id}`)).status, 204)
    const { profile } = (await get(`/v1/profiles/${id}`)).body
    assert.match(profile.archivedAt, /^\d{4}-.*Z$/)
    assert.strictEqual(profile.version, 2)
    assert.lengthOf((await get(`/v1/profiles/${id}/versions`)).body.versions, 2)
    assert.strictEqual((await get(`/v1/profiles/${id}/versions/1`)).body.profile.version, 1)
    assert.notInclude(await listed(), id)
    assert.notInclude(await listed("&includeArchived=false"), id)
    assert.include(await listed("&includeArchived=true"), id)
  })

  it("409 profile_in_use while an agent that is not archived follows it", async () => {
    const { id } = await create()
    const { agent } = (await server.alpha.post("/v1/agents", { name: "A", profileId: id })).body
    assertRefused(await server.alpha.delete(`/v1/profiles/${id}`), 409, "profile_in_use")
    await server.alpha.delete(`/v1/agents/${agent.id}`)
    assert.strictEqual((await server.alpha.delete(`/v1/profiles/${id}`)).status, 204)
  })

  it("a body that names an archived one is 409 profile_archived, and it cannot be changed", async () => {
    const [{ id }, other] = [await create(), await create()]
    const { agent } = (await server.alpha.post("/v1/agents", { name: "A", profileId: other.id })).body
    await server.alpha.delete(`/v1/profiles/${id}`)
    assertRefused(
      await server.alpha.post("/v1/agents", { name: "A", profileId: id }),
      409,
      "profile_archived",
      "profileId"
    )
    assertRefused(
      await server.alpha.post("/v1/agents", { name: "A", profileId: id, profileVersion: 1 }),
      409,
      "profile_archived",
      "profileId"
    )
    assertRefused(
      await server.alpha.patch(`/v1/agents/${agent.id}`, { profileId: id }),
      409,
      "profile_archived",
      "profileId"
    )
    assertRefused(
      await server.alpha.post("/v1/roles/evaluate", { profileId: id, tool: "a.b", input: {} }),
      409,
      "profile_archived",
      "profileId"
    )
    assertRefused(await server.alpha.patch(`/v1/profiles/${id}`, { name: "N" }), 409, "profile_archived")
    assert.strictEqual((await server.alpha.patch(`/v1/agents/${agent.id}`, { name: "B" })).status, 200)
  })

  it("keeps to If-Match and to the workspace", async () => {
    const { id } = await create()
    assertRefused(await server.alpha.delete(`/v1/profiles/${id}`, { "if-match": `"2"` }), 412, "precondition_failed")
    assertRefused(await server.beta.delete(`/v1/profiles/${id}`), 404, "not_found")
    assert.strictEqual((await server.alpha.delete(`/v1/profiles/${id}`, { "if-match": `"1"` })).status, 204)
  })

  it("of an archive and an agent at the same moment only one succeeds", async () => {
    for (let times = 0; times < 5; times++) {
      const { id } = await create()
      const [archived, made] = await Promise.all([
        server.alpha.delete(`/v1/profiles/${id}`),
        server.alpha.post("/v1/agents", { name: "A", profileId: id })
      ])
      assert.include(
        [
          [204, 409],
          [409, 201]
        ].map(String),
        String([archived.status, made.status])
      )
    }
  })

  it("it keeps no role or toolset from being deleted any more", async () => {
    const { role } = (await server.alpha.post("/v1/roles", { name: fresh("R") })).body
    const { profile } = (
      await server.alpha.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], roleIds: [role.id] })
    ).body
    assertRefused(await server.alpha.delete(`/v1/roles/${role.id}`), 409, "role_in_use")
    await server.alpha.delete(`/v1/profiles/${profile.id}`)
    assert.strictEqual((await server.alpha.delete(`/v1/roles/${role.id}`)).status, 204)
  })
})
