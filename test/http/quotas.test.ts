/** Quotas of a workspace, at the limit and one past it. */
import { assert, describe, it } from "@effect/vitest"
import { resources, usualLimits } from "../../src/quotas/quota.ts"
import { ensureWorkspace } from "../../src/workspaces/ensure.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { begin, call, fresh, outcomes } from "./toolFixture.ts"

const limits = { agents: 3, keys: 4, connections: 2, toolsets: 2, threads: 4, stored_bytes: 40_000 }
const server = await during(startServer({ quotas: { defaults: limits } }))
const beside = await during(startServer({ beside: server, name: "beside", quotas: { defaults: limits } }))

let made = 0
/** A client of a workspace of its own. */
const newcomer = async (): Promise<Client> => {
  return server.client(
    await server.runtime.runPromise(
      server.database.atomically("test.workspace", (tx) => ensureWorkspace(tx, `quota${made++}`))
    )
  )
}

const limitsOf = async (client: Client) => {
  const answer = await client.get("/v1/limits")
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body.limits as ReadonlyArray<{
    readonly resource: string
    readonly limit: number
    readonly used: number
  }>
}
const usedOf = async (client: Client, resource: string) =>
  (await limitsOf(client)).find((limit) => limit.resource === resource)?.used

const assertExceeded = (answer: Awaited<ReturnType<Client["send"]>>, resource: string) => {
  assertRefused(answer, 409, "quota_exceeded")
  assert.strictEqual(answer.body.code, resource)
}

const tool = { name: "t", description: "d", inputSchema: { type: "object" } }

/** What is counted where it is made: how to make one, and how to take one away. The client has a key already. */
const counted = [
  [
    "agents",
    async (client: Client) => {
      const { profile } = (await client.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] })).body
      return {
        make: () => client.post("/v1/agents", { name: "A", profileId: profile.id }),
        path: "agents",
        noun: "agent",
        there: 0
      }
    }
  ],
  [
    "keys",
    async (client: Client) => ({
      make: () => client.post("/v1/auth/keys", { name: "K", scopes: ["read"] }),
      path: "auth/keys",
      noun: "key",
      there: 1
    })
  ],
  [
    "connections",
    async (client: Client) => ({
      make: () =>
        client.post("/v1/connections", {
          provider: "p",
          name: "C",
          secret: { token: "123456789012" },
          baseUrl: "https://api.example"
        }),
      path: "connections",
      noun: "connection",
      there: 0
    })
  ],
  [
    "toolsets",
    async (client: Client) => ({
      make: () => client.post("/v1/toolsets", { kind: "client", namespace: fresh(), tools: [tool] }),
      path: "toolsets",
      noun: "toolset",
      there: 0
    })
  ]
] as const

describe("what is counted exactly, where it is made", () => {
  it.each(counted)(
    "%s: as many as the limit are taken, one past it is 409 quota_exceeded, and what goes makes room",
    async (resource, prepare) => {
      const client = await newcomer()
      const { make, noun, path, there } = await prepare(client)
      const room = limits[resource] - there
      let last = ""
      for (let n = 0; n < room; n++) {
        const answer = await make()
        assert.strictEqual(answer.status, 201, answer.text)
        last = `/v1/${path}/${answer.body[noun].id}`
      }
      assertExceeded(await make(), resource)
      assert.strictEqual(await usedOf(client, resource), limits[resource])
      assert.strictEqual((await client.delete(last)).status, 204)
      assert.strictEqual(await usedOf(client, resource), limits[resource] - 1)
      assert.strictEqual((await make()).status, 201)
      assertExceeded(await make(), resource)
    }
  )

  it.each(counted)("%s: many at once, on two nodes, do not pass the limit", async (resource, prepare) => {
    const client = await newcomer()
    const [here, there] = [await prepare(client), await prepare(beside.at(client))]
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? here : there).make()))
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepStrictEqual(statuses, [
      ...Array<number>(limits[resource] - here.there).fill(201),
      ...Array<number>(12 - limits[resource] + here.there).fill(409)
    ])
  })

  it("a repeated create whose answer is kept is no create", async () => {
    const client = await newcomer()
    const { profile } = (await client.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] })).body
    const make = (key: string) =>
      client.post("/v1/agents", { name: "A", profileId: profile.id }, { "idempotency-key": key })
    for (const key of ["a", "b", "c"]) assert.strictEqual((await make(key)).status, 201)
    assertExceeded(await make("d"), "agents")
    assert.deepStrictEqual(
      [(await make("c")).status, (await make("c")).headers.get("idempotency-replayed")],
      [201, "true"]
    )
  })
})

describe("threads", () => {
  it("one past the limit is refused, with a message too, and another workspace is not concerned", async () => {
    const client = await newcomer()
    const agentId = await makeAgent(client)
    const create = (more: object = {}, headers = {}) => client.post("/v1/threads", { agentId, ...more }, headers)
    for (let n = 0; n < limits.threads; n++)
      assert.strictEqual((await create({}, { "idempotency-key": `k${n}` })).status, 201)
    assertExceeded(await create(), "threads")
    assertExceeded(await create({ message: { content: text("hello") } }), "threads")
    assert.strictEqual((await create({}, { "idempotency-key": "k1" })).headers.get("idempotency-replayed"), "true")
    assert.strictEqual(await usedOf(client, "threads"), limits.threads)
    const other = await newcomer()
    assert.strictEqual(await usedOf(other, "threads"), 0)
    await makeThread(other, await makeAgent(other))
  })

  it("that are archived count no more, at once and once each, also after they were deleted", async () => {
    const client = await newcomer()
    const agentId = await makeAgent(client)
    const threads: Array<string> = []
    for (let n = 0; n < limits.threads; n++) threads.push(await makeThread(client, agentId))
    for (const path of [`/v1/threads/${threads[0]}/archive`, `/v1/threads/${threads[0]}/archive`])
      assert.strictEqual((await client.post(path)).status, 200)
    assert.strictEqual(await usedOf(client, "threads"), limits.threads - 1)
    await makeThread(client, agentId)
    assertExceeded(await client.post("/v1/threads", { agentId }), "threads")
    assert.strictEqual((await client.delete(`/v1/threads/${threads[0]}`)).status, 204)
    assert.strictEqual(await usedOf(client, "threads"), limits.threads)
    assertExceeded(await client.post("/v1/threads", { agentId }), "threads")
  })

  it("of another node count after about a second", async () => {
    const client = await newcomer()
    const agentId = await makeAgent(client)
    for (let n = 0; n < limits.threads; n++) await makeThread(client, agentId)
    const there = beside.at(client)
    await eventually(
      async () => (await usedOf(there, "threads")) === limits.threads,
      "the other node hears of the threads"
    )
    assertExceeded(await there.post("/v1/threads", { agentId }), "threads")
  })

  it("that an agent asks for are refused to it, and its turn goes on", async () => {
    const client = await newcomer()
    const other = await makeAgent(client)
    const { profile } = (
      await client.post("/v1/profiles", { name: "Asker", models: ["troupe/scripted"], families: ["agents"] })
    ).body
    const asker = (await client.post("/v1/agents", { name: "Asker", profileId: profile.id })).body.agent.id
    for (let n = 0; n < limits.threads - 1; n++) await makeThread(client, other)
    const threadId = await begin(
      client,
      asker,
      call("tool_search", { query: "agents" }),
      "/then",
      call("agents.ask", { agentId: other, message: "hello" }),
      "/say done"
    )
    const log = await logOf(client, threadId, ended(1))
    assert.deepStrictEqual([outcomes(log)[1], log.at(-1)?.type], ["tool_error", "turn_completed"])
    assert.strictEqual(await usedOf(client, "threads"), limits.threads)
  })
})

describe("stored bytes", () => {
  it("past the limit what stores more is 429 rate_limited with code stored_bytes; what ends or reads something goes on", async () => {
    const client = await newcomer()
    const agentId = await makeAgent(client)
    const threadId = await makeThread(client, agentId)
    const send = () =>
      client.post(`/v1/threads/${threadId}/messages`, { content: text(`/say ok\n${"x".repeat(4_000)}`) })
    let answer = await send()
    for (let n = 1; answer.status === 201; n++) {
      assert.isBelow(n, 12)
      await logOf(client, threadId, ended(n))
      answer = await send()
    }
    const assertFull = (refused: typeof answer) => {
      assertRefused(refused, 429, "rate_limited")
      assert.strictEqual(refused.body.code, "stored_bytes")
      assert.isAtLeast(refused.body.retryAfterSeconds, 3_600)
      assert.isAtMost(refused.body.retryAfterSeconds, 86_400)
      assert.strictEqual(refused.headers.get("retry-after"), String(refused.body.retryAfterSeconds))
    }
    assertFull(answer)
    assert.isAtLeast((await usedOf(client, "stored_bytes")) ?? 0, limits.stored_bytes)
    for (const refused of [
      await client.post("/v1/threads", { agentId }),
      await client.post("/v1/profiles", { name: "P", models: ["troupe/scripted"] }),
      await client.post(`/v1/threads/${threadId}/retry`)
    ])
      assertFull(refused)
    assert.strictEqual((await client.post(`/v1/threads/${threadId}/cancel`)).status, 200)
    assert.strictEqual((await client.patch(`/v1/threads/${threadId}`, { title: "t" })).status, 200)
    assert.strictEqual((await client.delete(`/v1/agents/${agentId}`)).status, 204)
  })

  it("counts the texts of a log, and the bodies of what configures", async () => {
    const client = await newcomer()
    const agentId = await makeAgent(client)
    const before = (await usedOf(client, "stored_bytes")) ?? 0
    assert.isAtLeast(before, JSON.stringify({ name: "Tester", models: ["troupe/scripted"] }).length)
    assert.isBelow(before, 500)
    const threadId = await makeThread(client, agentId)
    await submit(client, threadId, "é".repeat(1_000))
    await logOf(client, threadId, ended(1))
    const after = (await usedOf(client, "stored_bytes")) ?? 0
    // The message, and the answer that repeats it: two bytes a letter.
    assert.isAtLeast(after - before, 4_000)
    assert.isBelow(after - before, 7_000)
  })
})

describe("GET /v1/limits", () => {
  it("lists every resource by name, with its limit and what is used", async () => {
    const found = await limitsOf(await server.client(server.workspaces.alpha, { scopes: ["read"] }))
    assert.deepStrictEqual(
      found.map(({ resource }) => resource),
      [...resources]
    )
    for (const { limit, resource } of found)
      assert.strictEqual(limit, { ...usualLimits, ...limits }[resource as keyof typeof usualLimits])
    assert.strictEqual(found.find(({ resource }) => resource === "roles")?.limit, 64)
  })

  it("wants the scope read", async () => {
    assertRefused(
      await (await server.client(server.workspaces.alpha, { scopes: ["run"] })).get("/v1/limits"),
      403,
      "permission_denied"
    )
    assertRefused(await server.anonymous.get("/v1/limits"), 401, "unauthenticated")
  })
})
