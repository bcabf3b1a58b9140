/** Budgets hold: of agents, of threads, of threads that ask others; over nodes and turns that run at once. */
import { assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { Effect } from "effect"
import { Budgets, screenReservationOf } from "../../src/agents/Budgets.ts"
import { rollUpSpend, settleOverdue, totalSpend } from "../../src/agents/budgetChores.ts"
import type { Database } from "../../src/database/Database.ts"
import type { Lease } from "../../src/journal/Lease.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { assertRefused } from "./refusals.ts"
import { ended, type Event, logOf, makeAgent, makeThread, submit, text } from "./threadFixture.ts"
import { call, makeWorker, only } from "./toolFixture.ts"

const server = await during(startServer({ name: "one" }))
const other = await during(startServer({ beside: server, name: "two" }))
const third = await during(startServer({ beside: server, name: "three" }))
const alpha = server.alpha

/** How often the race for a budget is run. */
const races = Number(process.env.TROUPE_RACES ?? 1)

const paid = "troupe/scripted-paid"
const free = "troupe/scripted"
/** What is set aside for a call is nearly all for what it might write: 8,192 tokens at 2 USD a million. */
const foreseen = 0.016_384

const agentWith = (budget: object | null, models: ReadonlyArray<string> = [paid]) =>
  makeAgent(alpha, models, budget === null ? {} : { budget })
const spentBy = async (agentId: string) => {
  const threadId = await makeThread(alpha, agentId)
  return (await alpha.get(`/v1/threads/${threadId}`)).body.budgetSpend.spent as number
}
const reservations = async () => (await server.query(sql`select * from reservations`)).rows
const costOf = async (threadId: string) =>
  (await alpha.get(`/v1/threads/${threadId}`)).body.usage.estimatedCost as number
const failures = (log: ReadonlyArray<Event>) => only(log, "turn_failed").map(({ failureCode }) => failureCode)
const send = (threadId: string, words: string, more: object = {}) =>
  alpha.post(`/v1/threads/${threadId}/messages`, { content: text(words), ...more })

describe("an agent's budget", () => {
  it.each([
    ["24h", true],
    ["7d", true],
    ["total", false]
  ])("of %s refuses what comes once it is spent, and says when to come back if ever", async (window, comesBack) => {
    const agentId = await agentWith({ limit: 1e-9, window })
    const threadId = await makeThread(alpha, agentId)
    // A lone call that begins below the cap may pass it.
    await submit(alpha, threadId, "one")
    await logOf(alpha, threadId, ended(1))
    const spent = await costOf(threadId)
    assert.isAbove(spent, 0)
    const refused = await send(threadId, "two")
    assertRefused(refused, 402, "budget_exceeded")
    const { retryAfterSeconds } = refused.body
    if (comesBack) {
      const length = window === "24h" ? 86_400 : 7 * 86_400
      assert.isAtMost(Math.abs(retryAfterSeconds - length), 61)
      assert.strictEqual(refused.headers.get("retry-after"), String(retryAfterSeconds))
    } else assert.isUndefined(retryAfterSeconds)
    assertRefused(await alpha.post("/v1/threads", { agentId, message: { content: text("x") } }), 402, "budget_exceeded")
    assert.strictEqual(await spentBy(agentId), spent)
    assert.deepStrictEqual(await reservations(), [])
  })

  it("of nothing leaves the models that cost nothing; one below nothing is none", async () => {
    const nothing = { limit: 0, window: "total" }
    const priced = await makeThread(alpha, await agentWith(nothing))
    assertRefused(await send(priced, "x"), 402, "budget_exceeded")
    const threadId = await makeThread(alpha, await agentWith(nothing, [paid, free]))
    await submit(alpha, threadId, "x")
    const log = await logOf(alpha, threadId, ended(1))
    assert.strictEqual(only(log, "assistant_message")[0]?.modelId, free)
    const { profileId } = (await alpha.get(`/v1/agents/${await agentWith(null)}`)).body.agent
    const below = { name: "A", profileId, budget: { limit: -1e-9, window: "total" } }
    assertRefused(await alpha.post("/v1/agents", below), 400, "invalid_request")
  })

  it("that is reached within a turn fails it; raised, it holds at once, and a retry goes on", async () => {
    const agentId = await agentWith({ limit: 1e-6, window: "total" })
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, call("nothing"))
    assert.deepStrictEqual(failures(await logOf(alpha, threadId, ended(1))), ["budget_exceeded"])
    assertRefused(await alpha.post(`/v1/threads/${threadId}/retry`), 402, "budget_exceeded")
    const raised = await alpha.patch(`/v1/agents/${agentId}`, { budget: { limit: 1, window: "total" } })
    assert.strictEqual(raised.status, 200)
    assert.strictEqual((await alpha.post(`/v1/threads/${threadId}/retry`)).status, 201)
    const log = await logOf(alpha, threadId, ended(2))
    assert.strictEqual(log.at(-1)?.type, "turn_completed")
  })

  it(
    "holds for turns that run at once on three nodes: no more calls begin than there is room for",
    async () => {
      const room = 10
      const limit = room * foreseen + 0.001
      const clients = [alpha, other.at(alpha), third.at(alpha)] as const
      const at = (i: number) => clients[i % 3] ?? alpha
      for (let race = 0; race < races; race++) {
        const agentId = await agentWith({ limit, window: "total" })
        const threads = await Promise.all(Array.from({ length: 50 }, (_, i) => makeThread(at(i), agentId)))
        await Promise.all(threads.map((threadId, i) => submit(at(i), threadId, `/wait 1500ms\nturn ${i}`)))
        const logs = await Promise.all(threads.map((threadId) => logOf(alpha, threadId, ended(1))))
        const completed = logs.filter((log) => log.at(-1)?.type === "turn_completed").length
        // What has ended makes room: a turn that begins late may find some.
        assert.isAtLeast(completed, room)
        assert.deepStrictEqual([...new Set(logs.flatMap(failures))], ["budget_exceeded"])
        assert.isAtMost(await spentBy(agentId), limit)
        assert.deepStrictEqual(await reservations(), [])
      }
    },
    120_000 * races
  )

  it("is set aside exactly where the profile bounds what a response may have", async () => {
    const bounded = async (maxOutputTokens: number, limit: number) => {
      const sampling = { maxOutputTokens }
      const made = await alpha.post("/v1/profiles", { name: "Bounded", models: [paid], sampling })
      assert.deepStrictEqual([made.status, made.body.profile?.sampling], [201, sampling], made.text)
      const budget = { limit, window: "total" }
      const agent = await alpha.post("/v1/agents", { name: "A", profileId: made.body.profile.id, budget })
      return agent.body.agent.id as string
    }
    // Two calls of ten tokens fit, beside their prompts.
    const agentId = await bounded(10, 2 * (10 * 2e-6 + 10e-6))
    const threads = await Promise.all([1, 2, 3].map(() => makeThread(alpha, agentId)))
    for (const threadId of threads) await submit(alpha, threadId, "/wait 1s\n/say ok")
    const logs = await Promise.all(threads.map((threadId) => logOf(alpha, threadId, ended(1))))
    assert.strictEqual(logs.filter((log) => log.at(-1)?.type === "turn_completed").length, 2)
    for (const wrong of [
      { maxOutputTokens: 0 },
      { maxOutputTokens: 1_000_001 },
      { temperature: 2.1 },
      { reasoning: "max" }
    ])
      assertRefused(
        await alpha.post("/v1/profiles", { name: "P", models: [paid], sampling: wrong }),
        400,
        "invalid_request"
      )
  })

  it("books a call that was cut off with its prompt's price", async () => {
    const agentId = await agentWith({ limit: 1, window: "total" })
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "/wait 60s\nnever")
    await eventually(async () => (await reservations()).length > 0, "it is reserved")
    const [reserved] = (await reservations()) as ReadonlyArray<{ readonly prompt: number }>
    assert.isAbove(reserved?.prompt ?? 0, 0)
    assert.strictEqual((await alpha.post(`/v1/threads/${threadId}/cancel`)).status, 200)
    assert.deepStrictEqual(await reservations(), [])
    assert.strictEqual(await spentBy(agentId), reserved?.prompt)
  })

  it("finds its own reservation when a job is repeated: a turn that another node takes over reserves nothing anew", async () => {
    const agentId = await agentWith({ limit: foreseen + 0.0001, window: "total" })
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "/wait 2s\nonce")
    await eventually(async () => (await reservations()).length > 0, "it is reserved")
    const before = await reservations()
    // As if its node had died: another one loads it, and asks the model again.
    await server.query(sql`update heads set owner = null, epoch = epoch + 1 where id = ${toUuid(threadId)}`)
    await other.at(alpha).post(`/v1/threads/${threadId}/messages`, { content: text("and then"), mode: "queue" })
    assert.deepStrictEqual(await reservations(), before)
    const log = await logOf(alpha, threadId, (log) => log.some(({ type }) => type === "turn_completed"))
    assert.deepStrictEqual(failures(log), [])
  }, 30_000)
})

describe("a thread's maxCost", () => {
  it("refuses what comes once the thread has cost it; raised, it holds at once", async () => {
    const agentId = await agentWith(null)
    const threadId = await makeThread(alpha, agentId, { maxCost: 1e-9 })
    await submit(alpha, threadId, "one")
    await logOf(alpha, threadId, ended(1))
    assertRefused(await send(threadId, "two"), 402, "thread_cost_exceeded")
    for (const mode of ["steer", "interrupt"])
      assertRefused(await send(threadId, "two", { mode }), 402, "thread_cost_exceeded")
    assert.strictEqual((await alpha.patch(`/v1/threads/${threadId}`, { maxCost: 1 })).status, 200)
    await submit(alpha, threadId, "two")
    assert.strictEqual((await logOf(alpha, threadId, ended(2))).at(-1)?.type, "turn_completed")
    // Lowered below what it has cost.
    assert.strictEqual((await alpha.patch(`/v1/threads/${threadId}`, { maxCost: 1e-8 })).status, 200)
    assertRefused(await send(threadId, "three"), 402, "thread_cost_exceeded")
  })

  it("that is reached within a turn fails it", async () => {
    const threadId = await makeThread(alpha, await agentWith(null), { maxCost: 1e-6 })
    await submit(alpha, threadId, call("nothing"))
    assert.deepStrictEqual(failures(await logOf(alpha, threadId, ended(1))), ["thread_cost_exceeded"])
  })

  it("is what the questions of the thread spend within, also when they are asked at once", async () => {
    const asked = await agentWith(null)
    const asker = await makeWorker(alpha, { families: ["agents"], limits: { maxParallelTools: 5 } })
    const threadId = await makeThread(alpha, asker, { maxCost: foreseen + 0.001 })
    const ask = (i: number) => call("agents.ask", { agentId: asked, message: `/wait 1s\nquestion ${i}` })
    await submit(
      alpha,
      threadId,
      [call("tool_search", { query: "agents" }), "/then", ...[1, 2, 3, 4, 5].map(ask)].join("\n")
    )
    const log = await logOf(alpha, threadId, ended(1))
    const answers = only(log, "tool_result").slice(1)
    assert.strictEqual(answers.filter(({ failureCode }) => failureCode === undefined).length, 1)
    for (const { failureText } of answers.filter(({ failureCode }) => failureCode !== undefined))
      assert.include(failureText, "thread_cost_exceeded")
    assert.deepStrictEqual(await reservations(), [])
  })
})

describe("a thread's maxCost that is set after it has cost something", () => {
  it("counts what the thread had cost before, and what its questions cost since", async () => {
    const agentId = await agentWith(null)
    const threadId = await makeThread(alpha, agentId)
    assert.strictEqual((await alpha.patch(`/v1/threads/${threadId}`, { maxCost: 0.1 })).status, 200)
    const { workspaces } = server
    const reserve = (look: number) =>
      server.runtime.runPromise(
        Effect.flatMap(Budgets, ({ reserve }) =>
          reserve({
            workspace: workspaces.alpha,
            id: screenReservationOf({ id: threadId, look }),
            agentId,
            threadIds: [threadId],
            amount: 0.01,
            prompt: 0,
            known: 0.05
          })
        )
      )
    assert.strictEqual(await reserve(1), "reserved")
    // A question's call is told of: its append books it on the thread that asked, whose head knows nothing of it yet.
    await server.query(sql`delete from reservations where subject = ${toUuid(agentId)}`)
    await server.query(sql`insert into thread_spend (workspace, thread, amount)
      values (${toUuid(workspaces.alpha)}, ${toUuid(threadId)}, 0.05)
      on conflict (workspace, thread) do update set amount = thread_spend.amount + excluded.amount`)
    assert.strictEqual(await reserve(2), "thread_cost_exceeded")
  })
})

describe("chores of budgets", () => {
  const space = () => toUuid(server.workspaces.alpha)
  const minute = () => Math.floor(Date.now() / 60_000)
  const rowsOf = async (agentId: string) =>
    (
      await server.query(
        sql`select minute, amount from spend_by_node where subject = ${toUuid(agentId)} order by minute`
      )
    ).rows

  it("book a reservation that nobody told of after 15 minutes, with its prompt's price", async () => {
    const agentId = await agentWith({ limit: 1, window: "total" })
    const reserve = (minutes: number) =>
      server.query(sql`insert into reservations (workspace, id, subject, threads, amount, prompt, created_at)
        values (${space()}, gen_random_uuid(), ${toUuid(agentId)}, array[gen_random_uuid()], 0.5, 0.25,
          now() - make_interval(mins => ${minutes}))`)
    await reserve(14)
    await reserve(16)
    assert.strictEqual(await server.runtime.runPromise(settleOverdue()), 1)
    assert.strictEqual(await server.runtime.runPromise(settleOverdue()), 0)
    assert.deepStrictEqual(
      (await rowsOf(agentId)).map((row: any) => row.amount),
      [0.25]
    )
    assert.strictEqual((await reservations()).length, 1)
    await server.query(sql`delete from reservations`)
  })

  it("roll minutes up: into hours after 25 of them, into one row after eight days; the sum stays", async () => {
    const agentId = await agentWith({ limit: 1, window: "total" })
    const now = minute()
    const [recent, old, ancient] = [now - 1_400, now - 2_000, now - 20_000]
    const book = (at: number, node: number) =>
      server.query(sql`insert into spend_by_node (workspace, subject, minute, node, amount) values (${space()},
        ${toUuid(agentId)}, ${at}, ${`00000000-0000-4000-8000-00000000000${node}`}, 0.125)`)
    for (const at of [recent, recent + 1, old - (old % 60), old - (old % 60) + 7, ancient, ancient + 90])
      for (const node of [1, 2]) await book(at, node)
    const rolled = await server.runtime.runPromise(rollUpSpend())
    assert.strictEqual(rolled, 8)
    assert.deepStrictEqual(await rowsOf(agentId), [
      { minute: 0, amount: 0.5 },
      { minute: old - (old % 60), amount: 0.5 },
      ...[recent, recent, recent + 1, recent + 1].map((minute) => ({ minute, amount: 0.125 }))
    ])
    assert.strictEqual(await server.runtime.runPromise(rollUpSpend()), 0)
    assert.strictEqual(await spentBy(agentId), 1.5)
  })
})

describe("what an agent with a budget for all time has spent", () => {
  const reserveFor = (agentId: string, threadId: string, amount: number) =>
    server.runtime.runPromise(
      Effect.flatMap(Budgets, ({ reserve }) =>
        reserve({
          workspace: server.workspaces.alpha,
          id: screenReservationOf({ id: threadId, look: ++looks }),
          agentId,
          threadIds: [threadId],
          amount,
          prompt: 0,
          known: 0
        })
      )
    )
  let looks = 0
  /** To the last of what is left there is room for, and for no more. */
  const isLeft = async (agentId: string, threadId: string, left: number) => {
    assert.strictEqual(await reserveFor(agentId, threadId, 1e-6), "reserved")
    assert.strictEqual(await reserveFor(agentId, threadId, left), "budget_exceeded")
    assert.strictEqual(await reserveFor(agentId, threadId, left - 2e-6), "reserved")
    await server.query(sql`delete from reservations where subject = ${toUuid(agentId)}`)
  }

  it("is summed up to an hour ago, and counts with what came since, also once that is rolled up or the sum is old", async () => {
    const agentId = await agentWith({ limit: 10, window: "total" })
    const threadId = await makeThread(alpha, agentId)
    const now = Math.floor(Date.now() / 60_000)
    const book = (minutesAgo: number) =>
      server.query(sql`insert into spend_by_node (workspace, subject, minute, node, amount) values
        (${toUuid(server.workspaces.alpha)}, ${toUuid(agentId)}, ${now - minutesAgo},
          '00000000-0000-4000-8000-000000000001', 0.125)`)
    const total = async () =>
      (await server.query(sql`select until, amount from spend_totals where subject = ${toUuid(agentId)}`)).rows[0] as
        | { readonly until: number; readonly amount: number }
        | undefined
    const work = <A, E>(effect: Effect.Effect<A, E, Database | Lease>) => server.runtime.runPromise(effect)
    for (const minutesAgo of [20_000, 2_000, 1_000, 100, 5]) await book(minutesAgo)
    await isLeft(agentId, threadId, 10 - 5 * 0.125)
    assert.isAtLeast(await work(totalSpend()), 1)
    assert.strictEqual((await total())?.amount, 4 * 0.125)
    await isLeft(agentId, threadId, 10 - 5 * 0.125)
    await work(rollUpSpend())
    await isLeft(agentId, threadId, 10 - 5 * 0.125)
    // It goes on from where it was, and is left alone where nothing has come.
    await server.query(sql`update spend_totals set until = until - 20 where subject = ${toUuid(agentId)}`)
    assert.strictEqual(await work(totalSpend()), 0)
    await book(70)
    await isLeft(agentId, threadId, 10 - 6 * 0.125)
    assert.strictEqual(await work(totalSpend()), 1)
    assert.strictEqual((await total())?.amount, 5 * 0.125)
    await isLeft(agentId, threadId, 10 - 6 * 0.125)
    // Of the day before: what came since may be rolled up already.
    await server.query(
      sql`update spend_totals set until = ${now - 1_500}, amount = 0 where subject = ${toUuid(agentId)}`
    )
    await isLeft(agentId, threadId, 10 - 6 * 0.125)
    assert.strictEqual(await work(totalSpend()), 1)
    assert.strictEqual((await total())?.amount, 5 * 0.125)
    await isLeft(agentId, threadId, 10 - 6 * 0.125)
  })
})

describe("a turn without caps", () => {
  it("books each response as it comes, and no more at its end", async () => {
    const agentId = await agentWith(null)
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, [call("nothing"), "/then", call("nothing"), "/wait 50ms"].join("\n"))
    const log = await logOf(alpha, threadId, ended(1))
    assert.isAtLeast(only(log, "tool_result").length, 2)
    assert.strictEqual(await spentBy(agentId), await costOf(threadId))
  })

  it("of a model without a price sets nothing aside", async () => {
    const agentId = await agentWith({ limit: 1, window: "24h" }, [free])
    const threadId = await makeThread(alpha, agentId)
    await submit(alpha, threadId, "x")
    await logOf(alpha, threadId, ended(1))
    assert.strictEqual(await spentBy(agentId), 0)
    assert.deepStrictEqual(await reservations(), [])
  })
})
