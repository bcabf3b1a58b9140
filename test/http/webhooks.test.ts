/** Webhooks over HTTP: as resources, what they are told of, and their secret. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { eventTypes } from "../../src/webhooks/webhook.ts"
import { startServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { ok, input, webhookStand } from "./webhookFixture.ts"

const { create, deliveries, everything, hooks, ownSpace, parkedWait, post, received, server, test } =
  await webhookStand()

describe("a webhook", () => {
  it("is created with a secret that is shown once, read back without it, and listed", async () => {
    const { client } = await ownSpace()
    const made = await post({ description: "to the pager", url: "https://receiver.example/hook?room=1" }, client)
    assert.strictEqual(made.status, 201, made.text)
    const { secret, webhook } = made.body
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    const { createdAt, createdBy, id, updatedAt, ...rest } = webhook
    assert.deepStrictEqual(rest, {
      url: "https://receiver.example/hook?room=1",
      events: ["turn.completed"],
      description: "to the pager",
      enabled: true,
      status: "active"
    })
    assert.deepStrictEqual([createdAt, createdBy.type], [updatedAt, "api_key"])
    assert.deepStrictEqual([made.headers.get("location"), made.headers.get("etag")], [`/v1/webhooks/${id}`, `"1"`])
    const got = await client.get(`/v1/webhooks/${id}`)
    assert.deepStrictEqual([got.body, got.headers.get("etag")], [{ webhook }, `"1"`])
    assert.deepStrictEqual((await client.get("/v1/webhooks")).body.webhooks, [webhook])
    const [row] = (await server.query(sql`select sealed from webhooks where id = ${toUuid(id)}::uuid`)).rows as [
      { sealed: string }
    ]
    assert.notInclude(JSON.stringify(row), secret.slice(6))
  })

  it("asked for twice under one Idempotency-Key is one, with the same secret, which is stored nowhere in the open", async () => {
    const { client } = await ownSpace()
    const key = { "idempotency-key": "one-webhook" }
    const [first, second] = [
      await client.post("/v1/webhooks", input(), key),
      await client.post("/v1/webhooks", input(), key)
    ]
    assert.strictEqual(first.status, 201, first.text)
    assert.deepStrictEqual(second.body, first.body)
    const kept = await server.query(sql`select coalesce(string_agg(r::text, ''), '') as all from idempotency r`)
    assert.notInclude(JSON.stringify(kept.rows), first.body.secret.slice(6))
  })

  it("is changed by a merge patch under If-Match, and a patch that changes nothing leaves it", async () => {
    const { client } = await ownSpace()
    const { webhook } = await create({ description: "old" }, client)
    const path = `/v1/webhooks/${webhook.id}`
    const changed = await client.patch(path, { description: null, events: ["wait.created"] }, { "if-match": `"1"` })
    assert.strictEqual(changed.status, 200, changed.text)
    assert.deepStrictEqual(
      [changed.body.webhook.events, changed.body.webhook.description, changed.headers.get("etag")],
      [["wait.created"], undefined, `"2"`]
    )
    refusedAt(
      await client.patch(path, { description: "x" }, { "if-match": `"1"` }),
      412,
      "precondition_failed",
      "If-Match"
    )
    const same = await client.patch(path, { events: ["wait.created"] })
    assert.deepStrictEqual([same.headers.get("etag"), same.body], [`"2"`, changed.body])
    refusedAt(await client.delete(path, { "if-match": `"1"` }), 412, "precondition_failed", "If-Match")
    assert.strictEqual((await client.delete(path)).status, 204)
    refused(await client.get(path), 404, "not_found")
    refused(await client.delete(path), 404, "not_found")
  })

  it.each([
    ["no URL", { url: undefined }, "url"],
    ["a URL that is none", { url: "receiver.example" }, "url"],
    ["a URL with credentials", { url: "https://a:b@receiver.example" }, "url"],
    ["a URL with a fragment", { url: "https://receiver.example/#x" }, "url"],
    ["no events", { events: [] }, "events"],
    ["an event twice", { events: ["wait.created", "wait.created"] }, "events"],
    ["an unknown event", { events: ["thread.exploded"] }, "events[0]"],
    ["a field that is none", { secret: "whsec_mine" }, "secret"],
    ["an agent that is none", { agentId: 1 }, "agentId"],
    ["a description with a control character", { description: "\u0000" }, "description"]
  ])("with %s is refused by the name of the field", async (_, more, path) => {
    refusedAt(await post(more), 400, "invalid_request", path)
  })

  it("with an unknown event is told which there are", async () => {
    const { body } = await post({ events: ["turn.completed", "thread.exploded"] })
    assert.strictEqual(body.message, `events[1]: expected ${eventTypes.map((type) => `"${type}"`).join(" | ")}`)
  })

  it("has a URL and a description of at most so many bytes", async () => {
    const { client } = await ownSpace()
    const url = "https://receiver.example/"
    const most = {
      url: url + "a".repeat(limits.toolsetUrlBytes - url.length),
      description: "é".repeat(limits.webhookDescriptionBytes / 2)
    }
    const { webhook } = await create(most, client)
    refusedAt(await post({ ...most, url: `${most.url}a` }, client), 400, "invalid_request", "url")
    refusedAt(
      await post({ ...most, description: `${most.description}a` }, client),
      400,
      "invalid_request",
      "description"
    )
    refusedAt(await client.patch(`/v1/webhooks/${webhook.id}`, { url: `${most.url}a` }), 400, "invalid_request", "url")
  })

  it("may name an agent of its workspace, no other", async () => {
    const foreign = await makeAgent(server.beta)
    refusedAt(await post({ agentId: foreign }), 422, "agent_not_found", "agentId")
    const { webhook } = await create()
    refusedAt(
      await server.alpha.patch(`/v1/webhooks/${webhook.id}`, { agentId: foreign }),
      422,
      "agent_not_found",
      "agentId"
    )
    await server.alpha.delete(`/v1/webhooks/${webhook.id}`)
  })

  it("is one of at most twenty of a workspace, also when they are made at once", async () => {
    const { client } = await ownSpace()
    const made = await Promise.all(Array.from({ length: limits.webhooks + 2 }, () => post({}, client)))
    const [kept, over] = [made.filter((one) => one.status === 201), made.filter((one) => one.status !== 201)]
    assert.deepStrictEqual([kept.length, over.length], [limits.webhooks, 2])
    for (const one of over) refused(one, 409, "too_many_webhooks")
    await client.delete(`/v1/webhooks/${kept[0]?.body.webhook.id}`)
    await create({}, client)
  })

  it("may not point where the operator allows nobody to send", async () => {
    const careful = await startServer({ outbound: { allowPrivateNetwork: false } })
    try {
      for (const url of ["http://receiver.example/", "https://127.0.0.1/", "https://169.254.169.254/latest"])
        refusedAt(await post({ url }, careful.alpha), 400, "invalid_request", "url")
    } finally {
      await careful.stop()
    }
  })
})

describe("an event", () => {
  it("is told of a turn, thin and signed, to who wants it, and to nobody else", async () => {
    const { client, workspace } = await ownSpace()
    const [endpoint, other] = [hooks.endpoint(ok), hooks.endpoint(ok)]
    const agentId = await makeAgent(client)
    const stranger = await makeAgent(client)
    const { secret, webhook } = await create({ url: endpoint.url, events: ["turn.completed", "thread.status"] }, client)
    hooks.trusts(secret)
    await create({ url: other.url, events: ["turn.completed"], agentId: stranger }, client)
    const threadId = await makeThread(client, agentId)
    const { turnId } = await submit(client, threadId, "hello")
    const log = await logOf(client, threadId, ended(1))
    const got = await received(endpoint, 3)
    const bodies = got.map(({ body }) => body)
    const end = log.at(-1)
    assert.deepStrictEqual(
      bodies.find(({ type }) => type === "turn.completed"),
      {
        type: "turn.completed",
        timestamp: end?.occurredAt,
        data: { workspaceId: workspace, agentId, threadId, turnId, seq: end?.seq }
      }
    )
    assert.sameDeepMembers(
      bodies.filter(({ type }) => type === "thread.status").map(({ data }) => data),
      [
        {
          workspaceId: workspace,
          agentId,
          threadId,
          seq: log.find(({ type }) => type === "user_message")?.seq,
          status: "running"
        },
        { workspaceId: workspace, agentId, threadId, seq: end?.seq, status: "idle" }
      ]
    )
    for (const one of got) {
      assert.deepStrictEqual(one.signedBy, [secret])
      assert.match(String(one.headers["webhook-id"]), /^whe_/)
      assert.isBelow(Buffer.byteLength(one.text), 4_096)
    }
    await until(
      "all are delivered",
      async () => (await deliveries(client, webhook.id, "?state=delivered")).length === 3
    )
    const shown = (await client.get(`/v1/webhooks/${webhook.id}`)).body.webhook
    assert.isString(shown.lastSuccessAt)
    assert.isUndefined(shown.lastFailureAt)
    assert.strictEqual(other.received().length, 0)
  })

  it("is told of a turn that failed, of a wait, of a parked operation", async () => {
    const { client, workspace } = await ownSpace()
    const { told, webhook } = await everything(client)
    const { agentId, threadId } = await parkedWait(client)
    const log = await logOf(client, threadId, (found) => found.at(-1)?.type === "wait_created")
    const wait = log.at(-1)
    assert.deepStrictEqual(await told("wait.created"), [
      { workspaceId: workspace, agentId, threadId, turnId: wait?.turnId, seq: wait?.seq, waitId: wait?.waitId }
    ])

    const failing = await makeThread(client, agentId)
    const { turnId } = await submit(client, failing, "/fail sampling_failed")
    const failed = (await logOf(client, failing, ended(1))).at(-1)
    assert.strictEqual(failed?.type, "turn_failed")
    assert.deepStrictEqual(await told("turn.failed"), [
      { workspaceId: workspace, agentId, threadId: failing, turnId, seq: failed?.seq }
    ])

    const rules = [{ actions: ["agent.archive"], principals: ["api_key"], require: true }]
    const policy = await client.put("/v1/approval-policy", { rules })
    assert.strictEqual(policy.status, 200, policy.text)
    const parked = await client.delete(`/v1/agents/${agentId}`)
    assert.strictEqual(parked.status, 202, parked.text)
    const about = { workspaceId: workspace, agentId, operationId: parked.body.operation.id }
    assert.deepStrictEqual(await told("operation.created"), [about])
    // The same request while it is pending is the same operation, of which nobody is told again.
    assert.strictEqual((await client.delete(`/v1/agents/${agentId}`)).body.operation.id, about.operationId)
    assert.strictEqual(
      (await deliveries(client, webhook.id)).filter(({ type }) => type === "operation.created").length,
      1
    )
  })

  it("is told of a budget that is used up once an hour, whoever comes upon it", async () => {
    const { client, workspace } = await ownSpace()
    const { told, webhook } = await everything(client)
    const paid = ["troupe/scripted-paid"]
    const agentId = await makeAgent(client, paid, { budget: { limit: 1e-9, window: "total" } })
    const threadId = await makeThread(client, agentId)
    await submit(client, threadId, "one")
    await logOf(client, threadId, ended(1))
    const refusedThree = []
    for (const words of ["two", "three", "four"])
      refusedThree.push(await client.post(`/v1/threads/${threadId}/messages`, { content: text(words) }))
    for (const answer of refusedThree) refused(answer, 402, "budget_exceeded")
    assert.deepStrictEqual(await told("budget.reached"), [{ workspaceId: workspace, agentId }])
    const rich = await makeAgent(client, paid)
    const poor = await makeThread(client, rich, { maxCost: 1e-9 })
    await submit(client, poor, "one")
    await logOf(client, poor, ended(1))
    refused(await client.post(`/v1/threads/${poor}/messages`, { content: text("two") }), 402, "thread_cost_exceeded")
    assert.sameDeepMembers(await told("budget.reached", 2), [
      { workspaceId: workspace, agentId },
      { workspaceId: workspace, agentId: rich, threadId: poor }
    ])
    assert.strictEqual((await deliveries(client, webhook.id)).filter(({ type }) => type === "budget.reached").length, 2)
  })

  it("is told of a schedule that failed and was disabled, and of a subscription that was disabled, not of one by hand", async () => {
    const { client, workspace } = await ownSpace()
    const { told } = await everything(client)
    const agentId = await makeAgent(client)
    const threadId = await makeThread(client, agentId)
    const target = { mode: "thread", threadId }
    const made = await client.post(`/v1/agents/${agentId}/schedules`, {
      name: "Report",
      trigger: { type: "interval", seconds: 3_600 },
      target,
      message: { content: text("Report.") }
    })
    assert.strictEqual(made.status, 201, made.text)
    const { id: scheduleId } = made.body.schedule
    const feed = await client.post("/v1/feeds", { name: "reports" })
    const { id: feedId } = feed.body.feed
    const subscribe = async () => (await client.post(`/v1/agents/${agentId}/subscriptions`, { feedId })).body.id
    const [byHand, subscriptionId] = [await subscribe(), await subscribe()]
    assert.strictEqual((await client.patch(`/v1/subscriptions/${byHand}`, { enabled: false })).status, 200)
    assert.strictEqual((await client.post(`/v1/threads/${threadId}/archive`)).status, 200)
    const ran = await client.post(`/v1/agents/${agentId}/schedules/${scheduleId}/run`)
    assert.strictEqual(ran.status, 201, ran.text)
    const about = { workspaceId: workspace, agentId, scheduleId }
    assert.deepStrictEqual(await told("schedule.failed"), [{ ...about, runId: ran.body.run.id }])
    assert.deepStrictEqual(await told("schedule.disabled"), [about])
    assert.strictEqual((await client.post(`/v1/feeds/${feedId}/archive`)).status, 200)
    assert.deepStrictEqual(await told("subscription.disabled"), [{ workspaceId: workspace, agentId, subscriptionId }])
  })
})

describe("the secret of a webhook", () => {
  it("rotates: both sign until the overlap is over, without one only the new", async () => {
    const { client } = await ownSpace()
    const endpoint = hooks.endpoint(ok)
    const { secret, webhook } = await create({ url: endpoint.url }, client)
    const path = `/v1/webhooks/${webhook.id}`
    const rotated = await client.post(`${path}/rotate`)
    assert.strictEqual(rotated.status, 200, rotated.text)
    assert.notStrictEqual(rotated.body.secret, secret)
    hooks.trusts(secret, rotated.body.secret)
    await test(client, webhook.id)
    assert.deepStrictEqual((await received(endpoint, 1))[0]?.signedBy, [secret, rotated.body.secret])
    const last = (await client.post(`${path}/rotate`, { overlapSeconds: 0 })).body.secret
    hooks.trusts(secret, rotated.body.secret, last)
    await test(client, webhook.id)
    assert.deepStrictEqual((await received(endpoint, 2))[1]?.signedBy, [last])
    const most = limits.webhookOverlapSeconds.most
    assert.strictEqual((await client.post(`${path}/rotate`, { overlapSeconds: most })).status, 200)
    refusedAt(
      await client.post(`${path}/rotate`, { overlapSeconds: most + 1 }),
      400,
      "invalid_request",
      "overlapSeconds"
    )
    refusedAt(await client.post(`${path}/rotate`, { overlapSeconds: -1 }), 400, "invalid_request", "overlapSeconds")
  })
})
