/** What agents may do with feeds: under a policy that makes their appends park, and by requests under their leases. */
import { assert, describe, it } from "@effect/vitest"
import { append, feedsStand } from "./feedsOfAgentsFixture.ts"
import { returned } from "./ofAgentsFixture.ts"
import { assertRefused } from "./refusals.ts"
import { addRole, fresh, turnOf } from "./toolFixture.ts"

const { hopsOf, leased, makeFeed, messagesOf, ruled, sent, server, worker } = await feedsStand()

describe("where the policy makes an agent's appends park", () => {
  it("the tool returns the operation, and what is approved has the hops of the turn that asked", async () => {
    const { admin, id } = await ruled(["feed.append"])
    const agentId = await worker({}, admin)
    const feedId = await makeFeed(admin)
    const [output] = returned(await sent(id, admin, agentId, append(feedId, "a"), 2))
    const { operation } = output
    assert.deepInclude(operation, { action: "feed.append", state: "pending", agentId })
    const path = `/v1/operations/${operation.id}`
    assert.deepStrictEqual((await admin.get(path)).body.operation.request, { feedId, messages: [{ text: "a" }] })
    assert.deepStrictEqual(await messagesOf(admin, feedId), [])
    const done = (await admin.post(`${path}/approve`)).body.operation
    assert.deepStrictEqual(
      [done.state, done.result],
      ["completed", { status: 201, body: { messages: [{ seq: 1 }], startSeq: 1, endSeq: 1 } }]
    )
    assert.deepStrictEqual((await messagesOf(admin, feedId))[0].principal, { type: "agent", id: agentId })
    assert.deepStrictEqual(await hopsOf(feedId), [3])
  })

  it("what is hopeless does not park", async () => {
    const { admin } = await ruled(["feed.*"])
    const agentId = await worker({}, admin)
    const feedId = await makeFeed(admin)
    const log = await turnOf(admin, agentId, append(feedId, "a", { expectedLastSeq: 7 }))
    assert.match(returned(log)[0], /^tool_error: feed_conflict/)
    assert.deepStrictEqual((await admin.get("/v1/operations")).body.operations, [])
  })

  it("is refused by what the roles say when it is approved", async () => {
    const { admin } = await ruled(["feed.append"])
    const roleId = await addRole(admin, { allow: [{ tools: "*" }] })
    const agentId = await worker({ roleIds: [roleId] }, admin)
    const feedId = await makeFeed(admin)
    const [{ operation }] = returned(await turnOf(admin, agentId, append(feedId, "a")))
    assert.strictEqual((await admin.patch(`/v1/roles/${roleId}`, { deny: [{ tools: "feeds.append" }] })).status, 200)
    const done = (await admin.post(`/v1/operations/${operation.id}/approve`)).body.operation
    assert.deepStrictEqual(
      [done.state, done.result.status, done.result.body.error],
      ["failed", 403, "permission_denied"]
    )
    assert.deepStrictEqual(await messagesOf(admin, feedId), [])
  })
})

describe("under a lease", () => {
  const messages = (text: string) => ({ messages: [{ text }] })

  it("an agent does with feeds what its tools may, and a message has one hop more than its turn", async () => {
    const { agentId, lease } = await leased({}, [{ tools: "feeds.*" }], { hops: 5 })
    const feedId = await makeFeed()
    const path = `/v1/feeds/${feedId}`
    const done = await lease.post(`${path}/messages`, messages("a"))
    assert.strictEqual(done.status, 201, done.text)
    assert.strictEqual((await lease.get(path)).body.feed.lastSeq, 1)
    assert.deepStrictEqual(
      (await messagesOf(lease, feedId)).map(({ principal }) => principal),
      [{ type: "agent", id: agentId }]
    )
    assert.deepStrictEqual(await hopsOf(feedId), [6])
    assert.strictEqual((await lease.get("/v1/feeds?limit=1")).status, 200)
    // What no tool does.
    assertRefused(await lease.post("/v1/feeds", { name: fresh("feed") }), 403, "credential_not_accepted")
    assertRefused(await lease.patch(path, { description: "d" }), 403, "credential_not_accepted")
    assertRefused(await lease.post(`${path}/archive`), 403, "credential_not_accepted")
    const origin = { messages: [{ text: "a", origin: { provider: "slack", tenantId: "t", senderId: "s" } }] }
    assertRefused(await lease.post(`${path}/messages`, origin), 403, "origin_not_allowed")
  })

  it("waits for the next message", async () => {
    const { lease } = await leased()
    const feedId = await makeFeed()
    const waiting = lease.get(`/v1/feeds/${feedId}/messages?startSeq=1&waitSeconds=30`)
    await server.alpha.post(`/v1/feeds/${feedId}/messages`, messages("a"))
    assert.strictEqual((await waiting).body.messages[0].text, "a")
  })

  it("nothing where the profile does not name the family", async () => {
    const { lease } = await leased({ families: ["thread"] })
    const path = `/v1/feeds/${await makeFeed()}`
    for (const asked of [
      lease.get("/v1/feeds"),
      lease.get(path),
      lease.get(`${path}/messages`),
      lease.post(`${path}/messages`, messages("a"))
    ])
      assertRefused(await asked, 403, "permission_denied")
  })

  it("roles are asked as of the tool, with the request as its input", async () => {
    const feedId = await makeFeed()
    const other = await makeFeed()
    const own = { conditions: [{ path: "/feedId", op: "eq", value: feedId }] }
    const { lease } = await leased({}, [
      { tools: "feeds.append", ...own },
      { tools: "feeds.read", ...own }
    ])
    assert.strictEqual((await lease.post(`/v1/feeds/${feedId}/messages`, messages("a"))).status, 201)
    assert.strictEqual((await lease.get(`/v1/feeds/${feedId}/messages`)).status, 200)
    assertRefused(await lease.post(`/v1/feeds/${other}/messages`, messages("a")), 403, "permission_denied")
    assertRefused(await lease.get(`/v1/feeds/${other}/messages`), 403, "permission_denied")
    assertRefused(await lease.get(`/v1/feeds/${feedId}`), 403, "permission_denied")
  })

  it("a grant that wants approval refuses a read and parks an append, whose hops are those of its turn", async () => {
    const { admin, id } = await ruled([])
    const grants = [{ tools: "feeds.*", approval: "required" }]
    const { agentId, lease } = await leased({}, grants, { client: admin, workspace: id, hops: 7 })
    const feedId = await makeFeed(admin)
    const path = `/v1/feeds/${feedId}/messages`
    assertRefused(await lease.get(path), 403, "permission_denied")
    assertRefused(await lease.post(path, { ...messages("a"), expectedLastSeq: 1 }), 409, "feed_conflict")
    const parked = await lease.post(path, messages("a"))
    assert.strictEqual(parked.status, 202, parked.text)
    const { operation } = parked.body
    assert.deepInclude(operation, { action: "feed.append", state: "pending", agentId })
    assert.strictEqual((await lease.post(path, messages("a"))).body.operation.id, operation.id)
    const done = (await admin.post(`/v1/operations/${operation.id}/approve`)).body.operation
    assert.deepStrictEqual([done.state, done.result.status], ["completed", 201])
    assert.deepStrictEqual(await hopsOf(feedId), [8])
  })
})
