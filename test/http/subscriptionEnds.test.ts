/** Subscriptions over HTTP whose feed, agent or node goes, that are switched off, or that wait for approval. */
import { sql } from "kysely"
import { assert, describe, it } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { during } from "../setup/during.ts"
import { Client, startServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { absent, assertRefused as refused } from "./refusals.ts"
import { makeAgent } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"
import { makeSubscriptionTools } from "./subscriptionFixture.ts"

const server = await during(startServer())
const { append, listed, makeFeed, read, status, statusOf, subscribe, subscribed, toldTimes, toldTo } =
  makeSubscriptionTools(server)

describe("what takes a subscription its feed or its agent", () => {
  it("is the feed's archiving: it is disabled by force, also in its window, and stays so", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId, { cadence: { mode: "window", windowSeconds: 30 } })
    await append(feedId, "one")
    await until("a window", async () => (await read(id)).nextAt !== undefined)
    const archived = await server.alpha.post(`/v1/feeds/${feedId}/archive`)
    const found = await read(id)
    assert.include(found, {
      enabled: false,
      disabledReason: "feed_archived",
      feedArchivedAt: archived.body.feed.archivedAt
    })
    assert.include(found, { pendingCount: 1 })
    refused(await server.alpha.patch(`/v1/subscriptions/${id}`, { enabled: true }), 409, "feed_archived")
    refused(await subscribe(agentId, feedId), 409, "feed_archived")
    await until("disabled", async () => (await statusOf(id)) === "disabled")
  })

  it("is told with its reason, also where a change comes before the word of it", async () => {
    const feedId = await makeFeed()
    const { id } = await subscribed(await makeAgent(server.alpha), feedId)
    // As it is while that word is on its way.
    await server.query(sql`update feeds set archived_at = now() where id = ${toUuid(feedId)}::uuid`)
    for (const patch of [{ intent: "Read it." }, { enabled: false }]) {
      const patched = await server.alpha.patch(`/v1/subscriptions/${id}`, patch)
      assert.include(patched.body, { enabled: false, disabledReason: "feed_archived" }, patched.text)
    }
    await until("disabled", async () => (await statusOf(id)) === "disabled")
    assert.include(await read(id), { intent: "Read it.", enabled: false, disabledReason: "feed_archived" })
  })

  it("is the agent's archiving", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId)
    assert.strictEqual((await server.alpha.delete(`/v1/agents/${agentId}`)).status, 204)
    assert.include(await read(id), { enabled: false, disabledReason: "agent_archived" })
    refused(await server.alpha.patch(`/v1/subscriptions/${id}`, { enabled: true }), 409, "agent_archived")
    refused(await subscribe(agentId, feedId), 409, "agent_archived")
    await until("disabled", async () => (await statusOf(id)) === "disabled")
  })

  it("is not a disabled identity: its messages are passed over", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const identity = `${fresh("who")}@example.com`
    const { id } = await subscribed(agentId, feedId, { identity })
    assert.strictEqual((await server.alpha.post("/v1/identities/disable", { identity })).status, 200)
    await append(feedId, "one")
    assert.include(await status(id, "dismissed"), { enabled: true, cursor: 1, lastReason: "identity_disabled" })
    assert.lengthOf(await toldTo(agentId), 0)
  })
})

describe("on several nodes", () => {
  it("a subscription goes on where its node has left, with what was in hand and what came meanwhile", async () => {
    const leaving = await startServer({ beside: server, name: "leaving" })
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const there = new Client(leaving.base, server.alpha.token)
    const made = await there.post(`/v1/agents/${agentId}/subscriptions`, {
      feedId,
      cadence: { mode: "window", windowSeconds: 30, maxMessages: 2 }
    })
    assert.strictEqual(made.status, 201, made.text)
    await append(feedId, "one")
    await until("a window", async () => (await read(made.body.id)).nextAt !== undefined)
    await leaving.stop()
    await append(feedId, "two")
    const [told] = await toldTimes(agentId, 1)
    assert.match(told?.text ?? "", /messages 1 to 2, 2 of them match/)
    assert.lengthOf(await toldTo(agentId), 1)
  })

  it("conditions that another node has changed are judged by at once", async () => {
    const second = await startServer({ beside: server, name: "second" })
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId, { condition: "false" })
    await append(feedId, "one")
    await until("one", async () => (await read(id)).cursor === 1)
    const there = new Client(second.base, server.alpha.token)
    const changed = await there.patch(`/v1/subscriptions/${id}`, { condition: "text == 'two'" })
    assert.strictEqual(changed.status, 200, changed.text)
    await listed(id)
    await append(feedId, "one", "two")
    const [told] = await toldTimes(agentId, 1)
    assert.match(told?.text ?? "", /message 3:/)
    await second.stop()
  })
})

describe("what comes while it is disabled, enabled and changed", () => {
  it("is handed over once each, in the order of the feed", async () => {
    const feedId = await makeFeed()
    const agentId = await makeAgent(server.alpha)
    const { id } = await subscribed(agentId, feedId, { target: { mode: "reuse" } })
    const path = `/v1/subscriptions/${id}`
    const changes = async () => {
      for (let i = 0; i < 6; i++) {
        const { status, text } = await server.alpha.patch(
          path,
          i % 3 === 2 ? { name: `${i}` } : { enabled: i % 3 === 1 }
        )
        assert.strictEqual(status, 200, text)
      }
    }
    const writes = async () => {
      for (let i = 0; i < 30; i++) await append(feedId, `message ${i}`)
    }
    await Promise.all([changes(), writes()])
    const told = await toldTimes(agentId, 30)
    assert.deepStrictEqual(
      told.map(({ text }) => Number(/message (\d+)$/.exec(text)?.[1])),
      Array.from({ length: 30 }, (_, i) => i)
    )
  })
})

describe("a rule that wants approval", () => {
  it("parks reads and changes, nothing hopeless among them, and carries them out once", async () => {
    const id = await server.workspace(fresh("parks"))
    const [admin, asker] = [await server.client(id), await server.client(id)]
    const agentId = await makeAgent(admin)
    const feedId = (await admin.post("/v1/feeds", { name: fresh("feed") })).body.feed.id
    const rules = [{ actions: ["subscription.read", "subscription.*"], principals: ["api_key"], require: true }]
    assert.strictEqual((await admin.put("/v1/approval-policy", { rules })).status, 200)
    const decided = async (asked: ReturnType<Client["send"]>) => {
      const answer = await asked
      assert.strictEqual(answer.status, 202, answer.text)
      assert.strictEqual(answer.headers.get("location"), `/v1/operations/${answer.body.operation.id}`)
      const { body } = await admin.post(`/v1/operations/${answer.body.operation.id}/approve`)
      return body.operation.result
    }
    const make = `/v1/agents/${agentId}/subscriptions`
    refused(await asker.post(make, { feedId: absent("feed_") }), 422, "feed_not_found")
    refused(await asker.post(make, { feedId, condition: "seq" }), 400, "invalid_request")
    const made = await decided(asker.post(make, { feedId }))
    assert.deepInclude(made.body, { agentId, feedId, enabled: true })
    assert.strictEqual(made.status, 201)
    const path = `/v1/subscriptions/${made.body.id}`
    const shown = await decided(asker.get(path))
    assert.deepStrictEqual([shown.status, shown.body.id], [200, made.body.id])
    refused(await asker.get(`/v1/subscriptions/${absent("sub_")}`), 404, "not_found")
    refused(await asker.patch(path, { name: "x" }, { "if-match": '"99"' }), 412, "precondition_failed")
    // Both are read at the same version: the second comes too late.
    const [first, second] = await Promise.all([
      asker.patch(path, { name: "first" }, { "if-match": '"1"' }),
      asker.patch(path, { name: "second" }, { "if-match": '"1"' })
    ])
    assert.strictEqual((await decided(Promise.resolve(first))).status, 200)
    assert.strictEqual((await decided(Promise.resolve(second))).body.error, "precondition_failed")
    assert.deepStrictEqual(await decided(asker.delete(path)), { status: 204, body: null })
    assert.deepStrictEqual((await admin.get(`/v1/subscriptions?agentId=${agentId}`)).body.subscriptions, [])
  })
})
