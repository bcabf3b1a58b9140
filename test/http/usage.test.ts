/** Usage of a workspace: what models were used for, by day, agent and model, over nodes. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { freshId } from "../../src/seed.ts"
import { foldUsage } from "../../src/usage/rows.ts"
import { type ModelUse, UsageCounts } from "../../src/usage/UsageCounts.ts"
import { during } from "../setup/during.ts"
import { type Client, startServer, type TestServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertInvalid, assertRefused } from "./refusals.ts"
import { ended, logOf, makeAgent, makeThread, submit } from "./threadFixture.ts"

const server = await during(startServer({ name: "one" }))
const other = await during(startServer({ beside: server, name: "two" }))

const paid = "troupe/scripted-paid"
const free = "troupe/scripted"
const dayMs = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)

/** A workspace of its own: nothing else counts in it. */
let made = 0
const opened = async () => {
  const workspace = await server.workspace(`usage ${++made}`)
  return { workspace, client: await server.client(workspace) }
}

interface Sum {
  readonly day?: string
  readonly agentId?: string
  readonly model?: string
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly estimatedCost?: number
}
const usage = async (client: Client, query = ""): Promise<ReadonlyArray<Sum>> => {
  const answer = await client.get(`/v1/usage${query}`)
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body.usage
}
/** What nodes have counted is written a second later. */
const counted = (client: Client, calls: number) =>
  eventually(
    async () =>
      (await usage(client, "?from=2020-01-01&to=2020-12-31"))
        .concat(await usage(client, recent))
        .reduce((sum, one) => sum + one.calls, 0) >= calls,
    `${calls} calls are counted`
  )
const recent = `?from=${daysAgo(200)}`

/** A turn of one response that uses so many tokens. */
const turn = async (client: Client, agentId: string, input: number, output: number) => {
  const threadId = await makeThread(client, agentId)
  await submit(client, threadId, `/usage ${input} ${output}`)
  await logOf(client, threadId, ended(1))
  return threadId
}

const none = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
const sumOf = (calls: number, inputTokens: number, outputTokens: number, estimatedCost: number) => ({
  calls,
  inputTokens,
  outputTokens,
  ...none,
  estimatedCost
})

/** Counts at a node what is of no thread: models without a price, and days that are long over. */
const count = async (node: TestServer, uses: ReadonlyArray<ModelUse>) => {
  const { add } = await node.runtime.runPromise(UsageCounts)
  for (const use of uses) add(use)
}
const at = (day: string) => Date.parse(`${day}T12:00:00Z`)
const use = (workspace: string, day: string, more: Partial<ModelUse> = {}): ModelUse => ({
  workspace,
  agentId: agent,
  model: paid,
  at: at(day),
  usage: { inputTokens: 10, outputTokens: 1, totalTokens: 11, estimatedCost: 0.5 },
  ...more
})
const agent = freshId("agent")

describe("usage of turns", () => {
  it("is summed by day, agent and model, as asked, and has the agent's budget", async () => {
    const { client } = await opened()
    const [one, two] = [
      await makeAgent(client, [paid], { budget: { limit: 5, window: "7d" } }),
      await makeAgent(client, [free])
    ]
    await turn(client, one, 1000, 100)
    await turn(client, one, 500, 50)
    await turn(client, two, 7, 3)
    await counted(client, 3)
    const day = daysAgo(0)
    const [ofOne, ofTwo] = [sumOf(2, 1500, 150, 0.0018), sumOf(1, 7, 3, 0)]
    assert.deepStrictEqual(await usage(client), [{ day, ...sumOf(3, 1507, 153, 0.0018) }])
    assert.deepStrictEqual(
      await usage(client, "?groupBy=agent"),
      [
        { agentId: one, ...ofOne },
        { agentId: two, ...ofTwo }
      ].toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1))
    )
    assert.deepStrictEqual(await usage(client, "?groupBy=model"), [
      { model: free, ...ofTwo },
      { model: paid, ...ofOne }
    ])
    assert.deepStrictEqual(await usage(client, `?groupBy=model,agent,day&agentId=${two}`), [
      { day, agentId: two, model: free, ...ofTwo }
    ])
    assert.deepStrictEqual(await usage(client, `?model=${paid}`), [{ day, ...ofOne }])
    assert.deepStrictEqual(await usage(client, "?model=troupe/none"), [])
    const answer = await client.get(`/v1/usage?agentId=${one}`)
    assert.deepStrictEqual(answer.body, {
      usage: [{ day, ...ofOne }],
      budget: { limit: 5, window: "7d", spent: 0.0018, reserved: 0 }
    })
    assert.notProperty((await client.get(`/v1/usage?agentId=${two}`)).body, "budget")
    assert.notProperty((await client.get("/v1/usage")).body, "budget")
  })

  it("tells what of a budget is set aside while a call runs", async () => {
    const { client } = await opened()
    const agentId = await makeAgent(client, [paid], { budget: { limit: 5, window: "total" } })
    const threadId = await makeThread(client, agentId)
    await submit(client, threadId, "/wait 20s")
    const reserved = async () => (await client.get(`/v1/usage?agentId=${agentId}`)).body.budget.reserved
    await eventually(async () => (await reserved()) > 0.016, "the call has begun")
    await client.post(`/v1/threads/${threadId}/cancel`)
    await logOf(client, threadId, ended(1))
    assert.strictEqual(await reserved(), 0)
  })

  it("has responses with calls, and failed attempts of which the provider told what they used", async () => {
    const { client } = await opened()
    const agentId = await makeAgent(client, [paid, free])
    const threads = [
      await makeThread(client, agentId),
      await makeThread(client, agentId),
      await makeThread(client, agentId)
    ]
    await submit(client, threads[0]!, "/usage 10 1\n/call nothing.here\n/then\n/usage 20 2\n/say yes")
    await submit(client, threads[1]!, "/usage 40 4\n/break 3")
    await submit(client, threads[2]!, "/fail content_refused no")
    const sum = { inputTokens: 0, outputTokens: 0, cost: 0 }
    for (const threadId of threads) {
      await logOf(client, threadId, ended(1))
      const told = (await client.get(`/v1/threads/${threadId}`)).body.usage
      sum.inputTokens += told.inputTokens
      sum.outputTokens += told.outputTokens
    }
    assert.isAtLeast(sum.inputTokens, 10 + 20 + 40)
    const all = async () => (await usage(client))[0]
    await eventually(async () => (await all())?.inputTokens === sum.inputTokens, "all of it is counted")
    assert.strictEqual((await all())?.outputTokens, sum.outputTokens)
    assert.strictEqual((await all())?.calls, 2 + (sum.inputTokens - 30) / 40)
  })

  it("of two nodes is one sum, also once the days that are over are folded", async () => {
    const { client, workspace } = await opened()
    const agentId = await makeAgent(client)
    await turn(client, agentId, 10, 1)
    await turn(other.at(client), agentId, 20, 2)
    const day = daysAgo(9)
    for (const node of [server, other]) await count(node, [use(workspace, day), use(workspace, day)])
    await counted(client, 6)
    const before = await usage(client)
    assert.deepStrictEqual(before, [
      { day: daysAgo(0), ...sumOf(2, 30, 3, 0) },
      { day, ...sumOf(4, 40, 4, 2) }
    ])
    assert.deepStrictEqual(await usage(other.at(client)), before)
    const rows = async () =>
      (
        await server.runtime.runPromise(
          server.database.run("test", (db) =>
            sql`select node from usage_by_day where workspace = ${toUuid(workspace)}::uuid and model = ${paid}
              and day = ${day}::date`.execute(db)
          )
        )
      ).rows.length
    assert.strictEqual(await rows(), 2)
    assert.isAtLeast(await server.runtime.runPromise(foldUsage()), 2)
    assert.strictEqual(await rows(), 1)
    assert.strictEqual(await server.runtime.runPromise(foldUsage()), 0)
    assert.deepStrictEqual(await usage(client), before)
  })

  it("is of no other workspace, whatever it asks for", async () => {
    const [mine, theirs] = [await opened(), await opened()]
    const agentId = await makeAgent(mine.client, [paid], { budget: { limit: 5, window: "total" } })
    await turn(mine.client, agentId, 10, 1)
    await counted(mine.client, 1)
    for (const query of ["", `?agentId=${agentId}`, `?model=${paid}`, "?groupBy=agent"])
      assert.deepStrictEqual((await theirs.client.get(`/v1/usage${query}`)).body, { usage: [] })
    const writer = await server.client(mine.workspace, { scopes: ["run"] })
    assertRefused(await writer.get("/v1/usage"), 403, "permission_denied")
  })
})

describe("sums", () => {
  it("have no cost where a part has tokens of an unknown price", async () => {
    const { client, workspace } = await opened()
    const unknown = {
      inputTokens: 4,
      outputTokens: 2,
      totalTokens: 6,
      cacheReadTokens: 3,
      cacheWriteTokens: 1,
      reasoningTokens: 2
    }
    const day = daysAgo(0)
    await count(server, [
      use(workspace, day),
      use(workspace, day, { model: "a/unpriced", usage: unknown }),
      use(workspace, day, { model: "b/silent", usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } })
    ])
    await counted(client, 3)
    const { totalTokens: _, ...tokens } = unknown
    assert.deepStrictEqual(await usage(client, "?groupBy=model"), [
      { model: "a/unpriced", calls: 1, ...tokens },
      { model: "b/silent", ...sumOf(1, 0, 0, 0) },
      { model: paid, ...sumOf(1, 10, 1, 0.5) }
    ])
    assert.notProperty((await usage(client))[0] ?? {}, "estimatedCost")
    assert.strictEqual((await usage(client, `?model=${paid}`))[0]?.estimatedCost, 0.5)
  })

  it("are of the days that are asked for, both ends included; of the last 30 unless told", async () => {
    const { client, workspace } = await opened()
    const days = [0, 29, 30, 100].map(daysAgo)
    await count(
      server,
      days.map((day) => use(workspace, day))
    )
    await count(server, [use(workspace, "2020-02-29", { at: Date.parse("2020-02-29T23:59:59.999Z") })])
    await counted(client, 5)
    const seen = async (query: string) => (await usage(client, query)).map(({ day }) => day)
    assert.deepStrictEqual(await seen(""), days.slice(0, 2))
    assert.deepStrictEqual(await seen(`?from=${days[2]}`), days.slice(0, 3))
    assert.deepStrictEqual(await seen(`?to=${days[1]}`), days.slice(1, 3))
    assert.deepStrictEqual(await seen("?from=2020-02-29&to=2020-02-29"), ["2020-02-29"])
    assert.deepStrictEqual(await seen("?from=2020-02-28T20:00:00-04:00&to=2020-02-29T00:00:00Z"), ["2020-02-29"])
    assert.deepStrictEqual(await seen("?from=2020-03-01&to=2020-03-02"), [])
    assert.deepStrictEqual(await seen("?from=2020-01-01&to=2020-12-31"), ["2020-02-29"])
    assert.deepStrictEqual(await seen("?from=0000-01-01&to=0000-12-31"), [])
  })

  it("are refused for what is no list of days and groups", async () => {
    const { client } = await opened()
    for (const [query, field] of [
      ["from=2026-01-02&to=2026-01-01", "from"],
      ["from=9998-01-01", "from"],
      // 2020 has 366 days.
      ["from=2020-01-01&to=2021-01-01", "from"],
      ["from=0000-01-01", "from"],
      ["from=2026-02-30", "from"],
      ["from=2026-02-03T00:00:00", "from"],
      ["to=yesterday", "to"],
      ["to=", "to"],
      ["groupBy=hour", "groupBy"],
      ["groupBy=day,day", "groupBy"],
      ["groupBy=", "groupBy"],
      ["groupBy=day,", "groupBy"],
      ["agentId=agt_1", "agentId"],
      ["model=", "model"],
      ["cursor=abc", "cursor"]
    ] as const)
      assertInvalid(await client.get(`/v1/usage?${query}`), field)
    for (const limit of [0, 201])
      assertRefused(await client.get(`/v1/usage?limit=${limit}`), 400, "invalid_request", "limit_out_of_range")
    assertRefused(await client.get("/v1/usage?thread=x"), 400, "invalid_request")
  })

  it("come in pages, newest day first, then by agent and model, each once", async () => {
    const { client, workspace } = await opened()
    const agents = Array.from({ length: 3 }, () => freshId("agent"))
    const uses = [0, 1, 2].flatMap((day) =>
      agents.flatMap((agentId) => ["a/Z", "a/b", "é"].map((model) => use(workspace, daysAgo(day), { agentId, model })))
    )
    await count(server, uses)
    await counted(client, 27)
    for (const groupBy of ["day,agent,model", "model,agent", "day,model", "model", "day"]) {
      const whole = await usage(client, `?groupBy=${groupBy}&limit=200`)
      const keys = whole.map(({ agentId = "", day = "", model = "" }) => [day, agentId, model])
      assert.deepStrictEqual(
        keys,
        keys.toSorted(([a, ...mine], [b, ...others]) =>
          a! > b! ? -1 : a! < b! ? 1 : mine.join() < others.join() ? -1 : 1
        )
      )
      assert.strictEqual(
        whole.reduce((sum, { calls }) => sum + calls, 0),
        27
      )
      const paged: Array<Sum> = []
      for (let cursor = "", pages = 0; ; ) {
        assert.isBelow(++pages, 20)
        const { body } = await client.get(
          `/v1/usage?limit=2&${cursor === "" ? `groupBy=${groupBy}` : `cursor=${cursor}`}`
        )
        paged.push(...body.usage)
        if (body.nextCursor === undefined) break
        assert.lengthOf(body.usage, 2)
        cursor = body.nextCursor
      }
      assert.deepStrictEqual(paged, whole)
    }
  })

  it("have cursors that hold their days and filters", async () => {
    const { client, workspace } = await opened()
    await count(
      server,
      [0, 1, 2].map((day) => use(workspace, daysAgo(day)))
    )
    await counted(client, 3)
    const { nextCursor } = (await client.get(`/v1/usage?limit=1&from=${daysAgo(1)}T00:00:00Z`)).body
    const rest = (more: string) => client.get(`/v1/usage?cursor=${nextCursor}${more}`)
    const last = (await rest("")).body
    assert.deepStrictEqual(
      last.usage.map(({ day }: Sum) => day),
      [daysAgo(1)]
    )
    assert.notProperty(last, "nextCursor")
    for (const same of [`&from=${daysAgo(1)}`, `&to=${daysAgo(0)}`, "&groupBy=day"])
      assert.deepStrictEqual((await rest(same)).body, last)
    for (const different of [`&from=${daysAgo(2)}`, "&groupBy=model", `&model=${paid}`, `&agentId=${agent}`])
      assertRefused(await rest(different), 400, "invalid_request", "invalid_cursor")
    assertRefused(await server.beta.get(`/v1/usage?cursor=${nextCursor}`), 400, "invalid_request", "invalid_cursor")
  })
})
