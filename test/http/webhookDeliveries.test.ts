/** Deliveries of webhooks: to endpoints that verify, refuse, hang, and what becomes of each. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { makeTell } from "../../src/webhooks/due.ts"
import { endless, hang, type Reply, redirect, sized, status, tooMany } from "../hooks/hookServer.ts"
import { until } from "../waiting.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { ok, webhookStand } from "./webhookFixture.ts"

const { create, deliveries, delivery, hooks, ownSpace, received, server, test } = await webhookStand()

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
    await server.query(sql`update webhook_deliveries set attempts = ${limits.webhookAttempts - 1}, next_at = now()
      where id = ${toUuid(id)}::uuid`)
    await until("the last attempt is under way", async () => answers[1])
    const again = await client.post(`/v1/webhooks/${webhook.id}/deliveries/${id}/redeliver`)
    assert.strictEqual(again.status, 200, again.text)
    await answered(1, status(500))
    await until("the failure is written down", async () => {
      const { rows } = await server.query(
        sql`select from webhooks where id = ${toUuid(webhook.id)}::uuid and failures = 2`
      )
      return rows.length === 1
    })
    assert.include((await deliveries(client, webhook.id))[0], { id, state: "pending", attempts: 0 })
    await answered(2, ok)
    assert.include(await delivery(client, webhook.id, (one) => one.state === "delivered"), { id, attempts: 1 })
  })

  it("that is taken by an attempt, late, is delivered also where a later one has failed at the same moment", async () => {
    const { client, workspace } = await ownSpace()
    const endpoint = hooks.endpoint(hang)
    const { webhook } = await create({ url: endpoint.url }, client)
    const tell = makeTell(server.database)
    for (const turn of [0, 1]) {
      const { eventId, id } = await test(client, webhook.id)
      const takenUntil = Date.now() + 30_000
      await server.query(
        sql`update webhook_deliveries set next_at = ${new Date(takenUntil)} where id = ${toUuid(id)}::uuid`
      )
      const { url } = endpoint
      const attempted = {
        workspace,
        deliveryId: id,
        webhookId: webhook.id,
        eventId,
        url,
        body: "",
        attempts: 0,
        secrets: []
      }
      const told: ReadonlyArray<Parameters<typeof tell>[0]> = [
        {
          delivery: { ...attempted, takenUntil: takenUntil - 1 },
          outcome: { state: "delivered", pauseMs: 0, status: 204 }
        },
        { delivery: { ...attempted, takenUntil }, outcome: { state: "pending", pauseMs: 5_000, status: 500 } }
      ]
      await server.runtime.runPromise(
        Effect.forEach(turn === 0 ? told : [...told].reverse(), (one) => tell(one), { concurrency: "unbounded" })
      )
      const one = (await deliveries(client, webhook.id)).find((found) => found.id === id)
      assert.include(one, { state: "delivered", lastStatus: 204 }, String(turn))
    }
  })

  it("that is answered 410 is the last: what was taken together with it is not sent", async () => {
    const { client } = await ownSpace()
    let answered = 0
    const endpoint = hooks.endpoint((...given) => (answered++ === 0 ? ok : status(410))(...given))
    const { webhook } = await create({ url: endpoint.url }, client)
    const { id } = await test(client, webhook.id)
    await delivery(client, webhook.id, (one) => one.state === "delivered")
    await server.query(sql`insert into webhook_deliveries (workspace, id, webhook, event, state, next_at, created_at)
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
    await server.query(sql`update webhook_deliveries set attempts = ${last - 1}, next_at = now()
      where webhook = ${toUuid(webhook.id)}::uuid`)
    assert.include(await delivery(client, webhook.id, (one) => one.attempts === last), { state: "pending" })
    await server.query(sql`update webhook_deliveries set next_at = now() where webhook = ${toUuid(webhook.id)}::uuid`)
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
    await server.query(sql`update webhook_deliveries set state = 'failed' where webhook = ${toUuid(webhook.id)}::uuid`)
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
    refusedAt(await client.post(`${path}/resend`, {}), 400, "invalid_request", "from")
    refusedAt(await client.post(`${path}/resend`, { from: "soon" }), 400, "invalid_request", "from")
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
    refusedAt(await client.get(`${path}?state=lost`), 400, "invalid_request", "state")
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
