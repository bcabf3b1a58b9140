/** What may be spent by whom others ask or review, and caps that change while a turn runs. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { afterAll, beforeAll } from "vitest"
import { sibling, toUuid } from "../../src/domain/ids.ts"
import { type Client, startServer, type TestServer } from "../setup/server.ts"
import { ended, type Event, logOf, makeAgent, makeThread, submit } from "./threadFixture.ts"
import { addToolset, call, makeWorker, only, resolveWait, waitsOf } from "./toolFixture.ts"

let server: TestServer
let other: TestServer
let alpha: Client
let toolsetId: string
let hold: string
beforeAll(async () => {
  server = await startServer({ name: "one" })
  other = await startServer({ beside: server, name: "two" })
  alpha = server.alpha
  const tools = [{ name: "hold", inputSchema: { type: "object" } }]
  const made = await addToolset(alpha, { kind: "client", tools })
  toolsetId = made.id
  hold = call(`${made.namespace}.hold`)
})
afterAll(async () => {
  await other.stop()
  await server.stop()
})

const paid = "troupe/scripted-paid"
const reservations = async () => (await server.query(sql`select * from reservations`)).rows
const failureOf = (log: ReadonlyArray<Event>) => log.at(-1)?.failureCode
const bookedOn = async (threadId: string) => {
  const { rows } = await server.query(
    sql<{ readonly amount: number }>`select amount from thread_spend where thread = ${toUuid(threadId)}::uuid`
  )
  return rows[0]?.amount ?? 0
}

describe("a thread that an asked agent asks in its turn", () => {
  it("spends within the maxCost of the first, whose agents cost nothing themselves", async () => {
    const last = await makeAgent(alpha, [paid])
    const asks = (agentId: string, message: string) => call("agents.ask", { agentId, message })
    const families = { families: ["agents"], familyExposure: "always" }
    const [middle, first] = [await makeWorker(alpha, families), await makeWorker(alpha, families)]
    // Within a JSON text, the lines of what the middle one is asked are its script.
    const threadId = await makeThread(alpha, first, { maxCost: 1e-9 })
    await submit(alpha, threadId, asks(middle, asks(last, "one")))
    const log = await logOf(alpha, threadId, ended(1))
    const [answer] = only(log, "tool_result")
    assert.isUndefined(answer?.failureCode, JSON.stringify(answer))
    const cost = await bookedOn(threadId)
    // A lone call that begins below the cap may pass it; the next one begins no more.
    assert.isAbove(cost, 1e-9)
    await submit(alpha, threadId, asks(middle, asks(last, "two")))
    const again = await logOf(alpha, threadId, ended(2))
    assert.include(JSON.stringify(only(again, "tool_result").at(-1)), "thread_cost_exceeded")
    assert.strictEqual(await bookedOn(threadId), cost)
    assert.deepStrictEqual(await reservations(), [])
    // Raised, it holds at once.
    assert.strictEqual((await alpha.patch(`/v1/threads/${threadId}`, { maxCost: 1 })).status, 200)
    await submit(alpha, threadId, asks(middle, asks(last, "three")))
    const third = await logOf(alpha, threadId, ended(3))
    assert.notInclude(JSON.stringify(only(third, "tool_result").at(-1)), "thread_cost_exceeded")
    assert.isAbove(await bookedOn(threadId), cost)
  })
})

describe("a review", () => {
  it("spends within the maxCost of the thread that it judges: without room it is no answer", async () => {
    const reviewerId = await makeWorker(alpha, { models: [paid] })
    const hook = (name: string) => ({
      name,
      point: "before_tool_call",
      processor: { type: "agent", agentId: reviewerId, instructions: `/say {"decision":"allow"}` },
      onError: "deny"
    })
    const agentId = await makeWorker(alpha, {
      families: ["thread"],
      familyExposure: "always",
      hooks: [hook("a"), hook("b")]
    })
    const threadId = await makeThread(alpha, agentId, { maxCost: 1e-9 })
    await submit(alpha, threadId, call("thread.get"))
    const log = await logOf(alpha, threadId, ended(1))
    const decisions = only(log, "hook_decision").map(({ hook }) => hook as any)
    assert.deepStrictEqual(
      decisions.map(({ decision }) => decision),
      ["allow", "deny"],
      JSON.stringify(decisions)
    )
    const ends = []
    for (const { deliveryId } of decisions) ends.push(await logOf(alpha, sibling("thread", deliveryId), ended(1)))
    assert.deepStrictEqual(ends.map(failureOf), [undefined, "thread_cost_exceeded"])
    assert.isAbove(await bookedOn(threadId), 1e-9)
    assert.deepStrictEqual(await reservations(), [])
  })
})

describe("a cap that changes while a turn runs", () => {
  const caps = [
    ["an agent's budget", "budget_exceeded"],
    ["a thread's maxCost", "thread_cost_exceeded"]
  ] as const

  /** A turn that has asked its model once, and waits; `cap` sets what it may cost, by a node that does not hold it. */
  const waiting = async (whose: (typeof caps)[number][0], limit: number) => {
    const isAgents = whose === "an agent's budget"
    const agentId = await makeWorker(alpha, { models: [paid], toolsetIds: [toolsetId] })
    const there = other.at(alpha)
    const budget = (limit: number) => ({ budget: { limit, window: "total" } })
    if (isAgents) assert.strictEqual((await alpha.patch(`/v1/agents/${agentId}`, budget(limit))).status, 200)
    const threadId = await makeThread(alpha, agentId, isAgents ? {} : { maxCost: limit })
    await submit(alpha, threadId, hold)
    const [wait = assert.fail()] = await waitsOf(alpha, threadId)
    const cap = async (to: number) => {
      const changed = await (isAgents
        ? there.patch(`/v1/agents/${agentId}`, budget(to))
        : there.patch(`/v1/threads/${threadId}`, { maxCost: to }))
      assert.strictEqual(changed.status, 200, changed.text)
    }
    const goesOn = async () => {
      await resolveWait(alpha, threadId, wait.id, { type: "tool_result", output: 1 })
      return logOf(alpha, threadId, ended(1))
    }
    return { cap, goesOn }
  }

  it.each(caps)("lets the next call begin where it was raised: %s", async (whose, code) => {
    const stuck = await waiting(whose, 1e-9)
    assert.strictEqual(failureOf(await stuck.goesOn()), code)
    const raised = await waiting(whose, 1e-9)
    await raised.cap(1)
    assert.strictEqual((await raised.goesOn()).at(-1)?.type, "turn_completed")
  })

  it.each(caps)("lets none begin where it was lowered below what is spent: %s", async (whose, code) => {
    const lowered = await waiting(whose, 1)
    await lowered.cap(1e-9)
    assert.strictEqual(failureOf(await lowered.goesOn()), code)
  })
})

describe("a maxCost below what the thread has cost", () => {
  it.each([
    ["that comes afterwards", undefined],
    ["that was more before", 1]
  ])("%s lets no further call begin, on no node; a higher one does", async (_, before) => {
    const agentId = await makeAgent(alpha, [paid])
    const threadId = await makeThread(alpha, agentId, before === undefined ? {} : { maxCost: before })
    await submit(alpha, threadId, "one")
    await logOf(alpha, threadId, ended(1))
    const there = other.at(alpha)
    assert.strictEqual((await there.patch(`/v1/threads/${threadId}`, { maxCost: 1e-9 })).status, 200)
    for (const client of [alpha, there]) {
      const sent = await client.post(`/v1/threads/${threadId}/messages`, { content: [{ type: "text", text: "two" }] })
      // The node that holds the thread may not know yet: then the turn fails, before its model is asked.
      if (sent.status === 201) {
        const isOver = ({ turnId, type }: Event) => turnId === sent.body.turnId && /^turn_/.test(type)
        const log = await logOf(alpha, threadId, (log) => log.some(isOver))
        assert.strictEqual(failureOf(log), "thread_cost_exceeded")
      } else assert.deepStrictEqual([sent.status, sent.body.error], [402, "thread_cost_exceeded"])
    }
    assert.strictEqual((await there.patch(`/v1/threads/${threadId}`, { maxCost: 1 })).status, 200)
    await submit(alpha, threadId, "three")
    const log = await logOf(alpha, threadId, (log) => only(log, "turn_completed").length === 2)
    // Of the first turn and of this one.
    assert.lengthOf(only(log, "assistant_message"), 2)
  })
})
