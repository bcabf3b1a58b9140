/** Subscriptions as agents use them: by the tools of the family, by requests under their leases, and in circles. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import { AgentLeases } from "../../src/keys/AgentLeases.ts"
import { Client, startServer, type TestServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { absent, assertRefused as refused } from "./refusals.ts"
import { type Event, logOf } from "./threadFixture.ts"
import { addRole, addToolset, begin, call, fresh, makeWorker, only, turnOf, waitsOf } from "./toolFixture.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const makeFeed = async (client: Client): Promise<string> => {
  const made = await client.post("/v1/feeds", { name: fresh("feed") })
  assert.strictEqual(made.status, 201, made.text)
  return made.body.feed.id
}
/** A workspace with a rule of its own: whether what agents ask of subscriptions waits for approval. */
const ruled = async (parks: boolean) => {
  const id = await server.workspace(fresh("ruled"))
  const admin = await server.client(id)
  const rules = [{ actions: ["subscription.*"], principals: ["agent"], require: parks }]
  assert.strictEqual((await admin.put("/v1/approval-policy", { rules })).status, 200)
  return { id, admin }
}
const worker = (client: Client, profile: object = {}) =>
  makeWorker(client, { families: ["subscriptions", "feeds"], familyExposure: "always", ...profile })
const told = (log: ReadonlyArray<Event>) =>
  only(log, "tool_result").map(({ failureCode, failureText, toolOutput }) =>
    failureCode === undefined ? toolOutput : `${String(failureCode)}: ${String(failureText)}`
  ) as ReadonlyArray<any>
const use = async (client: Client, agentId: string, ...lines: ReadonlyArray<string>) =>
  told(await turnOf(client, agentId, ...lines.flatMap((line, i) => (i === 0 ? [line] : ["/then", line]))))

describe("an agent's tools", () => {
  it("make, show, change and delete what wakes it", async () => {
    const { admin } = await ruled(false)
    const [agentId, feedId] = [await worker(admin), await makeFeed(admin)]
    const [made] = await use(admin, agentId, call("subscriptions.create", { feedId, condition: "false", name: "Mine" }))
    const { id: subscriptionId } = made.subscription
    assert.deepInclude(made.subscription, { agentId, feedId, createdBy: { type: "agent", id: agentId } })
    const [listed, got, changed, missing, deleted, gone] = await use(
      admin,
      agentId,
      call("subscriptions.list", { feedId }),
      call("subscriptions.get", { subscriptionId }),
      call("subscriptions.update", { subscriptionId, name: null, enabled: false }),
      call("subscriptions.update", { subscriptionId: absent("sub_"), enabled: false }),
      call("subscriptions.delete", { subscriptionId }),
      call("subscriptions.get", { subscriptionId })
    )
    assert.deepStrictEqual(listed.subscriptions, [made.subscription])
    assert.deepStrictEqual(got.subscription, made.subscription)
    assert.isFalse(changed.subscription.enabled)
    assert.notProperty(changed.subscription, "name")
    assert.strictEqual(missing, "tool_error: not_found: no such subscription.")
    assert.deepStrictEqual(deleted, { deleted: true })
    assert.strictEqual(gone, "tool_error: not_found: no such subscription.")
  })

  it("refuse in the words of the endpoints, and know nothing of others' subscriptions", async () => {
    const { admin } = await ruled(false)
    const [agentId, feedId] = [await worker(admin), await makeFeed(admin)]
    const other = await worker(admin)
    const { body } = await admin.post(`/v1/agents/${other}/subscriptions`, { feedId })
    const [condition, feed, foreign, listed, model] = await use(
      admin,
      agentId,
      call("subscriptions.create", { feedId, condition: "text +" }),
      call("subscriptions.create", { feedId: absent("feed_") }),
      call("subscriptions.delete", { subscriptionId: body.id }),
      call("subscriptions.list"),
      call("subscriptions.create", { feedId, screen: { model: "troupe/scripted-paid" } })
    )
    assert.match(condition, /^tool_error: invalid_request: condition: .*at position 6\.$/)
    assert.match(feed, /^tool_error: feed_not_found: /)
    assert.match(foreign, /^tool_error: not_found: /)
    assert.deepStrictEqual(listed.subscriptions, [])
    assert.match(model, /^tool_error: permission_denied: screen\.model: /)
  })

  it("wait for approval unless a rule says otherwise: what is hopeless is refused at once", async () => {
    const id = await server.workspace(fresh("plain"))
    const admin = await server.client(id)
    const [agentId, feedId] = [await worker(admin), await makeFeed(admin)]
    const [hopeless, parked] = await use(
      admin,
      agentId,
      call("subscriptions.create", { feedId: absent("feed_") }),
      call("subscriptions.create", { feedId })
    )
    assert.match(hopeless, /^tool_error: feed_not_found: /)
    assert.deepInclude(parked.operation, { action: "subscription.create", state: "pending", agentId })
    const { operation } = (await admin.post(`/v1/operations/${parked.operation.id}/approve`)).body
    assert.deepStrictEqual([operation.state, operation.result.status], ["completed", 201])
    const made = (await admin.get(`/v1/subscriptions/${operation.result.body.id}`)).body
    assert.deepInclude(made, { agentId, feedId, createdBy: { type: "agent", id: agentId } })
  })
})

describe("under a lease", () => {
  /** An agent whose turn waits, and what it may do meanwhile. */
  const leased = async (
    { admin, id: workspace }: { readonly admin: Client; readonly id: string },
    profile: object = {},
    grant: object = { tools: "subscriptions.*" }
  ) => {
    const { id, namespace } = await addToolset(admin, {
      kind: "client",
      tools: [{ name: "hold", inputSchema: { type: "object" } }]
    })
    const roleId = await addRole(admin, { allow: [grant, { tools: `${namespace}.*` }] })
    const agentId = await worker(admin, { toolsetIds: [id], roleIds: [roleId], ...profile })
    const threadId = await begin(admin, agentId, call(`${namespace}.hold`))
    await waitsOf(admin, threadId)
    const turnId = String((await logOf(admin, threadId, (log) => log.length > 0))[0]!.turnId)
    const leases = await server.runtime.runPromise(AgentLeases)
    const { token } = leases.give({ workspace, agentId, threadId, turnId, hops: 0 })
    return { agentId, lease: new Client(server.base, token) }
  }

  it("an agent does with its subscriptions what its tools may, and reaches nobody else's", async () => {
    const space = await ruled(false)
    const feedId = await makeFeed(space.admin)
    const { agentId, lease } = await leased(space)
    const made = await lease.post(`/v1/agents/${agentId}/subscriptions`, { feedId })
    assert.strictEqual(made.status, 201, made.text)
    const path = `/v1/subscriptions/${made.body.id}`
    assert.strictEqual((await lease.get(path)).body.id, made.body.id)
    assert.strictEqual((await lease.patch(path, { enabled: false })).body.enabled, false)
    const other = await worker(space.admin)
    const { body } = await space.admin.post(`/v1/agents/${other}/subscriptions`, { feedId })
    const ids = (await lease.get("/v1/subscriptions")).body.subscriptions.map(({ id }: { id: string }) => id)
    assert.deepStrictEqual(ids, [made.body.id])
    refused(await lease.get(`/v1/subscriptions?agentId=${other}`), 404, "not_found")
    refused(await lease.get(`/v1/subscriptions/${body.id}`), 404, "not_found")
    refused(await lease.delete(`/v1/subscriptions/${body.id}`), 404, "not_found")
    refused(await lease.post(`/v1/agents/${other}/subscriptions`, { feedId }), 404, "not_found")
    const named = { feedId, identity: "somebody@example.com" }
    refused(await lease.post(`/v1/agents/${agentId}/subscriptions`, named), 403, "permission_denied")
    refused(await lease.get(`${path}/evaluations`), 403, "credential_not_accepted")
    assert.strictEqual((await lease.delete(path)).status, 204)
  })

  it("it gets its own whatever its profile says, and does nothing else without the family", async () => {
    const space = await ruled(false)
    const feedId = await makeFeed(space.admin)
    const { agentId, lease } = await leased(space, { families: ["feeds"] })
    const { body } = await space.admin.post(`/v1/agents/${agentId}/subscriptions`, { feedId })
    const path = `/v1/subscriptions/${body.id}`
    assert.strictEqual((await lease.get(path)).status, 200)
    for (const asked of [
      lease.get("/v1/subscriptions"),
      lease.post(`/v1/agents/${agentId}/subscriptions`, { feedId }),
      lease.patch(path, { enabled: false }),
      lease.delete(path)
    ])
      refused(await asked, 403, "permission_denied")
  })

  it("a grant that wants approval parks a change, which is made once when it is approved", async () => {
    const space = await ruled(false)
    const feedId = await makeFeed(space.admin)
    const { agentId, lease } = await leased(space, {}, { tools: "subscriptions.*", approval: "required" })
    const path = `/v1/agents/${agentId}/subscriptions`
    refused(await lease.post(path, { feedId: absent("feed_") }), 422, "feed_not_found")
    refused(await lease.get("/v1/subscriptions"), 403, "permission_denied")
    const parked = await lease.post(path, { feedId, name: "Parked" })
    assert.strictEqual(parked.status, 202, parked.text)
    const { id } = parked.body.operation
    const { operation } = (await space.admin.post(`/v1/operations/${id}/approve`)).body
    assert.deepStrictEqual([operation.state, operation.result.status], ["completed", 201])
    const change = await lease.patch(`/v1/subscriptions/${operation.result.body.id}`, { name: "Changed" })
    assert.strictEqual(change.status, 202, change.text)
    const gone = await lease.delete(`/v1/subscriptions/${operation.result.body.id}`)
    assert.strictEqual(gone.status, 202, gone.text)
    await space.admin.post(`/v1/operations/${change.body.operation.id}/approve`)
    assert.strictEqual((await lease.get(`/v1/subscriptions/${operation.result.body.id}`)).body.name, "Changed")
    const done = (await space.admin.post(`/v1/operations/${gone.body.operation.id}/approve`)).body.operation
    assert.deepStrictEqual(done.result, { status: 204, body: null })
    refused(await lease.get(`/v1/subscriptions/${operation.result.body.id}`), 404, "not_found")
  })
})

describe("an agent that appends to the feed that wakes it", () => {
  const circle = async (more: object) => {
    const id = await server.workspace(fresh("circle"))
    const admin = await server.client(id)
    const [agentId, feedId] = [await worker(admin), await makeFeed(admin)]
    const intent = call("feeds.append", { feedId, messages: [{ text: "again" }] })
    const made = await admin.post(`/v1/agents/${agentId}/subscriptions`, { feedId, intent, ...more })
    assert.strictEqual(made.status, 201, made.text)
    assert.strictEqual((await admin.post(`/v1/feeds/${feedId}/messages`, { messages: [{ text: "go" }] })).status, 201)
    const read = async () => (await admin.get(`/v1/subscriptions/${made.body.id}`)).body
    const turns = async () =>
      (await admin.get(`/v1/threads?agentId=${agentId}&limit=200`)).body.threads.length as number
    const lastSeq = async () => (await admin.get(`/v1/feeds/${feedId}`)).body.feed.lastSeq as number
    return { read, turns, lastSeq }
  }

  it("is not woken by itself", async () => {
    const { lastSeq, read, turns } = await circle({})
    await eventually(async () => (await lastSeq()) === 2 && (await read()).cursor === 2, "its own message")
    assert.strictEqual(await turns(), 1)
  })

  it("with includeSelf comes to an end after the eighth hop: nine turns", async () => {
    const { lastSeq, read, turns } = await circle({ includeSelf: true })
    await eventually(async () => (await read()).lastReason === "hop_limit", "the end")
    assert.strictEqual(await turns(), limits.feedHops + 1)
    assert.strictEqual(await lastSeq(), limits.feedHops + 2)
    assert.include(await read(), { enabled: true, pendingCount: 0, lastStatus: "dismissed" })
  })
})
