/**
 * What one workspace may have under way on a node, over HTTP: what stands in line says so, comes to its end, and holds
 * up no other workspace (api: bulkheads).
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { sql } from "kysely"
import { toUuid } from "../../src/domain/ids.ts"
import { during } from "../setup/during.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { ended, logOf, submit, text } from "./threadFixture.ts"
import { assertSound, begin, call, makeWorker, outcomes, told, turnOf } from "./toolFixture.ts"

const families = ["agents"]
const found = call("tool_search", { query: "agents" })

describe("with one turn slot and one call slot", async () => {
  const server = await during(startServer({ slots: { turns: 1, calls: 1 } }))
  afterAll(() => assertSound(server))

  it("a chain of agents that ask agents ends", async () => {
    let agentId = await makeWorker(server.alpha, { families })
    let message = "/say the end"
    for (let i = 0; i < 4; i++) {
      message = [found, "/then", call("agents.ask", { agentId, message })].join("\n")
      agentId = await makeWorker(server.alpha, { families })
    }
    const log = await turnOf(server.alpha, agentId, message)
    assert.strictEqual(log.at(-1)?.type, "turn_completed")
    const [, answer] = outcomes(log)
    assert.include(JSON.stringify(answer), "the end")
  })

  it("ten turns with an agent hook end", async () => {
    const reviewer = await makeWorker(server.alpha)
    const hooks = [
      {
        name: "review",
        point: "before_turn_start",
        processor: { type: "agent", agentId: reviewer, instructions: `/say {"decision":"allow"}` }
      }
    ]
    const agentId = await makeWorker(server.alpha, { hooks })
    const logs = await Promise.all(Array.from({ length: 10 }, (_, i) => turnOf(server.alpha, agentId, `/say ${i}`)))
    for (const log of logs)
      assert.deepStrictEqual(told(log), ["user_message", "hook_decision: allow", "assistant_message", "turn_completed"])
  })

  it("ten turns end whose calls ask another agent, two at once", async () => {
    const other = await makeWorker(server.alpha)
    const agentId = await makeWorker(server.alpha, { families })
    const ask = call("agents.ask", { agentId: other, message: "/say yes" })
    const logs = await Promise.all(
      Array.from({ length: 10 }, () => turnOf(server.alpha, agentId, found, "/then", ask, ask))
    )
    for (const log of logs) assert.strictEqual(log.at(-1)?.type, "turn_completed")
  })
})

describe("Thread detail", async () => {
  const options = { slots: { turns: 2, calls: 1 }, leaseTtlMs: 20_000 }
  const server = await during(startServer(options))
  const beside = await during(startServer({ ...options, beside: server, name: "beside" }))
  afterAll(() => assertSound(server))

  const waitingFor = async (client: TestServer["alpha"], threadId: string) =>
    (await client.get(`/v1/threads/${threadId}`)).body.waitingFor

  it("says what a turn in line waits for, on every node, and goes on by itself; other workspaces do not notice", async () => {
    const agentId = await makeWorker(server.alpha)
    const [runs, calls, turns] = [
      await begin(server.alpha, agentId, "/wait 600s"),
      await begin(server.alpha, agentId, "/say two"),
      await begin(server.alpha, agentId, "/say three")
    ]
    assert.isUndefined(await waitingFor(server.alpha, runs))
    assert.strictEqual(await waitingFor(server.alpha, calls), "call_slot")
    assert.strictEqual(await waitingFor(server.alpha, turns), "turn_slot")
    const patched = await server.alpha.patch(`/v1/threads/${turns}`, { title: "waits" })
    assert.deepInclude(patched.body, { status: "running", waitingFor: "turn_slot" })

    const there = beside.at(server.alpha)
    await eventually(async () => (await waitingFor(there, turns)) === "turn_slot", "the other node says so")
    assert.strictEqual(await waitingFor(there, calls), "call_slot")
    assert.isUndefined(await waitingFor(there, runs))

    assert.deepStrictEqual(told(await turnOf(server.beta, await makeWorker(server.beta), "/say hello")), [
      "user_message",
      "assistant_message",
      "turn_completed"
    ])

    assert.strictEqual((await server.alpha.post(`/v1/threads/${runs}/cancel`)).status, 200)
    for (const threadId of [calls, turns]) {
      await logOf(server.alpha, threadId, ended(1))
      assert.isUndefined(await waitingFor(server.alpha, threadId))
    }
  })

  it("is in OpenAPI with what it may say", async () => {
    const { body } = await server.anonymous.get("/v1/openapi.json")
    assert.deepStrictEqual(body.components.schemas.ThreadDetail.properties.waitingFor.enum, ["turn_slot", "call_slot"])
    assert.notInclude(body.components.schemas.ThreadDetail.required, "waitingFor")
  })

  it("of a thread whose mailbox is full stays readable; its commands are 429 until there is room", async () => {
    const threadId = await begin(server.beta, await makeWorker(server.beta), "/wait 600s")
    let asked: Promise<ReadonlyArray<Awaited<ReturnType<typeof server.beta.post>>>> = Promise.resolve([])
    // Its row is locked for a moment: an append waits for that, and everything else waits for the append.
    await server.runtime.runPromise(
      server.database.atomically("test.lock", async (tx) => {
        await sql`select from heads where id = ${toUuid(threadId)}::uuid for update`.execute(tx)
        asked = Promise.all(
          Array.from({ length: 400 }, (_, i) =>
            server.beta.post(`/v1/threads/${threadId}/messages`, { content: text(`m${i}`) })
          )
        )
        assert.strictEqual((await server.beta.get(`/v1/threads/${threadId}`)).status, 200)
        await sql`select pg_sleep(1)`.execute(tx)
      })
    )
    const answers = await asked
    const full = answers.filter(({ body }) => body.code === "mailbox_full")
    assert.isAbove(full.length, 0)
    for (const { body, headers, status } of full) {
      assert.strictEqual(status, 429)
      assert.deepInclude(body, { error: "rate_limited", code: "mailbox_full", retryAfterSeconds: 1 })
      assert.strictEqual(headers.get("retry-after"), "1")
    }
    for (const { body, status } of answers)
      assert.isTrue(
        status === 201 || body.code === "mailbox_full" || body.error === "queue_full",
        `${status} ${body.error}`
      )
    assert.strictEqual((await server.beta.post(`/v1/threads/${threadId}/cancel`, { clearQueue: true })).status, 200)
    await submit(server.beta, threadId, "/say there is room")
    await logOf(server.beta, threadId, (log) => JSON.stringify(log).includes("there is room"))
  })
})

describe("a line that is full", () => {
  it("takes no message that would begin one more turn: 429 turns_waiting, until there is room", async () => {
    const server = await startServer({ slots: { turns: 1, calls: 0, line: 1 } })
    const agentId = await makeWorker(server.alpha)
    const runs = await begin(server.alpha, agentId, "/wait 600s")
    const waits = await begin(server.alpha, agentId, "/say two")
    const refused = await server.alpha.post("/v1/threads", { agentId, message: { content: text("three") } })
    assert.strictEqual(refused.status, 429)
    assert.deepInclude(refused.body, { error: "rate_limited", code: "turns_waiting", retryAfterSeconds: 5 })
    assert.strictEqual(refused.headers.get("retry-after"), "5")
    assert.strictEqual((await server.alpha.post(`/v1/threads/${runs}/cancel`)).status, 200)
    await logOf(server.alpha, waits, ended(1))
    await turnOf(server.alpha, agentId, "/say three")
    await assertSound(server)
    await server.stop()
  })
})
