/** What becomes of webhooks, deliveries and nodes that go on failing, or are gone. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { forgetDeliveries } from "../../src/webhooks/forgetting.ts"
import { hang, status } from "../hooks/hookServer.ts"
import { startServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { ok, webhookStand } from "./webhookFixture.ts"

const { create, deliveries, delivery, hooks, ownSpace, received, server, test } = await webhookStand()

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
      server.query(
        sql`update webhooks set failing_since = now() - make_interval(secs => ${seconds}) where id = ${toUuid(webhook.id)}::uuid`
      )
    await failTimes(count)
    assert.include(await shown(), { status: "active" }, "all within a moment")
    works = true
    await test(client, webhook.id)
    await until("one is delivered", async () => (await deliveries(client, webhook.id, "?state=delivered")).length > 0)
    works = false
    await server.query(sql`update webhook_deliveries set state = 'failed' where webhook = ${toUuid(webhook.id)}::uuid`)
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
      const { rows } = await server.query(sql`select failures, failing_since is null as anew from webhooks
        where id = ${toUuid(webhook.id)}::uuid`)
      return rows[0]
    }
    // As if it had failed for a day.
    await server.query(sql`update webhooks set failures = ${limits.webhookFailures},
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
      server.query(sql`with event as (update webhook_events set created_at = now() - make_interval(secs => ${limits.webhookDays * 86_400 + seconds})
          where id = ${toUuid(eventId)}::uuid returning id, created_at)
        update webhook_deliveries d set created_at = event.created_at from event where d.event = event.id`)
    await aged(old.eventId, 60)
    await aged(young.eventId, -60)
    const sent = await test(client, webhook.id)
    await delivery(client, webhook.id, (one) => one.id === sent.id && one.state === "delivered")
    // As if it had been told while its webhook was being disabled.
    await client.patch(`/v1/webhooks/${webhook.id}`, { enabled: false })
    await server.query(sql`update webhook_deliveries set state = 'pending' where id = ${toUuid(sent.id)}::uuid`)
    await server.runtime.runPromise(forgetDeliveries())
    const left = await deliveries(client, webhook.id)
    assert.deepStrictEqual(
      left.map(({ id, state }) => [id, state]),
      [
        [sent.id, "failed"],
        [young.id, "delivered"]
      ]
    )
    assert.isEmpty(
      (await server.query(sql`select id from webhook_events where id = ${toUuid(old.eventId)}::uuid`)).rows
    )
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
    await server.query(sql`update webhook_deliveries set next_at = now() where id = ${toUuid(sent.id)}::uuid`)
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
