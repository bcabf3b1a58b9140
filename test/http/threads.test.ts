/** Threads: made, read and changed. */
import { assert, describe, it } from "@effect/vitest"
import { sharedServer } from "../setup/server.ts"
import { assertInvalid, assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { decodeDetail, makeDetailTools } from "./threadDetailFixture.ts"
import { fresh } from "./toolFixture.ts"

const server = await sharedServer()
const alpha = server.alpha
const agentId = await makeAgent(alpha)
const { detailOf } = makeDetailTools(server)

describe("creating a thread", () => {
  it("answers 201 with the whole detail, and where to find it", async () => {
    const created = await alpha.post("/v1/threads", {
      agentId,
      title: "A title",
      metadata: { team: "ops", "": undefined },
      maxCost: 1.5,
      identity: "  ann  ",
      model: "troupe/scripted",
      profileVersion: 1
    })
    assert.strictEqual(created.status, 201, created.text)
    const detail = decodeDetail(created.body)
    assert.strictEqual(created.headers.get("location"), `/v1/threads/${detail.thread.id}`)
    assert.strictEqual(detail.status, "idle")
    assert.strictEqual(detail.lastSeq, 0)
    assert.deepStrictEqual(detail.usage, { inputTokens: 0, outputTokens: 0, totalTokens: 0 })
    assert.deepStrictEqual([detail.queued, detail.pendingWaits, detail.inFlightWaitIds], [[], [], []])
    assert.strictEqual(detail.budgetSpend.window, "24h")
    assert.strictEqual(detail.budgetSpend.spent, 0)
    assert.deepInclude(detail.thread, {
      agentId,
      workspaceId: server.workspaces.alpha,
      title: "A title",
      metadata: { team: "ops" },
      maxCost: 1.5,
      identity: "ann",
      model: "troupe/scripted",
      profileVersion: 1
    })
    assert.strictEqual(detail.thread.createdBy.type, "api_key")
    assert.deepStrictEqual(detail.thread.updatedBy, detail.thread.createdBy)
    const { budgetSpend: _, ...read } = await detailOf(detail.thread.id)
    const { budgetSpend: __, ...made } = created.body
    assert.deepStrictEqual(read, made)
  })

  it("starts it with a message, and answers the message as a submit does", async () => {
    const created = await alpha.post("/v1/threads", { agentId, message: { content: text("hello") } })
    assert.strictEqual(created.status, 201, created.text)
    const { input, ...detail } = created.body
    assert.strictEqual(decodeDetail(detail).status, "running")
    assert.deepInclude(input, { state: "admitted", seq: 1, submitMode: "queue", content: text("hello") })
    const log = await logOf(alpha, detail.thread.id, ended(1))
    assert.deepStrictEqual(
      log.map(({ type }) => type),
      ["user_message", "assistant_message", "turn_completed"]
    )
    assert.strictEqual(log[0]!.inputId, input.id)
    assert.strictEqual(log[0]!.turnId, input.turnId)
    assert.deepStrictEqual(log[1]!.content, text("You said: hello"))
    const after = await detailOf(detail.thread.id)
    assert.deepInclude(after, { status: "idle", lastSeq: 3, model: "troupe/scripted" })
    assert.isAbove(after.usage.totalTokens, 0)
  })

  it("takes every field at its limit", async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 16 }, (_, i) => [`${String(i).padStart(2, "0")}${"k".repeat(62)}`, "v".repeat(512)])
    )
    const title = "🎈".repeat(200)
    const created = await alpha.post("/v1/threads", {
      agentId,
      title,
      metadata,
      maxCost: 0.000001,
      identity: "i".repeat(512)
    })
    assert.strictEqual(created.status, 201, created.text)
    assert.deepInclude(created.body.thread, { title, metadata, maxCost: 0.000001 })
  })

  const past: ReadonlyArray<readonly [string, object, string]> = [
    ["a title of 201 characters", { title: "t".repeat(201) }, "title"],
    ["a title with a control character", { title: "a\nb" }, "title"],
    ["a title with a lone surrogate", { title: "a\ud800" }, "title"],
    ["a title that is no string", { title: 5 }, "title"],
    [
      "17 pairs of metadata",
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, "v"])) },
      "metadata"
    ],
    ["a metadata value of 513 characters", { metadata: { k: "v".repeat(513) } }, "metadata.k"],
    ["a metadata value that is no string", { metadata: { k: 1 } }, "metadata.k"],
    ["a maxCost of 0", { maxCost: 0 }, "maxCost"],
    ["a negative maxCost", { maxCost: -1 }, "maxCost"],
    ["a maxCost that is a string", { maxCost: "1" }, "maxCost"],
    ["an identity of 513 bytes", { identity: "i".repeat(513) }, "identity"],
    ["a blank identity", { identity: "  " }, "identity"],
    ["an identity with a control character", { identity: "a\u0007b" }, "identity"],
    ["an agentId of another form", { agentId: "agt_1" }, "agentId"],
    ["no agentId", { agentId: undefined }, "agentId"],
    ["a model of 513 characters", { model: `a/${"m".repeat(511)}` }, "model"],
    ["a model that is no selector", { model: "gpt" }, "model"],
    ["profile version 0", { profileVersion: 0 }, "profileVersion"],
    ["profile version 1.5", { profileVersion: 1.5 }, "profileVersion"],
    ["an unknown field", { agentID: "x" }, "agentID"],
    ["an unknown field of the message", { message: { content: text("x"), mode: "queue" } }, "message.mode"],
    ["a message without content", { message: {} }, "message.content"],
    ["empty text in the message", { message: { content: text("  ") } }, "message.content[0].text"],
    ["null for a field", { title: null }, "title"]
  ]
  for (const [what, change, path] of past) {
    it(`refuses ${what}, and says where`, async () => {
      assertInvalid(await alpha.post("/v1/threads", { agentId, ...change }), path)
    })
  }

  it("refuses a metadata key of 65 characters and an empty one", async () => {
    assertRefused(
      await alpha.post("/v1/threads", { agentId, metadata: { ["k".repeat(65)]: "v" } }),
      400,
      "invalid_request"
    )
    assertRefused(await alpha.post("/v1/threads", { agentId, metadata: { "": "v" } }), 400, "invalid_request")
  })

  it("refuses agents that the workspace does not have, and archived ones", async () => {
    assertRefused(await alpha.post("/v1/threads", { agentId: `agt_${"0".repeat(26)}` }), 422, "agent_not_found")
    assertRefused(await server.beta.post("/v1/threads", { agentId }), 422, "agent_not_found")
    const archived = await makeAgent(alpha)
    assert.strictEqual((await alpha.delete(`/v1/agents/${archived}`)).status, 204)
    assertRefused(await alpha.post("/v1/threads", { agentId: archived }), 409, "agent_archived")
  })

  it("refuses a version that the agent's profile does not have", async () => {
    assertRefused(await alpha.post("/v1/threads", { agentId, profileVersion: 2 }), 422, "profile_not_found")
  })

  it("refuses models that nobody has, images, origins and disabled identities", async () => {
    assertRefused(await alpha.post("/v1/threads", { agentId, model: "nobody/nothing" }), 422, "model_unavailable")
    const image = { type: "image", imageId: `img_${"0".repeat(64)}` }
    assertRefused(await alpha.post("/v1/threads", { agentId, message: { content: [image] } }), 422, "image_not_found")
    const origin = { provider: "slack", tenantId: "T", senderId: "S" }
    assertRefused(
      await alpha.post("/v1/threads", { agentId, message: { content: text("x"), origin } }),
      403,
      "origin_not_allowed"
    )
    await alpha.post("/v1/identities/disable", { identity: "bob" })
    assertRefused(await alpha.post("/v1/threads", { agentId, identity: "bob" }), 403, "identity_disabled")
    await alpha.post("/v1/identities/enable", { identity: "bob" })
    assert.strictEqual((await alpha.post("/v1/threads", { agentId, identity: "bob" })).status, 201)
  })

  it("makes one thread of a request that is sent twice with the same Idempotency-Key", async () => {
    const body = { agentId, title: "once", message: { content: text("hello") } }
    const key = { "idempotency-key": fresh("create") }
    const [first, second] = await Promise.all([
      alpha.post("/v1/threads", body, key),
      alpha.post("/v1/threads", body, key)
    ])
    assert.deepStrictEqual([first.status, second.status], [201, 201])
    assert.strictEqual(first.text, second.text)
    assert.deepStrictEqual(
      [first, second].map(({ headers }) => headers.get("idempotency-replayed")).sort(),
      [null, "true"].sort()
    )
    assertRefused(await alpha.post("/v1/threads", { ...body, title: "twice" }, key), 422, "idempotency_key_reused")
    const again = await alpha.post("/v1/threads", body, key)
    assert.strictEqual(again.text, first.text)
  })
})

describe("getting a thread", () => {
  it("by an id of another form is 404, and says what form it has", async () => {
    assert.deepStrictEqual((await alpha.get("/v1/threads/thr_1")).body, {
      error: "not_found",
      message: "threadId: expected an id of the form thr_…"
    })
  })

  it("takes no query, and other methods are 405 with what is allowed", async () => {
    const threadId = await makeThread(alpha, agentId)
    assertRefused(await alpha.get(`/v1/threads/${threadId}?expand=all`), 400, "invalid_request", "unknown_parameter")
    const put = await alpha.send("PUT", `/v1/threads/${threadId}`, {})
    assertRefused(put, 405, "method_not_allowed")
    assert.sameMembers((put.headers.get("allow") ?? "").split(", "), ["GET", "HEAD", "PATCH", "DELETE"])
  })

  it("counts the running turn's usage, and shows what waits in the order in which it would run", async () => {
    const threadId = await makeThread(alpha, agentId)
    const a = await submit(alpha, threadId, "/wait 1s\nA")
    const q1 = await submit(alpha, threadId, "Q1")
    const q2 = await submit(alpha, threadId, "Q2", { model: "troupe/scripted-paid" })
    const s1 = await submit(alpha, threadId, "S1", { mode: "steer" })
    const s2 = await submit(alpha, threadId, "S2", { mode: "steer" })
    const detail = decodeDetail(await detailOf(threadId))
    assert.deepInclude(detail, { status: "running", lastSeq: 1, model: "troupe/scripted-paid" })
    assert.deepStrictEqual(
      detail.queued.map(({ id }) => id),
      [s1.id, s2.id, q1.id, q2.id]
    )
    assert.deepStrictEqual(
      detail.queued.map(({ turnId }) => turnId),
      [a.turnId, a.turnId, q1.turnId, q2.turnId]
    )
    assert.deepStrictEqual((await alpha.get(`/v1/threads/${threadId}/queue`)).body, detail.queued)
    await logOf(alpha, threadId, ended(3))
    const after = await detailOf(threadId)
    assert.deepInclude(after, { status: "idle", queued: [], model: "troupe/scripted-paid" })
    assert.isAbove(after.usage.estimatedCost, 0)
  })
})

describe("patching a thread", () => {
  it("merges: absent keeps, null clears, metadata pair by pair", async () => {
    const threadId = await makeThread(alpha, agentId, {
      title: "old",
      metadata: { a: "1", b: "2" },
      maxCost: 1,
      identity: "ann"
    })
    const patched = await alpha.patch(`/v1/threads/${threadId}`, {
      title: "new",
      metadata: { a: null, c: "3" },
      maxCost: null
    })
    assert.strictEqual(patched.status, 200, patched.text)
    assert.deepInclude(patched.body.thread, { title: "new", metadata: { b: "2", c: "3" }, identity: "ann" })
    assert.notProperty(patched.body.thread, "maxCost")
    assert.deepStrictEqual((await detailOf(threadId)).thread, patched.body.thread)
    const cleared = await alpha.patch(`/v1/threads/${threadId}`, { title: null, metadata: null })
    assert.notProperty(cleared.body.thread, "title")
    assert.notProperty(cleared.body.thread, "metadata")
    const other = await server.client(server.workspaces.alpha)
    const by = await other.patch(`/v1/threads/${threadId}`, { maxCost: 2 })
    assert.notDeepEqual(by.body.thread.updatedBy, by.body.thread.createdBy)
    assert.isTrue(by.body.thread.updatedAt > by.body.thread.createdAt)
  })

  it("keeps to If-Match", async () => {
    const threadId = await makeThread(alpha, agentId)
    const path = `/v1/threads/${threadId}`
    const first = (await alpha.get(path)).headers.get("etag")!
    assert.match(first, /^"[^"]+"$/)
    const patched = await alpha.patch(path, { title: "one" }, { "if-match": first })
    assert.strictEqual(patched.status, 200)
    const second = patched.headers.get("etag")!
    assert.notStrictEqual(second, first)
    assertRefused(await alpha.patch(path, { title: "two" }, { "if-match": first }), 412, "precondition_failed")
    assertRefused(await alpha.patch(path, { title: "two" }, { "if-match": `W/${second}` }), 412, "precondition_failed")
    assertRefused(await alpha.patch(path, { title: "two" }, { "if-match": "nonsense" }), 412, "precondition_failed")
    assert.strictEqual((await alpha.get(path)).body.thread.title, "one")
    assert.strictEqual((await alpha.patch(path, { title: "two" }, { "if-match": `"x", ${second}` })).status, 200)
    assert.strictEqual((await alpha.patch(path, { title: "three" }, { "if-match": "*" })).status, 200)
  })

  it("has an ETag of its edits: what its turns do leaves it as it is", async () => {
    const threadId = await makeThread(alpha, agentId)
    const path = `/v1/threads/${threadId}`
    const first = (await alpha.get(path)).headers.get("etag")!
    await submit(alpha, threadId, "hello")
    await logOf(alpha, threadId, ended(1))
    const later = await alpha.get(path)
    assert.deepStrictEqual([later.headers.get("etag"), later.body.lastSeq > 0], [first, true])
    assert.strictEqual((await alpha.patch(path, { title: "one" }, { "if-match": first })).status, 200)
  })

  it("loses none of many patches at once", async () => {
    const threadId = await makeThread(alpha, agentId)
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, i) => alpha.patch(`/v1/threads/${threadId}`, { metadata: { [`k${i}`]: "v" } }))
    )
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200]
    )
    assert.deepStrictEqual(Object.keys((await detailOf(threadId)).thread.metadata).sort(), ["k0", "k1", "k2", "k3"])
  })

  it("refuses what goes past a limit once it is merged, and other fields", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, "v"]))
    const threadId = await makeThread(alpha, agentId, { metadata })
    const path = `/v1/threads/${threadId}`
    assertInvalid(await alpha.patch(path, { metadata: { more: "v" } }), "metadata")
    assert.strictEqual((await alpha.patch(path, { metadata: { more: "v", k0: null } })).status, 200)
    assertInvalid(await alpha.patch(path, { title: "t".repeat(201) }), "title")
    assertInvalid(await alpha.patch(path, { maxCost: 0 }), "maxCost")
    assertInvalid(await alpha.patch(path, { agentId }), "agentId")
    assertRefused(await alpha.patch(path, []), 400, "invalid_request")
    assertRefused(await alpha.patch(path, "{"), 400, "invalid_request", "invalid_json")
  })

  it("is seen by what the thread itself answers later", async () => {
    const threadId = await makeThread(alpha, agentId, { title: "old" })
    await alpha.patch(`/v1/threads/${threadId}`, { title: "new" })
    const cancelled = await alpha.post(`/v1/threads/${threadId}/cancel`)
    assert.strictEqual(cancelled.status, 200)
    assert.strictEqual((await detailOf(threadId)).thread.title, "new")
    assert.strictEqual(cancelled.body.thread.title, "new")
  })
})
