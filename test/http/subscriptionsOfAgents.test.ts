/** Subscriptions as agents use them: by the tools of the family, by requests under their leases, and in circles. */
import { assert, describe, it } from "@effect/vitest"
import { limits } from "../../src/domain/limits.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { makeFamilyUsers } from "./ofAgentsFixture.ts"
import { absent, assertRefused as refused } from "./refusals.ts"
import { call, fresh } from "./toolFixture.ts"

const server = await during(startServer())
const { leased, ruled, useBy, worker } = makeFamilyUsers(server, "subscriptions", "feeds")
const of = ({ admin, id }: Awaited<ReturnType<typeof ruled>>) => ({ client: admin, workspace: id })

const makeFeed = async (client: Client): Promise<string> => {
  const made = await client.post("/v1/feeds", { name: fresh("feed") })
  assert.strictEqual(made.status, 201, made.text)
  return made.body.feed.id
}

describe("an agent's tools", () => {
  it("make, show, change and delete what wakes it", async () => {
    const { admin } = await ruled(["subscription.*"], false)
    const [agentId, feedId] = [await worker({}, admin), await makeFeed(admin)]
    const [made] = await useBy(
      admin,
      agentId,
      call("subscriptions.create", { feedId, condition: "false", name: "Mine" })
    )
    const { id: subscriptionId } = made.subscription
    assert.deepInclude(made.subscription, { agentId, feedId, createdBy: { type: "agent", id: agentId } })
    const [listed, got, changed, missing, deleted, gone] = await useBy(
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
    const { admin } = await ruled(["subscription.*"], false)
    const [agentId, feedId] = [await worker({}, admin), await makeFeed(admin)]
    const other = await worker({}, admin)
    const { body } = await admin.post(`/v1/agents/${other}/subscriptions`, { feedId })
    const [condition, feed, foreign, listed, model] = await useBy(
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
    const [agentId, feedId] = [await worker({}, admin), await makeFeed(admin)]
    const [hopeless, parked] = await useBy(
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
  it("an agent does with its subscriptions what its tools may, and reaches nobody else's", async () => {
    const space = await ruled(["subscription.*"], false)
    const feedId = await makeFeed(space.admin)
    const { agentId, lease } = await leased({}, undefined, of(space))
    const made = await lease.post(`/v1/agents/${agentId}/subscriptions`, { feedId })
    assert.strictEqual(made.status, 201, made.text)
    const path = `/v1/subscriptions/${made.body.id}`
    assert.strictEqual((await lease.get(path)).body.id, made.body.id)
    assert.strictEqual((await lease.patch(path, { enabled: false })).body.enabled, false)
    const other = await worker({}, space.admin)
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
    const space = await ruled(["subscription.*"], false)
    const feedId = await makeFeed(space.admin)
    const { agentId, lease } = await leased({ families: ["feeds"] }, undefined, of(space))
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
    const space = await ruled(["subscription.*"], false)
    const feedId = await makeFeed(space.admin)
    const { agentId, lease } = await leased({}, [{ tools: "subscriptions.*", approval: "required" }], of(space))
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
    const [agentId, feedId] = [await worker({}, admin), await makeFeed(admin)]
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
