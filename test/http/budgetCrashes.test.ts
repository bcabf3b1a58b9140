/**
 * Crash points of what model calls cost (crashing.ts): whichever commit of a thread or a subscription a node dies at,
 * each call is paid for once, and nothing stays set aside. Before such a commit a call is to be set aside, is set
 * aside, or has answered; behind it the call is settled.
 */
import { sql } from "kysely"
import { assert, describe, it } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { until } from "../waiting.ts"
import { type Run, type Scenario, startNodes, withEachCrash } from "./crashing.ts"
import { ended, logOf, makeAgent, text } from "./threadFixture.ts"
import { during } from "../setup/during.ts"
import { call, makeWorker, only } from "./toolFixture.ts"

const nodes = await during(startNodes(({ actor }) => actor.kind === "thread" || actor.kind === "subscription"))

const paid = "troupe/scripted-paid"
const payer = (run: Run) => makeAgent(run.client, [paid], { budget: { limit: 1, window: "total" } })
const begin = async (run: Run, agentId: string, words: string): Promise<string> => {
  const made = await run.post("/v1/threads", { agentId, maxCost: 1, message: { content: text(words) } })
  return made.thread.id
}

/** The price of the prompt that is set aside for, once one is. */
const setAside = (run: Run) =>
  until("a call is set aside", async () => {
    const [row] = await run.query(
      sql<{ readonly prompt: number }>`select prompt from reservations where workspace = ${toUuid(run.workspace)}::uuid`
    )
    return row?.prompt
  })

/** What the screen costs where nothing goes wrong, in USD. */
let screenCost: number | undefined
const spentIn = async (run: Run) => {
  const [row] = await run.query(
    sql<{ readonly amount: number }>`select coalesce(sum(amount), 0)::float8 as amount from spent
      where workspace = ${toUuid(run.workspace)}::uuid`
  )
  return row?.amount ?? 0
}

/** Of the agent, and of its threads, in USD; nothing is set aside any more. */
const isSpent = async (run: Run, wanted: { readonly agent: number; readonly threads: number }) => {
  await run.rest()
  const space = toUuid(run.workspace)
  // What was set aside too late goes a moment after the end of its call (B7 of Budgets.ts).
  await until("nothing is set aside", async () => {
    const [held] = await run.query(
      sql<{ readonly n: number }>`select count(*)::int as n from reservations where workspace = ${space}::uuid`
    )
    return held?.n === 0
  })
  const [found] = await run.query(
    sql<{ readonly threads: number }>`select coalesce(sum(amount), 0)::float8 as threads from thread_spend
      where workspace = ${space}::uuid`
  )
  assert.closeTo(await spentIn(run), wanted.agent, 1e-9)
  assert.closeTo(found?.threads ?? 0, wanted.threads, 1e-9)
}

/** What a thread that is asked may cost where nothing goes wrong, in USD. */
let left: number | undefined

/** What the responses of a thread have cost, as its log says. */
const costOf = async (run: Run, threadId: string) =>
  (await run.client.get(`/v1/threads/${threadId}`)).body.usage.estimatedCost as number

const scenarios: ReadonlyArray<Scenario> = [
  {
    name: "a turn of two calls of its model",
    does: async (run) => {
      const threadId = await begin(run, await payer(run), call("nothing"))
      const log = await logOf(run.client, threadId, ended(1))
      assert.lengthOf(only(log, "tool_result"), 1)
      const cost = await costOf(run, threadId)
      assert.isAbove(cost, 0)
      await isSpent(run, { agent: cost, threads: cost })
    }
  },
  {
    name: "a question to another agent",
    does: async (run) => {
      const asked = await payer(run)
      const asker = await makeWorker(run.client, { models: [paid], families: ["agents"], familyExposure: "always" })
      const threadId = await begin(run, asker, call("agents.ask", { agentId: asked, message: "/say yes" }))
      await logOf(run.client, threadId, ended(1))
      const { threads } = (await run.client.get(`/v1/threads?agentId=${asked}`)).body
      assert.lengthOf(threads, 1)
      const { thread } = threads[0]
      // Whoever begins it again, it has what was left at its birth: the asking thread has called its model once.
      left ??= thread.maxCost
      assert.isBelow(left ?? 1, 1)
      assert.strictEqual(thread.maxCost, left)
      const cost = await costOf(run, threadId)
      await isSpent(run, { agent: cost, threads: cost + (await costOf(run, thread.id)) })
    }
  },
  {
    name: "an interrupt in a call",
    does: async (run) => {
      const threadId = await begin(run, await payer(run), "/wait 600s\nlate")
      const prompt = await setAside(run)
      await run.post(`/v1/threads/${threadId}/messages`, { content: text("now"), mode: "interrupt" })
      const log = await logOf(run.client, threadId, ended(2))
      assert.lengthOf(only(log, "assistant_message"), 1)
      const cost = prompt + (await costOf(run, threadId))
      await isSpent(run, { agent: cost, threads: cost })
    }
  },
  {
    name: "a turn that is cancelled in a call",
    does: async (run) => {
      const threadId = await begin(run, await payer(run), "/wait 600s\nlate")
      const prompt = await setAside(run)
      await run.post(`/v1/threads/${threadId}/cancel`)
      await logOf(run.client, threadId, ended(1))
      await isSpent(run, { agent: prompt, threads: prompt })
    }
  },
  {
    name: "a subscription's screen",
    does: async (run) => {
      const agentId = await payer(run)
      const feedId: string = (await run.post("/v1/feeds", { name: "feed" })).feed.id
      const body = { feedId, screen: { model: paid } }
      const { id } = await run.post(`/v1/agents/${agentId}/subscriptions`, body)
      await run.post(`/v1/feeds/${feedId}/messages`, { messages: [{ text: "quiet\n/say no" }] })
      await until("dismissed", async () => (await run.client.get(`/v1/subscriptions/${id}`)).body.cursor === 1)
      await run.rest()
      // Its prompt is as long in each run, and so is its answer.
      screenCost ??= await spentIn(run)
      assert.isAbove(screenCost, 0)
      await isSpent(run, { agent: screenCost, threads: 0 })
    }
  }
]

describe("whichever commit a node dies at, each call is paid for once:", () => {
  it.concurrent.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    { timeout: 240_000 },
    async (_, scenario) => withEachCrash(nodes, scenario)
  )
})
