/** What single calls of models cost their agents: calls that break off, that last, and whose price nobody knows. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { chores } from "../../src/chores/chores.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { toProviderName } from "../../src/models/toolNames.ts"
import { UsageCounts } from "../../src/usage/UsageCounts.ts"
import { openaiResponses } from "../models/servers/openaiResponses.ts"
import { type Behaviour, type ProviderServer, startServer as startProvider } from "../models/servers/server.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused } from "./refusals.ts"
import { ended, logOf, makeThread, submit, text } from "./threadFixture.ts"
import { addToolset, fresh, makeWorker, only, resolveWait, waitsOf } from "./toolFixture.ts"

const priced = "openai/priced"
const unpriced = "openai/unpriced"
const paid = "troupe/scripted-paid"

const pricedProvider = await during(startProvider(openaiResponses))
const unpricedProvider = await during(startProvider(openaiResponses))
const model = (id: string, { url }: ProviderServer) => ({
  id,
  name: "gpt-5",
  baseUrl: `${url}/v1`,
  apiKeyEnv: "SOME_KEY"
})
const server = await during(
  startServer({
    models: {
      env: { SOME_KEY: "test-key" },
      modelsFile: {
        models: [
          { ...model(priced, pricedProvider), pricing: { input: 1, output: 2 } },
          model(unpriced, unpricedProvider)
        ]
      }
    }
  })
)

const run = async <A>(statement: ReturnType<typeof sql<A>>) =>
  (await server.runtime.runPromise(server.database.run("test", (db) => statement.execute(db)))).rows
const worker = async (models: ReadonlyArray<string>, profile: object = {}, agent: object = {}) => {
  const agentId = await makeWorker(server.alpha, { models, ...profile })
  assert.strictEqual((await server.alpha.patch(`/v1/agents/${agentId}`, agent)).status, 200)
  return agentId
}
const detailOf = async (threadId: string) => (await server.alpha.get(`/v1/threads/${threadId}`)).body
const reservationsOf = (agentId: string) =>
  run<{ readonly prompt: number; readonly old: boolean }>(
    sql`select prompt, created_at < now() - interval '1 minute' as old from reservations
      where subject = ${toUuid(agentId)}`
  )
const spentBy = async (agentId: string) => {
  const [row = assert.fail()] = await run<{ readonly spent: number }>(
    sql`select coalesce(sum(amount), 0)::float8 as spent from spent where subject = ${toUuid(agentId)}`
  )
  return row.spent
}
const answer: Behaviour = { kind: "answer", answer: { text: ["Yes."], usage: { input: 10, output: 1 } } }

describe("an attempt that failed", () => {
  it("costs its prompt where the answer had begun, though its provider has not told what was used", async () => {
    const agentId = await worker([priced])
    const threadId = await makeThread(server.alpha, agentId, { maxCost: 1 })
    pricedProvider.enqueue({ kind: "cut", text: ["Hel"] }, answer)
    await submit(server.alpha, threadId, "x".repeat(400))
    assert.strictEqual((await logOf(server.alpha, threadId, ended(1))).at(-1)?.type, "turn_completed")
    const { budgetSpend, usage } = await detailOf(threadId)
    // 400 bytes are 100 tokens.
    assert.closeTo(budgetSpend.spent, usage.estimatedCost + 100e-6, 1e-9)
    const [thread] = await run<{ readonly amount: number }>(
      sql`select amount from thread_spend where thread = ${toUuid(threadId)}`
    )
    assert.closeTo(thread?.amount ?? 0, budgetSpend.spent, 1e-9)
    assert.deepStrictEqual(await reservationsOf(agentId), [])
  })

  it("costs nothing where its provider refused to answer", async () => {
    const agentId = await worker([priced])
    const threadId = await makeThread(server.alpha, agentId)
    pricedProvider.enqueue({ kind: "status", status: 500 }, answer)
    await submit(server.alpha, threadId, "x".repeat(400))
    assert.strictEqual((await logOf(server.alpha, threadId, ended(1))).at(-1)?.type, "turn_completed")
    const { budgetSpend, usage } = await detailOf(threadId)
    assert.strictEqual(budgetSpend.spent, usage.estimatedCost)
    assert.deepStrictEqual(await reservationsOf(agentId), [])
  })
})

describe("a subscription's screen", () => {
  /** A message that its screen is asked about; the subscription, and the agent that pays. */
  const screened = async (model: string, message: string) => {
    const agentId = await worker([paid], {}, { budget: { limit: 1, window: "24h" } })
    const feedId: string = (await server.alpha.post("/v1/feeds", { name: fresh("feed") })).body.feed.id
    const screen = { model }
    const made = await server.alpha.post(`/v1/agents/${agentId}/subscriptions`, { feedId, screen })
    assert.strictEqual(made.status, 201, made.text)
    const sent = await server.alpha.post(`/v1/feeds/${feedId}/messages`, { messages: [{ text: message }] })
    assert.strictEqual(sent.status, 201, sent.text)
    const id: string = made.body.id
    return { agentId, id, path: `/v1/subscriptions/${id}` }
  }

  it.each<[string, Behaviour, number]>([
    // Of 1,600 bytes and some words around them; four are a token.
    ["costs its prompt where its answer broke off", { kind: "cut", text: ["Ye"] }, 480e-6],
    ["costs nothing where its provider refused to answer", { kind: "status", status: 500 }, 0]
  ])("%s", async (_, behaviour, cost) => {
    const before = pricedProvider.requests.length
    pricedProvider.enqueue(behaviour)
    const { agentId, path } = await screened(priced, "x".repeat(1_600))
    await eventually(
      async () => (await server.alpha.get(path)).body.lastStatus === "failed",
      "the screen has failed once"
    )
    assert.lengthOf(pricedProvider.requests, before + 1)
    await server.alpha.patch(path, { enabled: false })
    assert.deepStrictEqual(await reservationsOf(agentId), [])
    assert.closeTo(await spentBy(agentId), cost, 100e-6)
    // Its provider has told of no use. What was counted before the marker is written with it at the latest.
    const { add } = await server.runtime.runPromise(UsageCounts)
    const usage = { inputTokens: 1, outputTokens: 0, totalTokens: 1 }
    add({ workspace: server.workspaces.alpha, agentId, model: "marker", at: Date.now(), usage })
    const used = async () => (await server.alpha.get(`/v1/usage?agentId=${agentId}&groupBy=model`)).body.usage
    await eventually(async () => (await used()).length > 0, "usage is written")
    assert.deepStrictEqual(
      (await used()).map(({ model }: { readonly model: string }) => model),
      ["marker"]
    )
  })

  it.each<[string, (path: string) => Promise<{ readonly status: number; readonly text: string }>]>([
    ["a change of what it looks at", (path) => server.alpha.patch(path, { condition: "false" })],
    ["a pause", (path) => server.alpha.patch(path, { enabled: false })],
    ["the end of its subscription", (path) => server.alpha.delete(path)]
  ])("that %s stops costs its prompt, and nothing stays set aside", async (_, stop) => {
    const { agentId, path } = await screened(paid, "look\n/wait 600s")
    await eventually(async () => (await reservationsOf(agentId)).length === 1, "the screen is paid for")
    const [{ prompt } = assert.fail()] = await reservationsOf(agentId)
    const stopped = await stop(path)
    assert.isBelow(stopped.status, 300, stopped.text)
    await eventually(async () => (await reservationsOf(agentId)).length === 0, "nothing is set aside")
    assert.strictEqual(await spentBy(agentId), prompt)
  })
})

describe("a call that lasts", () => {
  it("is not overdue as long as its node makes it, and costs once what it costs", async () => {
    const agentId = await worker([paid])
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "/wait 600s\nlate")
    await eventually(async () => (await reservationsOf(agentId)).length === 1, "the call is paid for")
    const [reserved] = await reservationsOf(agentId)
    await run(sql`update reservations set created_at = now() - interval '16 minutes'
      where subject = ${toUuid(agentId)}`)
    // As every node does it.
    for (const { name, work } of chores) if (/reservations/.test(name)) await server.runtime.runPromise(work)
    assert.deepStrictEqual(
      (await reservationsOf(agentId)).map(({ old }) => old),
      [false]
    )
    assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/cancel`)).status, 200)
    await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(await reservationsOf(agentId), [])
    assert.strictEqual(await spentBy(agentId), reserved?.prompt)
  })
})

describe("a model without a price", () => {
  it("is passed over under a budget for one that has a price", async () => {
    const agentId = await worker([unpriced, paid], {}, { budget: { limit: 1, window: "24h" } })
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "hi")
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.strictEqual(only(log, "assistant_message")[0]?.modelId, paid)
  })

  it.each<[string, ReadonlyArray<string>, "thread" | "agent"]>([
    ["is passed over", [unpriced, paid], "thread"],
    ["fails the turn where it is alone", [unpriced], "agent"]
  ])(
    "%s also where the limit comes while the turn runs, which then holds for its next call",
    async (_, models, whose) => {
      const { id, namespace } = await addToolset(server.alpha, {
        kind: "client",
        tools: [{ name: "hold", inputSchema: { type: "object" } }]
      })
      const agentId = await worker(models, { toolsetIds: [id] })
      const threadId = await makeThread(server.alpha, agentId)
      const call = { name: toProviderName(`${namespace}.hold`), input: {} }
      unpricedProvider.enqueue({ kind: "answer", answer: { calls: [call] } })
      await submit(server.alpha, threadId, "/say mine")
      const [wait = assert.fail()] = await waitsOf(server.alpha, threadId)
      const asked = unpricedProvider.requests.length
      const limited =
        whose === "thread"
          ? await server.alpha.patch(`/v1/threads/${threadId}`, { maxCost: 1 })
          : await server.alpha.patch(`/v1/agents/${agentId}`, { budget: { limit: 1, window: "24h" } })
      assert.strictEqual(limited.status, 200, limited.text)
      await resolveWait(server.alpha, threadId, wait.id, { type: "tool_result", output: 1 })
      const log = await logOf(server.alpha, threadId, ended(1))
      assert.lengthOf(unpricedProvider.requests, asked)
      if (models.length > 1) assert.strictEqual(only(log, "assistant_message").at(-1)?.modelId, paid)
      else assert.strictEqual(log.at(-1)?.failureCode, "model_not_priced")
    }
  )
})

describe("an agent whose description PostgreSQL stores and does not read", () => {
  it.each(["24h", "total"])(
    "pays for its calls within its budget of %s, and nobody beside it fails",
    async (window) => {
      const description = "\u0000 \u0001"
      const odd = await worker([paid], {}, { description, budget: { limit: 1, window } })
      const plain = await worker([paid], {}, { budget: { limit: 1, window } })
      const threads = await Promise.all([odd, plain, odd, plain].map((agentId) => makeThread(server.alpha, agentId)))
      await Promise.all(threads.map((threadId) => submit(server.alpha, threadId, "hi")))
      for (const threadId of threads) {
        const log = await logOf(server.alpha, threadId, ended(1))
        assert.strictEqual(log.at(-1)?.type, "turn_completed", JSON.stringify(log.at(-1)))
      }
      const { budgetSpend } = await detailOf(threads[0] ?? assert.fail())
      assert.deepInclude(budgetSpend, { window })
      assert.isAbove(budgetSpend.spent, 0)
      assert.strictEqual((await server.alpha.patch(`/v1/agents/${odd}`, { budget: { limit: 0, window } })).status, 200)
      const refused = await server.alpha.post("/v1/threads", { agentId: odd, message: { content: text("more") } })
      assertRefused(refused, 402, "budget_exceeded")
      assert.strictEqual((await server.alpha.get(`/v1/usage?agentId=${odd}`)).body.budget.window, window)
      // As every node does it.
      for (const { name, work } of chores) if (/spend|reservations/.test(name)) await server.runtime.runPromise(work)
    }
  )
})

describe("what an agent has spent", () => {
  it("is one figure in every answer, rounded to a billionth", async () => {
    const budget = { limit: 1, window: "24h" }
    const agentId = await worker([paid], {}, { budget })
    const threadId = await makeThread(server.alpha, agentId)
    await submit(server.alpha, threadId, "/usage 333 1\n/say one")
    await logOf(server.alpha, threadId, ended(1))
    const { budgetSpend, usage } = await detailOf(threadId)
    assert.strictEqual(budgetSpend.spent, usage.estimatedCost)
    assert.strictEqual(budgetSpend.spent, Math.round(budgetSpend.spent * 1e9) / 1e9)
    const cancelled = await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    const archived = await server.alpha.post(`/v1/threads/${threadId}/archive`)
    const other = await server.alpha.post("/v1/threads", { agentId })
    for (const { body } of [cancelled, archived, other]) assert.strictEqual(body.budgetSpend.spent, budgetSpend.spent)
    const ofWorkspace = await server.alpha.get(`/v1/usage?agentId=${agentId}`)
    assert.deepStrictEqual(ofWorkspace.body.budget, { ...budget, spent: budgetSpend.spent, reserved: 0 })
  })
})
