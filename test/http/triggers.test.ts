/** Triggers: keys that bring events from outside to a few agents, and say where these come from. */
import { assert, describe, it } from "@effect/vitest"
import { during } from "../setup/during.ts"
import { Client, startServer } from "../setup/server.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"

const server = await during(startServer())
const agentId = await makeAgent(server.alpha)
const otherId = await makeAgent(server.alpha)

const origin = { provider: "slack", tenantId: "T1", senderId: "U1", channelId: "C1", messageId: "M1", threadId: "X1" }
const wanted = (fields: object = {}) => ({
  name: "Slack",
  kind: "trigger",
  provider: "slack",
  agentIds: [agentId],
  scopes: ["read", "run"],
  ...fields
})
const issue = async (fields: object) => {
  const made = await server.alpha.post("/v1/auth/keys", fields)
  assert.strictEqual(made.status, 201, made.text)
  return { key: made.body.key, client: new Client(server.base, made.body.token) }
}
const makeTrigger = (fields: object = {}) => issue(wanted(fields))

describe("a trigger's key", () => {
  it("is shown with its provider and its agents, and acts as a trigger", async () => {
    const { client, key } = await makeTrigger({ identity: "slack@example.com" })
    assert.deepInclude(key, { kind: "trigger", provider: "slack", agentIds: [agentId], scopes: ["read", "run"] })
    assert.deepStrictEqual((await server.alpha.get(`/v1/auth/keys/${key.id}`)).body.key.agentIds, [agentId])
    assert.deepInclude((await client.get("/v1/auth")).body, {
      principal: { type: "trigger", id: key.id, identity: "slack@example.com" },
      scheme: "APIKeyBearer",
      scopes: ["read", "run"]
    })
  })

  it.each([
    ["no provider", { provider: undefined }, "provider"],
    ["another provider", { provider: "irc" }, "provider"],
    ["no agents", { agentIds: undefined }, "agentIds"],
    ["an empty list of agents", { agentIds: [] }, "agentIds"],
    ["65 agents", { agentIds: Array.from({ length: 65 }, (_, i) => `agt_${String(i).padStart(26, "0")}`) }, "agentIds"],
    ["what is no agent", { agentIds: ["agt_x"] }, "agentIds[0]"],
    ["an agent twice", { agentIds: [absent("agt_"), absent("agt_")] }, "agentIds"],
    ["65 feeds", { feedIds: Array.from({ length: 65 }, (_, i) => `feed_${String(i).padStart(26, "0")}`) }, "feedIds"],
    ["the scope write", { scopes: ["read", "write"] }, "scopes[1]"],
    ["the scope admin", { scopes: ["admin"] }, "scopes[0]"],
    ["agents, though it is a user's", { kind: "user" }, "provider"],
    ["agents, though it is a plain key", { kind: undefined, provider: undefined }, "agentIds"]
  ])("with %s is refused", async (_, fields, path) => {
    refusedAt(await server.alpha.post("/v1/auth/keys", wanted(fields)), 400, "invalid_request", path)
  })

  it("names agents and feeds that are there", async () => {
    for (const agentIds of [
      [agentId, absent("agt_")],
      [agentId, await makeAgent(server.beta)]
    ])
      refusedAt(await server.alpha.post("/v1/auth/keys", wanted({ agentIds })), 422, "agent_not_found", "agentIds[1]")
    const archived = await makeAgent(server.alpha)
    await server.alpha.delete(`/v1/agents/${archived}`)
    refusedAt(
      await server.alpha.post("/v1/auth/keys", wanted({ agentIds: [archived] })),
      422,
      "agent_not_found",
      "agentIds[0]"
    )
    refusedAt(
      await server.alpha.post("/v1/auth/keys", wanted({ feedIds: [absent("feed_")] })),
      422,
      "feed_not_found",
      "feedIds[0]"
    )
  })

  it("is refused by a node that does not know triggers: its row names no scopes", async () => {
    const { key } = await makeTrigger()
    const [row] = await server.runtime.runPromise(
      server.database.read<{ scopes: ReadonlyArray<string> }>({
        name: "scopes of a trigger",
        text: "select scopes from api_keys where trigger is not null and name = $1",
        values: [key.name]
      })
    )
    assert.deepStrictEqual(row?.scopes, [])
  })
})

describe("a trigger", () => {
  it("begins and continues threads of its agents, and says where the words come from", async () => {
    const { client, key } = await makeTrigger()
    const created = await client.post("/v1/threads", { agentId, message: { content: text("one"), origin } })
    assert.strictEqual(created.status, 201, created.text)
    const threadId: string = created.body.thread.id
    assert.deepStrictEqual(created.body.thread.createdBy, { type: "trigger", id: key.id })
    await logOf(client, threadId, ended(1))
    const sent = await submit(client, threadId, "two", { origin: { ...origin, messageId: "M2" } })
    assert.deepStrictEqual(sent.principal, { type: "trigger", id: key.id, origin: { ...origin, messageId: "M2" } })
    await submit(client, threadId, "three")
    const log = await logOf(server.alpha, threadId, ended(3))
    assert.deepStrictEqual(
      log.filter(({ type }) => type === "user_message").map(({ principal }) => principal),
      [
        { type: "trigger", id: key.id, origin },
        { type: "trigger", id: key.id, origin: { ...origin, messageId: "M2" } },
        { type: "trigger", id: key.id }
      ]
    )
    assert.strictEqual((await client.get(`/v1/threads/${threadId}`)).body.status, "idle")
  })

  it("lists the threads of its agents, and no other, also with the cursor of somebody who sees more", async () => {
    const { client } = await makeTrigger()
    const [mine, others] = [await makeThread(server.alpha, agentId), await makeThread(server.alpha, otherId)]
    const listed = async (query = "") => {
      const answer = await client.get(`/v1/threads${query}`)
      assert.strictEqual(answer.status, 200, answer.text)
      return answer.body.threads.map(({ thread }: { thread: { id: string; agentId: string } }) => thread)
    }
    const all = await listed()
    assert.isTrue(all.every((thread: { agentId: string }) => thread.agentId === agentId))
    assert.include(
      all.map(({ id }: { id: string }) => id),
      mine
    )
    assert.deepStrictEqual(await listed(`?agentId=${otherId}`), [])
    await makeThread(server.alpha, agentId)
    const { nextCursor } = (await server.alpha.get("/v1/threads?limit=1")).body
    const page = await listed(`?cursor=${nextCursor}`)
    assert.notInclude(
      page.map(({ id }: { id: string }) => id),
      others
    )
    assert.isTrue(page.every((thread: { agentId: string }) => thread.agentId === agentId))
  })

  it("finds nothing of other agents, however their ids are written", async () => {
    const { client } = await makeTrigger()
    const threadId = await makeThread(server.alpha, otherId, { message: { content: text("secret") } })
    await logOf(server.alpha, threadId, ended(1))
    const written = [threadId, threadId.replace("thr", "%74%68%72"), absent("thr_"), "thr_x"]
    for (const id of written) {
      for (const path of [`/v1/threads/${id}`, `/v1/threads/${id}/events`, `/v1/threads/${id}/events/stream`])
        refused(await client.get(path), 404, "not_found")
      refused(await client.post(`/v1/threads/${id}/messages`, { content: text("x"), origin }), 404, "not_found")
    }
    for (const id of [otherId, absent("agt_"), await makeAgent(server.beta)])
      refusedAt(await client.post("/v1/threads", { agentId: id }), 422, "agent_not_found", "agentId")
    assert.lengthOf((await server.alpha.get(`/v1/threads/${threadId}/queue`)).body.queue ?? [], 0)
  })

  it("reads what a policy parks once a person has agreed, with the scopes that it has", async () => {
    const server = await startServer()
    try {
      const agentId = await makeAgent(server.alpha)
      const threadId = await makeThread(server.alpha, agentId)
      const made = await server.alpha.post("/v1/auth/keys", wanted({ agentIds: [agentId] }))
      const client = new Client(server.base, made.body.token)
      const rules = [{ actions: ["thread.read"], principals: ["trigger"], require: true }]
      const policy = await server.alpha.send("PUT", "/v1/approval-policy", { rules })
      assert.strictEqual(policy.status, 200, policy.text)
      const parked = await client.get(`/v1/threads/${threadId}`)
      assert.strictEqual(parked.status, 202, parked.text)
      const decided = await server.alpha.post(`/v1/operations/${parked.body.operation.id}/approve`)
      assert.deepInclude(decided.body.operation.result, { status: 200 }, decided.text)
      assert.strictEqual(decided.body.operation.result.body.thread.id, threadId)
    } finally {
      await server.stop()
    }
  })

  it("has its scopes besides", async () => {
    const { client } = await makeTrigger({ scopes: ["read"] })
    const threadId = await makeThread(server.alpha, agentId)
    const answer = await client.post(`/v1/threads/${threadId}/messages`, { content: text("x") })
    refused(answer, 403, "permission_denied")
    assert.strictEqual(answer.body.code, "missing_scope")
  })
})

describe("an origin", () => {
  it.each([["api_key"], ["user"]])(
    "from a principal of type %s is refused, with a submit and with a create",
    async (kind) => {
      const { client } = await issue({ name: "K", kind, scopes: ["read", "run"] })
      const threadId = await makeThread(client, agentId)
      refusedAt(
        await client.post(`/v1/threads/${threadId}/messages`, { content: text("x"), origin }),
        403,
        "origin_not_allowed",
        "origin"
      )
      refusedAt(
        await client.post("/v1/threads", { agentId, message: { content: text("x"), origin } }),
        403,
        "origin_not_allowed",
        "message.origin"
      )
      assert.strictEqual((await client.get(`/v1/threads/${threadId}`)).body.lastSeq, 0)
    }
  )
})
