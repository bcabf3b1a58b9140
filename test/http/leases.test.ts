/** Leases of agents, end to end: an MCP server gets one with a call, and asks the API with it. */
import { assert, describe, it } from "@effect/vitest"
import { Streams } from "../../http/streams/Streams.ts"
import { AgentLeases, makeAgentLeases } from "../../src/keys/AgentLeases.ts"
import { body } from "../../src/domain/ids.ts"
import { createCompleted } from "../../src/operations/rows.ts"
import { Client } from "../setup/server.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { startTaskServer } from "../tools/taskServer.ts"
import { eventually } from "../waiting.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, text } from "./threadFixture.ts"
import { addRole, begin, call, leavesMemory, makeWorker, outcomes, turnOf } from "./toolFixture.ts"
import { isLease, object, publicUrl, statusOf, leaseStand } from "./leaseFixture.ts"

const { beside, holding, letGo, mcp, server, worker } = await leaseStand()

describe("a toolset", () => {
  it("asks for leases with `lease`, which is none until it says so", async () => {
    const { namespace, toolsetId } = await worker({ lease: undefined })
    const path = `/v1/toolsets/${toolsetId}`
    assert.strictEqual((await server.alpha.get(path)).body.toolset.lease, "none")
    const agentId = await makeWorker(server.alpha, { toolsetIds: [toolsetId] })
    assert.deepStrictEqual(outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.ask`))), ["no lease"])
    assert.strictEqual((await server.alpha.patch(path, { lease: "none" })).body.toolset.lease, "none")
    const etag = (await server.alpha.get(path)).headers.get("etag")
    assert.strictEqual((await server.alpha.patch(path, { lease: null })).headers.get("etag"), etag)
    assert.strictEqual((await server.alpha.patch(path, { lease: "call" })).body.toolset.lease, "call")
    assert.include(JSON.stringify(outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.ask`)))), agentId)
    refusedAt(await server.alpha.patch(path, { lease: "always" }), 400, "invalid_request", "lease")
    const own = { kind: "client", namespace: "own", tools: [{ name: "a", inputSchema: object }], lease: "call" }
    refused(await server.alpha.post("/v1/toolsets", own), 400, "invalid_request")
  })
})

describe("a lease", () => {
  it("tells its bearer who it is: the agent, in its thread", async () => {
    const { agentId, namespace } = await worker()
    const log = await turnOf(server.alpha, agentId, call(`${namespace}.ask`))
    const [told] = outcomes(log)
    const { lease } = mcp.calls.findLast(({ tool }) => tool === "ask") ?? {}
    assert(isLease(lease))
    assert.strictEqual(lease.baseUrl, publicUrl)
    assert.closeTo(Date.parse(lease.expiresAt), Date.now() + 900_000, 30_000)
    assert.deepStrictEqual(told, {
      context: {
        principal: { type: "agent", id: agentId },
        workspaceId: server.workspaces.alpha,
        scheme: "AgentLeaseBearer",
        scopes: [],
        agentId,
        threadId: log[0]?.threadId,
        expiresAt: lease.expiresAt
      },
      status: "running",
      agent: agentId
    })
  })

  it("comes with calls in both eras of the protocol, and with tasks", async () => {
    const modern = await startMcpServer({
      era: "modern",
      tools: [
        {
          name: "who",
          inputSchema: object,
          run: async (_, { lease }) =>
            isLease(lease) ? (await new Client(server.base, lease.token).get("/v1/auth")).body.agentId : "no lease"
        }
      ]
    })
    const tasks = await startTaskServer()
    const own = await worker({ url: modern.url })
    const log = await turnOf(server.alpha, own.agentId, call(`${own.namespace}.who`))
    assert.deepStrictEqual(outcomes(log), [own.agentId])
    const asTask = await worker({ url: tasks.url })
    await turnOf(server.alpha, asTask.agentId, call(`${asTask.namespace}.research`), call(`${asTask.namespace}.plain`))
    assert.lengthOf(
      tasks.metas.filter((meta) => isLease(meta["troupe/lease"]) && meta["troupe/toolCallId"] !== undefined),
      2
    )
    await Promise.all([modern.close(), tasks.close()])
  })

  it("ends after 15 minutes, though its turn goes on", async () => {
    const { lease, threadId } = await holding()
    const leases = await server.runtime.runPromise(AgentLeases)
    const opened = leases.open(lease.token)
    assert(opened !== undefined)
    const givenBefore = (ms: number) =>
      makeAgentLeases({ secrets: [new Uint8Array(32).fill(5)], publicUrl: undefined, now: () => Date.now() - ms }).give(
        opened
      ).token
    const [old, young] = [givenBefore(910_000), givenBefore(890_000)].map((token) => new Client(server.base, token))
    assert(old !== undefined && young !== undefined)
    assert.deepStrictEqual([await statusOf(young), await statusOf(old)], [200, 401])
    await letGo(threadId)
  })

  it("has the identity of the thread, else of the agent", async () => {
    const { agentId, namespace } = await worker()
    await server.alpha.patch(`/v1/agents/${agentId}`, { identity: "agent@example.com" })
    const identities = []
    for (const more of [{}, { identity: "thread@example.com" }]) {
      const threadId = await makeThread(server.alpha, agentId, {
        ...more,
        message: { content: text(call(`${namespace}.ask`)) }
      })
      identities.push(JSON.stringify(outcomes(await logOf(server.alpha, threadId, ended(1)))))
    }
    assert.include(identities[0], `"identity":"agent@example.com"`)
    assert.include(identities[1], `"identity":"thread@example.com"`)
  })

  it("is void on every node once the turn is over, and while it waits it is not", async () => {
    const { client, threadId } = await holding()
    const there = beside.at(client)
    assert.deepStrictEqual([await statusOf(client), await statusOf(there)], [200, 200])
    await letGo(threadId)
    refused(await client.get("/v1/auth"), 401, "unauthenticated")
    await eventually(async () => (await statusOf(there)) === 401, "it is void elsewhere")
    await leavesMemory(server, threadId)
    assert.strictEqual(await statusOf(client), 401)
  })

  it("is void at once also where nobody used it between the end of its turn and its thread's leaving", async () => {
    const { client, threadId } = await holding()
    assert.strictEqual(await statusOf(client), 200, "its head is read now")
    await letGo(threadId)
    await leavesMemory(server, threadId)
    assert.strictEqual(await statusOf(client), 401)
  })

  it.each([
    ["its turn is over", 401, "unauthenticated"],
    ["its identity is disabled", 403, "identity_disabled"]
  ])("that waits for news is refused within five seconds once %s", async (what, status, error) => {
    const identity = `${what.replaceAll(" ", "-")}@example.com`
    const { client, threadId } = await holding({ identity })
    const asked = await client.post("/v1/identities/disable", { identity: "another@example.com" })
    assert.strictEqual(asked.status, 202, asked.text)
    const answer = client.get(`/v1/operations/${asked.body.operation.id}?waitSeconds=60`)
    await eventually(
      () => server.runtime.runPromise(Streams.useSync((streams) => streams.waiting() > 0)),
      "it waits for news"
    )
    const began = performance.now()
    if (status === 401) await letGo(threadId)
    else assert.strictEqual((await server.alpha.post("/v1/identities/disable", { identity })).status, 200)
    refused(await answer, status, error)
    assert.isBelow(performance.now() - began, 5_000)
    if (status !== 401) await letGo(threadId)
  })

  it("stays good while its turn awaits a person, also where the thread is read from its head", async () => {
    const { namespace, toolsetId } = await worker()
    const roleIds = [
      await addRole(server.alpha, {
        allow: [{ tools: `${namespace}.ask` }, { tools: `${namespace}.hold`, approval: "required" }]
      })
    ]
    const agentId = await makeWorker(server.alpha, { toolsetIds: [toolsetId], roleIds })
    const before = mcp.calls.length
    const threadId = await begin(server.alpha, agentId, call(`${namespace}.ask`), call(`${namespace}.hold`))
    await logOf(server.alpha, threadId, (log) => log.some(({ type }) => type === "wait_created"))
    await eventually(() => mcp.calls[before]?.over === true, "the call is over")
    const lease = mcp.calls[before]?.lease
    assert(isLease(lease))
    const client = new Client(server.base, lease.token)
    assert.strictEqual(await statusOf(client), 200)
    await leavesMemory(server, threadId)
    assert.strictEqual(await statusOf(client), 200)
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    refused(await client.get("/v1/auth"), 401, "unauthenticated")
  })

  it("reaches its own thread and agent, and no other", async () => {
    const { agentId, client, threadId } = await holding()
    assert.strictEqual((await client.get(`/v1/threads/${threadId}`)).body.status, "running")
    assert.strictEqual((await client.get(`/v1/agents/${agentId}`)).body.agent.id, agentId)
    const other = await makeAgent(server.alpha)
    const sister = await makeThread(server.alpha, agentId)
    const paths = [
      `/v1/agents/${other}`,
      `/v1/agents/${await makeAgent(server.beta)}`,
      `/v1/threads/${sister}`,
      `/v1/threads/${await makeThread(server.alpha, other)}`,
      `/v1/threads/${absent("thr_")}`,
      `/v1/operations/${absent("op_")}`
    ]
    for (const path of paths) refused(await client.get(path), 404, "not_found")
    const { id } = (await server.alpha.post("/v1/identities/enable", { identity: "x@example.com" })).body.operation
    refused(await client.get(`/v1/operations/${id}`), 404, "not_found")
    refused(await client.post(`/v1/operations/${id}/cancel`), 404, "not_found")
    await letGo(threadId)
  })

  it("reaches what its agent has asked for, and nothing that another one has", async () => {
    const { agentId, client, threadId } = await holding()
    const operationOf = (id: string) =>
      server.runtime.runPromise(
        server.database.atomically("test.operation", (tx) =>
          createCompleted(
            tx,
            server.workspaces.alpha,
            { action: "identity.enable", by: { type: "agent", id }, result: { status: 200, body: {} } },
            Date.now()
          )
        )
      )
    const { id } = await operationOf(agentId)
    assert.strictEqual((await client.get(`/v1/operations/${id}`)).body.operation.id, id)
    refused(await client.post(`/v1/operations/${id}/cancel`), 409, "operation_resolved")
    const other = await operationOf(await makeAgent(server.alpha))
    refused(await client.get(`/v1/operations/${other.id}`), 404, "not_found")
    refused(await client.post(`/v1/operations/${other.id}/cancel`), 404, "not_found")
    await letGo(threadId)
  })

  it("asks for identities to be disabled, and a person decides, also when the turn is over", async () => {
    const { agentId, client, lease, threadId } = await holding()
    const ask = (identity: string, headers = {}) => client.post("/v1/identities/disable", { identity }, headers)
    const asked = await ask("guest@example.com")
    assert.strictEqual(asked.status, 202, asked.text)
    const { id } = asked.body.operation
    assert.deepInclude((await client.get(`/v1/operations/${id}`)).body.operation, {
      state: "pending",
      agentId,
      requestedBy: { type: "agent", id: agentId }
    })
    assert.strictEqual((await ask("guest@example.com")).body.operation.id, id)
    // An Idempotency-Key belongs to one lease, and what it asked for can be withdrawn by any of that turn.
    const headers = { "idempotency-key": "k" }
    const other = (await ask("other@example.com", headers)).body.operation.id
    assert.strictEqual((await ask("other@example.com", headers)).headers.get("idempotency-replayed"), "true")
    refused(await ask("third@example.com", headers), 422, "idempotency_key_reused")
    const leases = await server.runtime.runPromise(AgentLeases)
    const opened = leases.open(lease.token)
    assert(opened !== undefined)
    const second = new Client(server.base, leases.give(opened).token)
    assert.notStrictEqual(second.token, client.token)
    const third = await second.post("/v1/identities/disable", { identity: "third@example.com" }, headers)
    assert.strictEqual(third.status, 202, third.text)
    assert.strictEqual((await second.post(`/v1/operations/${other}/cancel`)).body.operation.state, "cancelled")
    refused(await client.post(`/v1/operations/${id}/approve`), 403, "credential_not_accepted")

    await letGo(threadId)
    assert.strictEqual((await server.alpha.post(`/v1/operations/${id}/approve`)).body.operation.state, "completed")
    const { identities } = (await server.alpha.get("/v1/identities")).body
    assert.deepInclude(
      identities.find(({ identity }: { identity: string }) => identity === "guest@example.com"),
      { disabled: true }
    )
  })

  it("is refused where its scheme is not named: the events, the queue, submits, also with an origin", async () => {
    const { client, threadId } = await holding()
    const origin = { provider: "slack", tenantId: "T", senderId: "U" }
    const answers = [
      await client.get(`/v1/threads/${threadId}/events`),
      await client.get(`/v1/threads/${threadId}/events/stream`),
      await client.get(`/v1/threads/${threadId}/queue`),
      await client.get("/v1/threads"),
      await client.get("/v1/auth/keys"),
      await client.post(`/v1/threads/${threadId}/messages`, { content: text("x"), origin }),
      await client.post("/v1/auth/keys", { name: "K", scopes: ["read"] })
    ]
    for (const answer of answers) {
      refused(answer, 403, "credential_not_accepted")
      assert.strictEqual(answer.body.code, "agent_lease")
    }
    await letGo(threadId)
  })

  it("forged, cut short or put together of two is 401", async () => {
    const [one, two] = [await holding(), await holding()]
    const { token } = one.lease
    const at = token.indexOf(body(one.threadId))
    const tokens = [
      "trl_",
      token.slice(0, -1),
      token.slice(0, 100),
      `${token}x`,
      // The other thread, turn and all, under the first one's signature.
      token.slice(0, at) + two.lease.token.slice(at, at + 52) + token.slice(at + 52),
      token.slice(0, -43) + two.lease.token.slice(-43),
      token.replace(body(one.agentId), body(two.agentId))
    ]
    for (const forged of tokens) {
      const answer = await new Client(server.base, forged).get("/v1/auth")
      refused(answer, 401, "unauthenticated")
      assert.strictEqual(answer.headers.get("www-authenticate"), 'Bearer error="invalid_token"')
    }
    await letGo(one.threadId)
    await letGo(two.threadId)
  })

  it("of a turn that is not its thread's, or another agent's, is 401 though a server key signed it", async () => {
    const { agentId, lease, threadId } = await holding()
    const leases = await server.runtime.runPromise(AgentLeases)
    const opened = leases.open(lease.token)
    assert(opened !== undefined)
    assert.strictEqual(await statusOf(new Client(server.base, leases.give(opened).token)), 200)
    for (const other of [
      { turnId: absent("trn_") },
      { threadId: await makeThread(server.alpha, agentId) },
      { threadId: absent("thr_") },
      { agentId: await makeAgent(server.alpha) },
      { workspace: server.workspaces.beta }
    ]) {
      const { token } = leases.give({ ...opened, ...other })
      refused(await new Client(server.base, token).get("/v1/auth"), 401, "unauthenticated")
    }
    await letGo(threadId)
  })

  it("of an agent that was archived is 401", async () => {
    const { agentId, client, threadId } = await holding()
    assert.strictEqual(await statusOf(client), 200)
    assert.strictEqual((await server.alpha.delete(`/v1/agents/${agentId}`)).status, 204)
    refused(await client.get("/v1/auth"), 401, "unauthenticated")
    await letGo(threadId)
  })
})
