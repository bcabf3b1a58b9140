/** Webhooks over HTTP: endpoints that verify, refuse, hang, and what becomes of each delivery. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { forgetDeliveries } from "../../src/webhooks/forgetting.ts"
import { eventTypes } from "../../src/webhooks/webhook.ts"
import {
  endless,
  hang,
  type HookServer,
  json,
  type Reply,
  type Received,
  redirect,
  sized,
  startHookServer,
  status,
  tooMany
} from "../hooks/hookServer.ts"
import { type Client, startServer, type TestServer } from "../setup/server.ts"
import { absent, assertRefused as refused } from "./refused.ts"
import { furnish, parked } from "./waitFixture.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"

let server: TestServer
let hooks: HookServer
beforeAll(async () => {
  hooks = await startHookServer()
  server = await startServer({ tendsOperations: true })
})
afterAll(async () => {
  await server.stop()
  await hooks.stop()
})

const ok: Reply = json({}, 204)
const input = (more: object = {}) => ({ url: "https://receiver.example/hook", events: ["turn.completed"], ...more })
const post = (more: object = {}, client = server.alpha) => client.post("/v1/webhooks", input(more))
const create = async (more: object = {}, client = server.alpha) => {
  const made = await post(more, client)
  assert.strictEqual(made.status, 201, made.text)
  return made.body as { readonly webhook: { readonly id: string } & Record<string, unknown>; readonly secret: string }
}
/** A workspace of its own, so that what other tests do is not told here. */
let spaces = 0
const ownSpace = async () => {
  const workspace = await server.workspace(`webhooks ${++spaces}`)
  return { workspace, client: await server.client(workspace) }
}
const until = async <A>(what: string, look: () => Promise<A | undefined | false>): Promise<A> => {
  for (const end = performance.now() + 20_000; performance.now() < end; ) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`it never came to that: ${what}`)
}
const received = async (endpoint: { readonly received: () => ReadonlyArray<Received> }, count: number) =>
  until(`${count} events received`, async () => (endpoint.received().length >= count ? endpoint.received() : undefined))
const deliveries = async (client: Client, id: string, query = "") => {
  const page = await client.get(`/v1/webhooks/${id}/deliveries${query}`)
  assert.strictEqual(page.status, 200, page.text)
  return page.body.deliveries as ReadonlyArray<Record<string, unknown> & { readonly id: string }>
}
const delivery = (client: Client, id: string, fits: (delivery: Record<string, unknown>) => boolean) =>
  until("a delivery as expected", async () => (await deliveries(client, id)).find(fits))
const test = async (client: Client, id: string) => {
  const sent = await client.post(`/v1/webhooks/${id}/test`)
  assert.strictEqual(sent.status, 200, sent.text)
  return sent.body.delivery as Record<string, unknown> & { readonly id: string; readonly eventId: string }
}
/** An endpoint that is told of everything, and what it was told of one kind, once there is so much of it. */
const everything = async (client: Client) => {
  const endpoint = hooks.endpoint(ok)
  const { webhook } = await create({ url: endpoint.url, events: eventTypes }, client)
  const told = (type: string, count = 1) =>
    until(`${type} is told`, async () => {
      const found = endpoint.received().filter(({ body }) => body.type === type)
      return found.length >= count ? found.map(({ body }) => body.data) : undefined
    })
  return { told, webhook }
}
const parkedWait = async (client: Client) => {
  const desk = await furnish(client, "desk")
  const { threadId } = await parked(client, desk.plain, [desk.tool("print")])
  return { agentId: desk.plain, threadId }
}
const run = (text: ReturnType<typeof sql>) =>
  server.runtime.runPromise(server.database.run("test", (db) => text.execute(db)))

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
    const [row] = (await run(sql`select sealed from webhooks where id = ${toUuid(id)}::uuid`)).rows as [
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
    const kept = await run(sql`select coalesce(string_agg(r::text, ''), '') as all from idempotency r`)
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
    refused(
      await client.patch(path, { description: "x" }, { "if-match": `"1"` }),
      412,
      "precondition_failed",
      "If-Match"
    )
    const same = await client.patch(path, { events: ["wait.created"] })
    assert.deepStrictEqual([same.headers.get("etag"), same.body], [`"2"`, changed.body])
    refused(await client.delete(path, { "if-match": `"1"` }), 412, "precondition_failed", "If-Match")
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
    refused(await post(more), 400, "invalid_request", path)
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
    refused(await post({ ...most, url: `${most.url}a` }, client), 400, "invalid_request", "url")
    refused(await post({ ...most, description: `${most.description}a` }, client), 400, "invalid_request", "description")
    refused(await client.patch(`/v1/webhooks/${webhook.id}`, { url: `${most.url}a` }), 400, "invalid_request", "url")
  })

  it("may name an agent of its workspace, no other", async () => {
    const foreign = await makeAgent(server.beta)
    refused(await post({ agentId: foreign }), 422, "agent_not_found", "agentId")
    const { webhook } = await create()
    refused(
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

  it("of another workspace is not there, whatever is asked of it", async () => {
    const { webhook } = await create()
    const path = `/v1/webhooks/${webhook.id}`
    for (const answer of [
      await server.beta.get(path),
      await server.beta.patch(path, { enabled: false }),
      await server.beta.delete(path),
      await server.beta.post(`${path}/rotate`),
      await server.beta.post(`${path}/test`),
      await server.beta.get(`${path}/deliveries`),
      await server.beta.post(`${path}/resend`, { from: "2026-01-01T00:00:00Z" })
    ])
      refused(answer, 404, "not_found")
    assert.deepStrictEqual((await server.beta.get("/v1/webhooks")).body.webhooks, [])
    await server.alpha.delete(path)
  })

  it("may not point where the operator allows nobody to send", async () => {
    const careful = await startServer({ outbound: { allowPrivateNetwork: false } })
    try {
      for (const url of ["http://receiver.example/", "https://127.0.0.1/", "https://169.254.169.254/latest"])
        refused(await post({ url }, careful.alpha), 400, "invalid_request", "url")
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

describe("a delivery", () => {
  it.each([
    ["a redirect", () => redirect(hooks.canaryUrl), undefined, "redirect"],
    ["a server error", () => status(503), 503, "status 503"],
    ["more than anybody reads", () => sized(10_000_000), undefined, "larger than"]
  ])("that was answered with %s is sent again later", async (_, reply, code, why) => {
    const { client } = await ownSpace()
    const endpoint = hooks.endpoint(reply())
    const { webhook } = await create({ url: endpoint.url }, client)
    const { id } = await test(client, webhook.id)
    const failed = await delivery(client, webhook.id, (one) => one.attempts === 1)
    assert.include(failed, { id, state: "pending", ...(code === undefined ? {} : { lastStatus: code }) })
    assert.include(String(failed.lastError), why)
    const wait = Date.parse(String(failed.nextAttemptAt)) - Date.now()
    assert.isTrue(wait > 1_000 && wait < 5_600, `in ${wait} ms`)
    assert.strictEqual(hooks.canary(), 0)
    assert.isString((await client.get(`/v1/webhooks/${webhook.id}`)).body.webhook.lastFailureAt)
  })

  it("is sent again with the same webhook-id until it is taken", async () => {
    const { client } = await ownSpace()
    let calls = 0
    const endpoint = hooks.endpoint((response, one) => (++calls === 1 ? status(500) : ok)(response, one))
    const { secret, webhook } = await create({ url: endpoint.url }, client)
    hooks.trusts(secret)
    await test(client, webhook.id)
    const taken = await delivery(client, webhook.id, (one) => one.state === "delivered")
    assert.include(taken, { attempts: 2, lastStatus: 204 })
    assert.isUndefined(taken.nextAttemptAt)
    const [first, second] = endpoint.received()
    assert.strictEqual(second?.headers["webhook-id"], first?.headers["webhook-id"])
    assert.deepStrictEqual([first?.signedBy, second?.signedBy], [[secret], [secret]])
    assert.strictEqual(second?.text, first?.text)
  })

  it.each([
    ["a date", () => new Date(Date.now() + 3_600_000).toUTCString(), 3_600],
    ["seconds", () => "600", 600],
    ["more than anybody waits", () => "9999999", limits.webhookRetryAfterSeconds]
  ])("that is too much for its endpoint waits as long as that asks for by %s", async (_, after, seconds) => {
    const { client } = await ownSpace()
    const endpoint = hooks.endpoint((response, one) => tooMany(after())(response, one))
    const { webhook } = await create({ url: endpoint.url }, client)
    await test(client, webhook.id)
    const failed = await delivery(client, webhook.id, (one) => one.attempts === 1)
    const wait = Date.parse(String(failed.nextAttemptAt)) - Date.now()
    assert.isTrue(Math.abs(wait - seconds * 1_000) < 10_000, `in ${wait} ms`)
  })

  it("that is answered 410 ends it, and disables its webhook", async () => {
    const { client } = await ownSpace()
    const endpoint = hooks.endpoint(status(410))
    const { webhook } = await create({ url: endpoint.url }, client)
    const path = `/v1/webhooks/${webhook.id}`
    const { id } = await test(client, webhook.id)
    const shown = await until("it is disabled", async () => {
      const { body } = await client.get(path)
      return body.webhook.status === "disabled" ? body.webhook : undefined
    })
    assert.include(shown, { enabled: false, disabledReason: "gone" })
    assert.include((await deliveries(client, webhook.id))[0], { id, state: "failed", lastStatus: 410, attempts: 1 })
    for (const [sub, body] of [
      ["test"],
      [`deliveries/${id}/redeliver`],
      ["resend", { from: "2026-01-01T00:00:00Z" }]
    ] as const) {
      const answer = await client.post(`${path}/${sub}`, body)
      refused(answer, 400, "invalid_request")
      assert.strictEqual(answer.body.code, "webhook_disabled")
    }
    const enabled = await client.patch(path, { enabled: true })
    assert.include(enabled.body.webhook, { status: "active" })
    assert.isUndefined(enabled.body.webhook.disabledReason)
  })

  it("that is answered 410 by a url that its webhook had before disables nothing", async () => {
    const { client } = await ownSpace()
    const answers: Array<() => void> = []
    const old = hooks.endpoint((...given) => void answers.push(() => status(410)(...given)))
    const { webhook } = await create({ url: old.url }, client)
    const path = `/v1/webhooks/${webhook.id}`
    await test(client, webhook.id)
    const answer = await until("it is asked", async () => answers[0])
    assert.strictEqual((await client.patch(path, { url: hooks.endpoint(ok).url })).status, 200)
    answer()
    await delivery(client, webhook.id, ({ attempts }) => attempts === 1)
    const { body } = await client.get(path)
    assert.include(body.webhook, { enabled: true, status: "active" })
  })

  it("that is sent again by hand during an attempt does not end with what comes of that", async () => {
    const { client } = await ownSpace()
    const answers: Array<(reply: Reply) => void> = []
    const endpoint = hooks.endpoint((...given) => void answers.push((reply) => reply(...given)))
    const { webhook } = await create({ url: endpoint.url }, client)
    const answered = async (place: number, reply: Reply) =>
      (await until(`it is asked ${place + 1} times`, async () => answers[place]))(reply)
    const { id } = await test(client, webhook.id)
    await answered(0, status(500))
    await delivery(client, webhook.id, (one) => one.attempts === 1)
    // As if all but one of the pauses were over.
    await run(sql`update webhook_deliveries set attempts = ${limits.webhookAttempts - 1}, next_at = now()
      where id = ${toUuid(id)}::uuid`)
    await until("the last attempt is under way", async () => answers[1])
    const again = await client.post(`/v1/webhooks/${webhook.id}/deliveries/${id}/redeliver`)
    assert.strictEqual(again.status, 200, again.text)
    await answered(1, status(500))
    await until("the failure is written down", async () => {
      const { rows } = await run(sql`select from webhooks where id = ${toUuid(webhook.id)}::uuid and failures = 2`)
      return rows.length === 1
    })
    assert.include((await deliveries(client, webhook.id))[0], { id, state: "pending", attempts: 0 })
    await answered(2, ok)
    assert.include(await delivery(client, webhook.id, (one) => one.state === "delivered"), { id, attempts: 1 })
  })

  it("that is answered 410 is the last: what was taken together with it is not sent", async () => {
    const { client } = await ownSpace()
    let answered = 0
    const endpoint = hooks.endpoint((...given) => (answered++ === 0 ? ok : status(410))(...given))
    const { webhook } = await create({ url: endpoint.url }, client)
    const { id } = await test(client, webhook.id)
    await delivery(client, webhook.id, (one) => one.state === "delivered")
    await run(sql`insert into webhook_deliveries (workspace, id, webhook, event, state, next_at, created_at)
      select workspace, gen_random_uuid(), webhook, event, 'pending', now(), now()
      from webhook_deliveries, generate_series(1, 12) where id = ${toUuid(id)}::uuid`)
    await until("it is disabled", async () => {
      const { body } = await client.get(`/v1/webhooks/${webhook.id}`)
      return body.webhook.status === "disabled"
    })
    await until("nothing waits", async () => (await deliveries(client, webhook.id, "?state=pending")).length === 0)
    assert.isAtMost(endpoint.received().length, 1 + 4)
  })

  it("fails for good after ten attempts", async () => {
    const { client } = await ownSpace()
    const endpoint = hooks.endpoint(status(500))
    const { webhook } = await create({ url: endpoint.url }, client)
    await test(client, webhook.id)
    await delivery(client, webhook.id, (one) => one.attempts === 1)
    // As if all but one of the pauses were over.
    const last = limits.webhookAttempts - 1
    await run(sql`update webhook_deliveries set attempts = ${last - 1}, next_at = now()
      where webhook = ${toUuid(webhook.id)}::uuid`)
    assert.include(await delivery(client, webhook.id, (one) => one.attempts === last), { state: "pending" })
    await run(sql`update webhook_deliveries set next_at = now() where webhook = ${toUuid(webhook.id)}::uuid`)
    const failed = await delivery(client, webhook.id, (one) => one.state === "failed")
    assert.include(failed, { attempts: limits.webhookAttempts, lastStatus: 500 })
    assert.isUndefined(failed.nextAttemptAt)
    assert.strictEqual(endpoint.received().length, 3)
  })

  it("that has failed is sent again by hand, alone or with all of a time", async () => {
    const { client } = await ownSpace()
    let works = false
    const endpoint = hooks.endpoint((response, one) => (works ? ok : status(500))(response, one))
    const { webhook } = await create({ url: endpoint.url }, client)
    const path = `/v1/webhooks/${webhook.id}`
    const sent = [await test(client, webhook.id), await test(client, webhook.id), await test(client, webhook.id)]
    await received(endpoint, 3)
    await until("all have failed once", async () =>
      (await deliveries(client, webhook.id)).every(({ attempts }) => attempts === 1)
    )
    await run(sql`update webhook_deliveries set state = 'failed' where webhook = ${toUuid(webhook.id)}::uuid`)
    works = true
    const again = await client.post(`${path}/deliveries/${sent[0]?.id}/redeliver`)
    assert.strictEqual(again.status, 200, again.text)
    assert.include(again.body.delivery, { id: sent[0]?.id, eventId: sent[0]?.eventId, state: "pending", attempts: 0 })
    await delivery(client, webhook.id, (one) => one.id === sent[0]?.id && one.state === "delivered")
    const past = { from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" }
    assert.deepStrictEqual((await client.post(`${path}/resend`, past)).body, { count: 0 })
    assert.deepStrictEqual((await client.post(`${path}/resend`, { from: past.from })).body, { count: 2 })
    await until(
      "all are delivered",
      async () => (await deliveries(client, webhook.id, "?state=delivered")).length === 3
    )
    refused(await client.post(`${path}/deliveries/${absent("whd_")}/redeliver`), 404, "not_found")
    refused(await client.post(`${path}/resend`, {}), 400, "invalid_request", "from")
    refused(await client.post(`${path}/resend`, { from: "soon" }), 400, "invalid_request", "from")
  })

  it("is listed newest first, by state, page by page", async () => {
    const { client } = await ownSpace()
    const endpoint = hooks.endpoint(ok)
    const { webhook } = await create({ url: endpoint.url }, client)
    const ids: Array<string> = []
    for (let i = 0; i < 3; i++) ids.unshift((await test(client, webhook.id)).id)
    await until(
      "all are delivered",
      async () => (await deliveries(client, webhook.id, "?state=delivered")).length === 3
    )
    const path = `/v1/webhooks/${webhook.id}/deliveries`
    const first = await client.get(`${path}?limit=2&state=delivered`)
    const second = await client.get(`${path}?limit=2&state=delivered&cursor=${first.body.nextCursor}`)
    assert.deepStrictEqual(
      [...first.body.deliveries, ...second.body.deliveries].map(({ id }) => id),
      ids
    )
    assert.deepStrictEqual(await deliveries(client, webhook.id, "?state=failed"), [])
    refused(await client.get(`${path}?state=lost`), 400, "invalid_request", "state")
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
    refused(await client.post(`${path}/rotate`, { overlapSeconds: most + 1 }), 400, "invalid_request", "overlapSeconds")
    refused(await client.post(`${path}/rotate`, { overlapSeconds: -1 }), 400, "invalid_request", "overlapSeconds")
  })
})

describe("endpoints that do not answer", () => {
  it("hold up nobody else, and are given up after fifteen seconds each time", { timeout: 40_000 }, async () => {
    const { client } = await ownSpace()
    const [hanging, dripping, good] = [hooks.endpoint(hang()), hooks.endpoint(endless()), hooks.endpoint(ok)]
    const slow = [await create({ url: hanging.url }, client), await create({ url: dripping.url }, client)]
    const { webhook } = await create({ url: good.url }, client)
    for (const { webhook } of slow) for (let i = 0; i < 12; i++) await test(client, webhook.id)
    // Four of each are under way, the rest waits for them.
    await Promise.all([received(hanging, 4), received(dripping, 4)])
    const began = performance.now()
    await test(client, webhook.id)
    await received(good, 1)
    assert.isBelow(performance.now() - began, 2_000)
    assert.deepStrictEqual([hanging.received().length, dripping.received().length], [4, 4])
    const [gone, stays] = [slow[0]!.webhook.id, slow[1]!.webhook.id]
    assert.strictEqual((await client.delete(`/v1/webhooks/${gone}`)).status, 204)
    const given = await delivery(client, stays, (one) => one.attempts === 1)
    assert.include(String(given.lastError), `${limits.webhookMs} ms`)
    // Tried again: by then what had been taken of the one that is gone would have been sent.
    await received(dripping, 5)
    assert.strictEqual(hanging.received().length, 4)
  })
})

describe("a workspace none of whose endpoints answer", () => {
  it("holds up no other one, however many they are", async () => {
    const [full, other] = [await ownSpace(), await ownSpace()]
    const hanging = hooks.endpoint(hang())
    const made = await Promise.all(
      Array.from({ length: limits.webhooks }, () => create({ url: hanging.url }, full.client))
    )
    await Promise.all(made.flatMap(({ webhook }) => Array.from({ length: 5 }, () => test(full.client, webhook.id))))
    await received(hanging, 20)
    const good = hooks.endpoint(ok)
    const { webhook } = await create({ url: good.url }, other.client)
    await test(other.client, webhook.id)
    await received(good, 1)
    assert.lengthOf(hanging.received(), 20)
  })
})

describe("a webhook that goes on failing", () => {
  it("is disabled after twenty failures in a row over a day, and says why; one success begins anew", async () => {
    const { client } = await ownSpace()
    let works = false
    const endpoint = hooks.endpoint((response, one) => (works ? ok : status(500))(response, one))
    const { webhook } = await create({ url: endpoint.url }, client)
    const path = `/v1/webhooks/${webhook.id}`
    const shown = async () => (await client.get(path)).body.webhook
    const failTimes = async (count: number) => {
      const before = endpoint.received().length
      for (let i = 0; i < count; i++) await test(client, webhook.id)
      await received(endpoint, before + count)
      await until("all is written down", async () =>
        (await deliveries(client, webhook.id)).every(({ attempts }) => Number(attempts) > 0)
      )
    }
    const { webhookFailingSeconds: seconds, webhookFailures: count } = limits
    const longAgo = () =>
      run(
        sql`update webhooks set failing_since = now() - make_interval(secs => ${seconds}) where id = ${toUuid(webhook.id)}::uuid`
      )
    await failTimes(count)
    assert.include(await shown(), { status: "active" }, "all within a moment")
    works = true
    await test(client, webhook.id)
    await until("one is delivered", async () => (await deliveries(client, webhook.id, "?state=delivered")).length > 0)
    works = false
    await run(sql`update webhook_deliveries set state = 'failed' where webhook = ${toUuid(webhook.id)}::uuid`)
    await failTimes(count - 1)
    await longAgo()
    assert.include(await shown(), { status: "active" }, "one fewer than it takes")
    await test(client, webhook.id)
    const gone = await until("it is disabled", async () => {
      const now = await shown()
      return now.status === "disabled" ? now : undefined
    })
    assert.strictEqual(gone.disabledReason, "failures")
    assert.deepStrictEqual(await deliveries(client, webhook.id, "?state=pending"), [])
    // Nothing is told while it is disabled, and nothing of that afterwards.
    const told = endpoint.received().length
    const threadId = await makeThread(client, await makeAgent(client))
    await submit(client, threadId, "unheard")
    await logOf(client, threadId, ended(1))
    works = true
    await client.patch(path, { enabled: true })
    await test(client, webhook.id)
    await received(endpoint, told + 1)
    assert.strictEqual(endpoint.received().at(-1)?.body.type, "webhook.test")
  })

  it("and is given another url counts anew: what the former one answers yet is nothing to it", async () => {
    const { client } = await ownSpace()
    const answers: Array<() => void> = []
    const former = hooks.endpoint((...given) => void answers.push(() => status(500)(...given)))
    const { webhook } = await create({ url: former.url }, client)
    const path = `/v1/webhooks/${webhook.id}`
    const failures = async () => {
      const { rows } = await run(sql`select failures, failing_since is null as anew from webhooks
        where id = ${toUuid(webhook.id)}::uuid`)
      return rows[0]
    }
    // As if it had failed for a day.
    await run(sql`update webhooks set failures = ${limits.webhookFailures},
      failing_since = now() - make_interval(secs => ${limits.webhookFailingSeconds})
      where id = ${toUuid(webhook.id)}::uuid`)
    const late = await test(client, webhook.id)
    const answer = await until("it is asked", async () => answers[0])
    assert.strictEqual((await client.patch(path, { url: hooks.endpoint(status(500)).url })).status, 200)
    answer()
    await delivery(client, webhook.id, (one) => one.id === late.id && one.attempts === 1)
    assert.deepStrictEqual(await failures(), { failures: 0, anew: true })
    const own = await test(client, webhook.id)
    await delivery(client, webhook.id, (one) => one.id === own.id && one.attempts === 1)
    assert.deepStrictEqual(await failures(), { failures: 1, anew: false })
    assert.include((await client.get(path)).body.webhook, { status: "active" })
  })
})

describe("the chores of webhooks", () => {
  it("forget deliveries after thirty days, and end those that nobody sends", async () => {
    const { client } = await ownSpace()
    const endpoint = hooks.endpoint(ok)
    const { webhook } = await create({ url: endpoint.url }, client)
    const [old, young] = [await test(client, webhook.id), await test(client, webhook.id)]
    await until(
      "all are delivered",
      async () => (await deliveries(client, webhook.id, "?state=delivered")).length === 2
    )
    const aged = (eventId: string, seconds: number) =>
      run(sql`with event as (update webhook_events set created_at = now() - make_interval(secs => ${limits.webhookDays * 86_400 + seconds})
          where id = ${toUuid(eventId)}::uuid returning id, created_at)
        update webhook_deliveries d set created_at = event.created_at from event where d.event = event.id`)
    await aged(old.eventId, 60)
    await aged(young.eventId, -60)
    const sent = await test(client, webhook.id)
    await delivery(client, webhook.id, (one) => one.id === sent.id && one.state === "delivered")
    // As if it had been told while its webhook was being disabled.
    await client.patch(`/v1/webhooks/${webhook.id}`, { enabled: false })
    await run(sql`update webhook_deliveries set state = 'pending' where id = ${toUuid(sent.id)}::uuid`)
    await server.runtime.runPromise(forgetDeliveries())
    const left = await deliveries(client, webhook.id)
    assert.deepStrictEqual(
      left.map(({ id, state }) => [id, state]),
      [
        [sent.id, "failed"],
        [young.id, "delivered"]
      ]
    )
    assert.isEmpty((await run(sql`select id from webhook_events where id = ${toUuid(old.eventId)}::uuid`)).rows)
  })
})

describe("nodes", () => {
  it("send what another one had taken when it died, with the same id", async () => {
    const { client } = await ownSpace()
    let works = false
    const endpoint = hooks.endpoint((response, one) => (works ? ok : hang())(response, one))
    const { webhook } = await create({ url: endpoint.url }, client)
    const sent = await test(client, webhook.id)
    await received(endpoint, 1)
    works = true
    // As if a minute had passed: the node that took it has not said what came of it.
    await run(sql`update webhook_deliveries set next_at = now() where id = ${toUuid(sent.id)}::uuid`)
    const [first, second] = await received(endpoint, 2)
    assert.strictEqual(second?.headers["webhook-id"], first?.headers["webhook-id"])
    await delivery(client, webhook.id, (one) => one.id === sent.id && one.state === "delivered")
  })

  it("beside the one that was told of a webhook tell it within a beat", async () => {
    const { client } = await ownSpace()
    const beside = await startServer({ beside: server, name: "beside" })
    try {
      const there = beside.at(client)
      const endpoint = hooks.endpoint(ok)
      await create({ url: endpoint.url }, client)
      const agentId = await makeAgent(client)
      await until("the other node tells of its turns", async () => {
        const threadId = await makeThread(there, agentId)
        await there.post(`/v1/threads/${threadId}/messages`, { content: text("hello") })
        await logOf(there, threadId, ended(1))
        return endpoint.received().some(({ body }) => JSON.stringify(body.data).includes(threadId))
      })
    } finally {
      await beside.stop()
    }
  })
})
