/** What may be spent by whom others ask or review, and caps that change while a turn runs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sql } from "kysely"
import { afterAll, beforeAll } from "vitest"
import { Budgets } from "../../src/agents/Budgets.ts"
import { sibling, toUuid } from "../../src/domain/ids.ts"
import { type Client, startServer, type TestServer } from "../setup/server.ts"
import { until } from "../waiting.ts"
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

describe("a thread that a question or a review begins", () => {
  const freely = { families: ["agents", "thread"], familyExposure: "always" }
  const asking = { ...freely, models: [paid] }
  const asks = (agentId: string, message: string) => call("agents.ask", { agentId, message })
  const detailOf = async (threadId: string) => (await alpha.get(`/v1/threads/${threadId}`)).body
  const capOf = async (threadId: string): Promise<number | undefined> => (await detailOf(threadId)).thread.maxCost
  const costOf = async (threadId: string): Promise<number> => (await detailOf(threadId)).usage.estimatedCost
  const threadsOf = async (agentId: string): Promise<ReadonlyArray<string>> =>
    (await alpha.get(`/v1/threads?agentId=${agentId}`)).body.threads.map((row: any) => row.thread.id)
  const begun = (agentId: string) => until("it is asked", async () => (await threadsOf(agentId))[0])
  const askedIn = (log: ReadonlyArray<Event>) => String((only(log, "tool_result").at(-1)?.toolOutput as any)?.threadId)

  it("shows what those that asked had left at its birth, up the chain, and keeps it", async () => {
    const last = await makeWorker(alpha, { models: [paid], toolsetIds: [toolsetId] })
    const [middle, first] = [await makeWorker(alpha, asking), await makeWorker(alpha, asking)]
    const threadId = await makeThread(alpha, first, { maxCost: 0.5 })
    await submit(alpha, threadId, asks(middle, asks(last, hold)))
    const [inner, innermost] = [await begun(middle), await begun(last)]
    const [wait = assert.fail()] = await waitsOf(alpha, innermost)
    // Each has called its model once before it asked.
    const [cost, innerCost] = [await costOf(threadId), await costOf(inner)]
    assert.isAbove(Math.min(cost, innerCost), 0)
    const caps = [await capOf(inner), await capOf(innermost)] as const
    assert.closeTo(caps[0] ?? 0, 0.5 - cost, 1e-9)
    assert.closeTo(caps[1] ?? 0, 0.5 - cost - innerCost, 1e-9)
    // Another node takes the asking thread up and repeats its job, with less left by then.
    assert.strictEqual((await alpha.patch(`/v1/threads/${threadId}`, { maxCost: 0.25 })).status, 200)
    await server.query(sql`update heads set owner = null, epoch = epoch + 1 where id = ${toUuid(threadId)}`)
    await submit(other.at(alpha), threadId, "and then", { mode: "queue" })
    await resolveWait(alpha, innermost, wait.id, { type: "tool_result", output: 1 })
    const log = await logOf(alpha, threadId, ended(2))
    assert.strictEqual(askedIn(log), inner)
    assert.deepStrictEqual(await threadsOf(middle), [inner])
    assert.deepStrictEqual([await capOf(inner), await capOf(innermost)], [...caps])
  }, 30_000)

  it("has no maxCost where none of them has one, and what is left of one that comes later", async () => {
    const [answers, asker] = [await makeAgent(alpha, [paid]), await makeWorker(alpha, freely)]
    const threadId = await makeThread(alpha, asker)
    await submit(alpha, threadId, asks(answers, "one"))
    assert.isUndefined(await capOf(askedIn(await logOf(alpha, threadId, ended(1)))))
    // Nothing was set aside under a cap so far: only the thread's head knows what it has cost.
    const cost = await costOf(threadId)
    assert.isAbove(cost, 0)
    assert.strictEqual((await alpha.patch(`/v1/threads/${threadId}`, { maxCost: 0.5 })).status, 200)
    await submit(alpha, threadId, asks(answers, "two"))
    assert.closeTo((await capOf(askedIn(await logOf(alpha, threadId, ended(2))))) ?? 0, 0.5 - cost, 1e-9)
  })

  it("goes by whichever of those that asked has least, in its own workspace", async () => {
    const agentId = await makeAgent(alpha)
    const chain: Array<string> = []
    for (const cap of [{ maxCost: 0.25 }, {}, { maxCost: 0.125 }, { maxCost: 0.5 }])
      chain.push(await makeThread(alpha, agentId, cap))
    const left = (workspace: string) =>
      server.runtime.runPromise(Effect.flatMap(Budgets, ({ left }) => left(workspace, chain)))
    assert.strictEqual(await left(server.workspaces.alpha), 0.125)
    assert.isUndefined(await left(server.workspaces.beta))
  })

  it("shows it of reviews too, of which each leaves less to the next", async () => {
    const reviewerId = await makeWorker(alpha, { models: [paid] })
    const processor = { type: "agent", agentId: reviewerId, instructions: `/say {"decision":"allow"}` }
    const hooks = ["a", "b"].map((name) => ({ name, point: "before_tool_call", processor }))
    const threadId = await makeThread(alpha, await makeWorker(alpha, { ...asking, hooks }), { maxCost: 0.5 })
    await submit(alpha, threadId, call("thread.get"))
    const log = await logOf(alpha, threadId, ended(1))
    const [one, two] = only(log, "hook_decision").map(({ hook }) => sibling("thread", (hook as any).deliveryId))
    const [first, second] = [await capOf(one ?? ""), await capOf(two ?? "")]
    assert.isBelow(first ?? 1, 0.5)
    assert.closeTo(second ?? 0, (first ?? 0) - (await costOf(one ?? "")), 1e-9)
  })

  it("is capped by its own from then on, which a person may raise", async () => {
    const answers = await makeAgent(alpha, [paid])
    const threadId = await makeThread(alpha, await makeWorker(alpha, freely), { maxCost: 1e-9 })
    await submit(alpha, threadId, asks(answers, "one"))
    const asked = askedIn(await logOf(alpha, threadId, ended(1)))
    assert.strictEqual(await capOf(asked), 1e-9)
    assert.strictEqual((await alpha.patch(`/v1/threads/${threadId}`, { maxCost: 1 })).status, 200)
    const send = () => alpha.post(`/v1/threads/${asked}/messages`, { content: [{ type: "text", text: "two" }] })
    const refused = await send()
    assert.deepStrictEqual([refused.status, refused.body.error], [402, "thread_cost_exceeded"])
    assert.strictEqual((await alpha.patch(`/v1/threads/${asked}`, { maxCost: 1 })).status, 200)
    assert.strictEqual((await send()).status, 201)
    assert.strictEqual((await logOf(alpha, asked, ended(2))).at(-1)?.type, "turn_completed")
  })

  it("has none where nothing was left: those that asked refuse its call until one may cost more", async () => {
    const answers = await makeAgent(alpha, [paid])
    const threadId = await makeThread(alpha, await makeWorker(alpha, freely), { maxCost: 1e-9 })
    await submit(alpha, threadId, asks(answers, "one"))
    await logOf(alpha, threadId, ended(1))
    const before = await threadsOf(answers)
    // Its asker's own models are free, so that it goes on; a paid one is refused in the thread that is asked.
    await submit(alpha, threadId, asks(answers, "two"))
    await logOf(alpha, threadId, ended(2))
    const [asked = assert.fail()] = (await threadsOf(answers)).filter((id) => !before.includes(id))
    assert.strictEqual(failureOf(await logOf(alpha, asked, ended(1))), "thread_cost_exceeded")
    assert.isUndefined(await capOf(asked))
    assert.strictEqual((await alpha.patch(`/v1/threads/${asked}`, { title: "still to be edited" })).status, 200)
    assert.strictEqual((await alpha.patch(`/v1/threads/${threadId}`, { maxCost: Number.MAX_VALUE })).status, 200)
    assert.strictEqual((await alpha.post(`/v1/threads/${asked}/retry`)).status, 201)
    assert.strictEqual((await logOf(alpha, asked, ended(2))).at(-1)?.type, "turn_completed")
    // As much as a number holds is left to the next one.
    await submit(alpha, threadId, asks(answers, "three"))
    assert.strictEqual(await capOf(askedIn(await logOf(alpha, threadId, ended(3)))), Number.MAX_VALUE)
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
