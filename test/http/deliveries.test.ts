/**
 * Endpoints that answered a delivery with an ask decide later: with the one-use token of the delivery, or with a key.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { ask, json, startHookServer } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { Client, startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { absent, assertRefused, assertRefusedAt } from "./refusals.ts"
import { ended, logOf } from "./threadFixture.ts"
import { assertSound, begin, leavesMemory, outcomes, waitsOf } from "./toolFixture.ts"
import { answer, decision, furnish, parked, pathOf, type Wait } from "./waitFixture.ts"

/** A proxy serves the API there. */
const publicUrl = "https://agents.example.com/troupe"

const server = await during(startServer({ idleMs: 100, publicUrl }))
const hooks = await during(startHookServer())
const desk = await furnish(server.alpha, "desk")
afterAll(() => assertSound(server))

/** A call that an endpoint was asked about, and what the endpoint was sent. */
const asked = async (reply = ask({ reason: "somebody should look" }), more: object = {}) => {
  const endpoint = hooks.endpoint(reply)
  const agentId = await desk.worker({
    hooks: [{ name: "H", point: "before_tool_call", processor: { type: "url", url: endpoint.url }, ...more }]
  })
  const threadId = await begin(server.alpha, agentId, desk.tool("sign", { document: "a" }))
  await eventually(() => endpoint.received().length > 0, "the delivery")
  const { answerToken, answerUrl, deliveryId } = endpoint.received()[0]!.body
  assert.strictEqual(String(answerUrl), `${publicUrl}/v1/hooks/deliveries/${deliveryId}/decision`)
  return {
    threadId,
    token: String(answerToken),
    url: String(answerUrl).slice(publicUrl.length),
    deliveryId: String(deliveryId)
  }
}
const waiting = async (reply?: Parameters<typeof asked>[0], more?: object) => {
  const found = await asked(reply, more)
  const [wait] = await waitsOf(server.alpha, found.threadId)
  return { ...found, wait: wait as Wait }
}
const bearer = (token: string) => new Client(server.base, token)

describe.concurrent("the token of a delivery", () => {
  it.each([
    ["person", ask()],
    ["url", ask({ answerBy: "url" })]
  ] as const)("answers an ask that is a %s's, once", async (target, reply) => {
    const { deliveryId, threadId, token, url, wait } = await waiting(reply)
    assert.deepInclude(wait, { type: "hook_ask", target })
    const one = await bearer(token).post(url, { decision: "allow", reason: "looked" })
    assert.strictEqual(one.status, 200, one.text)
    assert.deepStrictEqual(one.body.wait.waitResult, {
      outcome: "allow",
      by: { type: "api_key", id: deliveryId },
      reason: "looked"
    })
    // Spent, it says what came of it and no more.
    assert.deepStrictEqual([(await bearer(token).post(url, { decision: "allow" })).text], [one.text])
    assertRefused(await bearer(token).post(url, { decision: "deny" }), 409, "wait_already_resolved")
    assert.deepInclude((await waitsOf(server.alpha, threadId))[0], { type: "client_tool" })
  })

  it("is not listed as what persons and clients wait for, where the endpoint said that it will answer", async () => {
    const { threadId } = await waiting(ask({ answerBy: "url" }))
    const {
      body: {
        thread: { agentId },
        inFlightWaitIds
      }
    } = await server.alpha.get(`/v1/threads/${threadId}`)
    assert.lengthOf(inFlightWaitIds, 1)
    assert.deepStrictEqual((await server.alpha.get(`/v1/threads?state=waiting&agentId=${agentId}`)).body, {
      threads: []
    })
  })

  it("works when the thread has left memory", async () => {
    const { threadId, token, url } = await waiting()
    await leavesMemory(server, threadId)
    assert.strictEqual((await bearer(token).post(url, { decision: "deny", reason: "no" })).status, 200)
    assert.deepStrictEqual(outcomes(await logOf(server.alpha, threadId, ended(1))), ["hook_denied"])
  })

  it("may rewrite, within the schema of the tool, and says nothing of other calls", async () => {
    const { threadId, token, url } = await waiting()
    assertRefusedAt(
      await bearer(token).post(url, { decision: "allow", rewrite: { toolInput: { document: 1 } } }),
      400,
      "invalid_request",
      "rewrite.toolInput"
    )
    assertRefusedAt(
      await bearer(token).post(url, { decision: "allow", scope: "thread" }),
      400,
      "invalid_request",
      "scope"
    )
    assertRefusedAt(await bearer(token).post(url, { decision: "ask" }), 400, "invalid_request", "decision")
    assertRefusedAt(await bearer(token).post(url, { decision: "allow", token }), 400, "invalid_request", "token")
    assert.strictEqual(
      (await bearer(token).post(url, { decision: "allow", rewrite: { toolInput: { document: "b" } } })).status,
      200
    )
    assert.deepStrictEqual((await waitsOf(server.alpha, threadId))[0]!.toolInput, { document: "b" })
  })

  it("under an Idempotency-Key is the same answer again, and its key nobody else's", async () => {
    const { token, url } = await waiting()
    const key = { "idempotency-key": "same" }
    const one = await bearer(token).post(url, { decision: "deny" }, key)
    const two = await bearer(token).post(url, { decision: "deny" }, key)
    assert.deepStrictEqual([one.status, two.text, two.headers.get("idempotency-replayed")], [200, one.text, "true"])
    assertRefused(await bearer(token).post(url, { decision: "allow" }, key), 422, "idempotency_key_reused")
    assert.isNull((await server.alpha.post(url, { decision: "deny" }, key)).headers.get("idempotency-replayed"))
  })

  it("is late when the ask has expired, or its turn was stopped", { timeout: 20_000 }, async () => {
    const late = await waiting(ask(), { asyncTimeoutMs: 1_000 })
    const stopped = await waiting()
    await server.alpha.post(`/v1/threads/${stopped.threadId}/cancel`)
    assertRefused(await bearer(stopped.token).post(stopped.url, { decision: "allow" }), 409, "wait_already_resolved")
    await logOf(server.alpha, late.threadId, ended(1))
    assertRefused(await bearer(late.token).post(late.url, { decision: "allow" }), 410, "wait_expired")
  })

  it("finds nothing where the endpoint has decided at once", async () => {
    const { threadId, token, url } = await asked(json({ decision: "allow" }))
    await waitsOf(server.alpha, threadId)
    assertRefused(await bearer(token).post(url, { decision: "deny" }), 404, "not_found")
  })

  it("is of its own delivery only", async () => {
    const [mine, other] = [await waiting(), await waiting()]
    for (const [token, url] of [
      [mine.token, other.url],
      [mine.token, `/v1/hooks/deliveries/${absent("dlv_")}/decision`],
      [mine.token, "/v1/hooks/deliveries/dlv_x/decision"],
      [`${mine.token.slice(0, -1)}${mine.token.endsWith("A") ? "B" : "A"}`, mine.url],
      [`trd_${other.token.slice(4, 56)}${mine.token.slice(56)}`, mine.url],
      ["trd_", mine.url],
      ["trd_x", mine.url],
      [`${mine.token}x`, mine.url]
    ] as const) {
      const refused = await bearer(token).post(url, { decision: "allow" })
      assertRefused(refused, 401, "unauthenticated")
      assert.match(refused.headers.get("www-authenticate") ?? "", /invalid_token/)
    }
    for (const { threadId, wait } of [mine, other])
      assert.strictEqual((await server.alpha.get(pathOf(threadId, wait))).body.wait.state, "open")
  })

  it("opens nothing else", async () => {
    const { threadId, token, wait } = await waiting()
    const nowhere: ReadonlyArray<readonly [string, string, object?]> = [
      ["GET", "/v1/auth"],
      ["GET", `/v1/threads/${threadId}`],
      ["GET", pathOf(threadId, wait)],
      ["POST", `${pathOf(threadId, wait)}/resolve`, decision("allow")],
      ["POST", `/v1/hooks/waits/${wait.id}/resolve`, { decision: "allow" }],
      ["GET", "/v1/tools/calls"],
      ["POST", `/v1/tools/calls/${wait.toolCallId}/result`, { output: 1 }],
      ["GET", "/v1/hooks/decisions"],
      ["GET", `/v1/threads/${threadId}/events/stream`],
      ["POST", "/v1/threads", { agentId: desk.plain }]
    ]
    for (const [method, path, body] of nowhere) {
      const refused = await bearer(token).send(method, path, body)
      assertRefused(refused, 403, "credential_not_accepted")
      assert.strictEqual(refused.body.code, "delivery_token", path)
    }
  })
})

describe.concurrent("a key of the workspace", () => {
  it("answers for the endpoint, if it may approve", async () => {
    const { deliveryId, url, wait } = await waiting()
    const runner = await server.client(server.workspaces.alpha, { scopes: ["read", "run", "write", "admin"] })
    assertRefused(await runner.post(url, { decision: "allow" }), 403, "permission_denied")
    assertRefused(await server.beta.post(url, { decision: "allow" }), 404, "not_found")
    assertRefused(await server.anonymous.post(url, { decision: "allow" }), 401, "unauthenticated")
    assertRefused(
      await server.alpha.post(`/v1/hooks/deliveries/${absent("dlv_")}/decision`, { decision: "allow" }),
      404,
      "not_found"
    )
    const approver = await server.client(server.workspaces.alpha, { scopes: ["approve"] })
    const told = await approver.post(url, { decision: "allow" })
    assert.deepStrictEqual([told.status, told.body.wait.id], [200, wait.id])
    assert.isFalse(told.text.includes(deliveryId))
  })

  it("answers a client's ask by its delivery as well", async () => {
    const { threadId, wait } = await parked(server.alpha, desk.asked, [desk.tool("sign")])
    const path = `/v1/hooks/deliveries/dlv_${wait.id.slice(5)}/decision`
    assert.strictEqual((await server.alpha.post(path, { decision: "deny" })).status, 200)
    assert.deepStrictEqual(outcomes(await logOf(server.alpha, threadId, ended(1))), ["hook_denied"])
  })

  it("and the token race: one of them wins", async () => {
    for (let round = 0; round < 5; round++) {
      const { threadId, token, url, wait } = await waiting()
      const answers = await Promise.all([
        bearer(token).post(url, { decision: "allow" }),
        answer(server.alpha, threadId, wait, decision("deny"))
      ])
      assert.sameMembers(
        answers.map(({ status }) => status),
        [200, 409]
      )
    }
  })
})
