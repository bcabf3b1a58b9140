/** Limits that no test of their own feature holds to: each is taken, and one past it is refused or gone. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { limits } from "../../src/domain/limits.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { absent, assertRefusedAt } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { fresh } from "./toolFixture.ts"

const server = await during(startServer({ idleMs: 100 }))
const agentId = await makeAgent(server.alpha)
const feedId = (await server.alpha.post("/v1/feeds", { name: "limits" })).body.feed.id

const tool = (fields: object) => ({ name: "t", inputSchema: { type: "object" }, ...fields })
const toolset = (fields: object) => ({ kind: "client", namespace: "limits", tools: [tool(fields)] })
const key = (fields: object) => ({ name: "K", kind: "trigger", provider: "slack", scopes: ["run"], ...fields })
const cron = (expression: string, timezone = "UTC") => ({
  name: "S",
  trigger: { type: "cron", expression, timezone },
  target: { mode: "spawn" },
  message: { content: text("S") }
})
const subscription = (fields: object) => ({ feedId, ...fields })
const instants = (expression: string, timezone = "UTC") =>
  subscription({ cadence: { mode: "schedule", expression, timezone } })
/** Minutes, named again and again: so many characters in all. */
const minutes = (chars: number) => {
  const rest = " * * * *"
  return `${chars % 2 === 0 ? "59," : ""}${"1,".repeat(200)}`.slice(0, chars - rest.length) + rest
}
/** One more node for each number in the list, beside those of the list, of the 1 and of the question. */
const nodes = (count: number) => `1 in [${Array.from({ length: count - 3 }, () => 1).join()}]`

describe("a body", () => {
  it.each<[string, string, object, object, string]>([
    [
      "a client tool's description of 4,096 bytes",
      "/v1/toolsets",
      toolset({ description: "é".repeat(2048) }),
      toolset({ description: `${"é".repeat(2048)}a` }),
      "tools[0].description"
    ],
    [
      "a tool's title of 256 bytes",
      "/v1/toolsets",
      toolset({ annotations: { title: "é".repeat(128) } }),
      toolset({ annotations: { title: `${"é".repeat(128)}a` } }),
      "tools[0].annotations.title"
    ],
    [
      "a tool's name of 128 characters",
      "/v1/toolsets",
      toolset({ name: "n".repeat(128) }),
      toolset({ name: "n".repeat(129) }),
      "tools[0].name"
    ],
    [
      "1,000,000 tokens of a response",
      "/v1/profiles",
      { name: "P", models: ["@fast"], sampling: { maxOutputTokens: 1_000_000 } },
      { name: "P", models: ["@fast"], sampling: { maxOutputTokens: 1_000_001 } },
      "sampling.maxOutputTokens"
    ]
  ])("may hold %s, and no more", async (_, path, fits, past, place) => {
    const client = await server.client(await server.workspace(fresh("limits")))
    const taken = await client.post(path, fits)
    assert.strictEqual(taken.status, 201, taken.text)
    assertRefusedAt(await client.post(path, past), 400, "invalid_request", place)
  })

  it("may hold 64 agents and 64 feeds of a trigger, and no more", async () => {
    const { profileId } = (await server.alpha.get(`/v1/agents/${agentId}`)).body.agent
    const make = async (path: string, noun: string, fields: object): Promise<string> =>
      (await server.alpha.post(path, fields)).body[noun].id
    const [agentIds, feedIds] = [[agentId], [feedId]]
    for (let i = 1; i < 64; i++) {
      agentIds.push(await make("/v1/agents", "agent", { name: "A", profileId }))
      feedIds.push(await make("/v1/feeds", "feed", { name: fresh("of-trigger") }))
    }
    const made = await server.alpha.post("/v1/auth/keys", key({ agentIds, feedIds }))
    assert.strictEqual(made.status, 201, made.text)
    assert.deepStrictEqual([made.body.key.agentIds.length, made.body.key.feedIds.length], [64, 64])
    for (const [field, more] of [
      ["agentIds", { agentIds: [...agentIds, absent("agt_")] }],
      ["feedIds", { feedIds: [...feedIds, absent("feed_")] }]
    ] as const)
      assertRefusedAt(
        await server.alpha.post("/v1/auth/keys", key({ agentIds, feedIds, ...more })),
        400,
        "invalid_request",
        field
      )
  })

  it("may hold 64 agents of a rule, and no more", async () => {
    const admin = await server.client(await server.workspace("rules"))
    const rule = (agents: number) => ({
      actions: ["agent.update"],
      principals: ["agent"],
      agentIds: Array.from({ length: agents }, (_, i) => `agt_${String(i).padStart(26, "0")}`),
      require: true
    })
    const put = (agents: number) => admin.put("/v1/approval-policy", { rules: [rule(agents)] })
    const taken = await put(64)
    assert.strictEqual(taken.status, 200, taken.text)
    assertRefusedAt(await put(65), 400, "invalid_request", "rules[0].agentIds")
  })

  it.each<[string, (fields: string) => Promise<{ readonly status: number; readonly text: string }>]>([
    ["a schedule", (it) => server.alpha.post(`/v1/agents/${agentId}/schedules`, cron(it))],
    ["a subscription", (it) => server.alpha.post(`/v1/agents/${agentId}/subscriptions`, instants(it))]
  ])("may hold a cron expression of 256 characters, and none longer: %s", async (_, send) => {
    assert.deepStrictEqual([minutes(256).length, minutes(257).length], [256, 257])
    const taken = await send(minutes(256))
    assert.strictEqual(taken.status, 201, taken.text)
    const { text } = await send(minutes(257))
    assert.match(text, /expression: .*"code":"invalid_body"/)
  })

  it("may name a time zone in 64 characters, which none has, and in no more", async () => {
    for (const [chars, code] of [
      [64, "invalid_timezone"],
      [65, "invalid_body"]
    ] as const)
      for (const [path, body] of [
        ["schedules", cron("@daily", "Z".repeat(chars))],
        ["subscriptions", instants("@daily", "Z".repeat(chars))]
      ] as const) {
        const refused = await server.alpha.post(`/v1/agents/${agentId}/${path}`, body)
        assert.deepStrictEqual([refused.status, refused.body.code], [400, code], refused.text)
      }
  })

  it("may hold a condition of 256 nodes, and of no more", async () => {
    const send = (condition: string) =>
      server.alpha.post(`/v1/agents/${agentId}/subscriptions`, subscription({ condition }))
    const taken = await send(nodes(256))
    assert.strictEqual(taken.status, 201, taken.text)
    const refused = await send(nodes(257))
    assert.deepStrictEqual([refused.status, refused.body.code], [400, "invalid_condition"], refused.text)
  })
})

describe("a request that waits", () => {
  it("for events may wait 30 seconds, and no longer", async () => {
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "hello")
    await logOf(server.alpha, threadId, ended(1))
    const path = `/v1/threads/${threadId}/events?waitSeconds=`
    assert.strictEqual((await server.alpha.get(`${path}30`)).status, 200)
    assertRefusedAt(await server.alpha.get(`${path}31`), 400, "invalid_request", "waitSeconds")
  })

  it("for an operation may wait 60 seconds, and no longer", async () => {
    const { operation } = (await server.alpha.post("/v1/identities/disable", { identity: "leaver" })).body
    const path = `/v1/operations/${operation.id}?waitSeconds=`
    assert.strictEqual((await server.alpha.get(`${path}60`)).status, 200)
    assertRefusedAt(await server.alpha.get(`${path}61`), 400, "invalid_request", "waitSeconds")
  })
})

/** Moves what an actor has said to another moment. */
const age = (id: string, days: number) =>
  server.runtime.runPromise(
    server.database.run("test.age", (db) =>
      sql`update facts set at = now() - ${days} * interval '1 day' where actor = ${toUuid(id)}::uuid`.execute(db)
    )
  )

describe("what is listed for 90 days", () => {
  it("are runs of a schedule", async () => {
    const made = await server.alpha.post(`/v1/agents/${agentId}/schedules`, cron("@daily"))
    const path = `/v1/agents/${agentId}/schedules/${made.body.schedule.id}`
    assert.strictEqual((await server.alpha.post(`${path}/run`)).status, 201)
    const runs = async () => (await server.alpha.get(`${path}/runs`)).body.runs
    await eventually(async () => (await runs())[0]?.status === "started", "the run has started")
    await age(made.body.schedule.id, limits.scheduleRunDays - 0.01)
    assert.lengthOf(await runs(), 1)
    await age(made.body.schedule.id, limits.scheduleRunDays + 0.01)
    assert.lengthOf(await runs(), 0)
  })

  it("are evaluations of a subscription", async () => {
    const made = await server.alpha.post(`/v1/agents/${agentId}/subscriptions`, subscription({}))
    const id: string = made.body.id
    assert.strictEqual(
      (await server.alpha.post(`/v1/feeds/${feedId}/messages`, { messages: [{ text: "news" }] })).status,
      201
    )
    const evaluations = async () => (await server.alpha.get(`/v1/subscriptions/${id}/evaluations`)).body.evaluations
    await eventually(async () => (await evaluations()).length === 1, "the message has been handed over")
    await age(id, limits.evaluationDays - 0.01)
    assert.lengthOf(await evaluations(), 1)
    await age(id, limits.evaluationDays + 0.01)
    assert.lengthOf(await evaluations(), 0)
  })
})
