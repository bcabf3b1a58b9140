/** Agents that ask other agents, as a model does it, also over a crash. */
import { assert, describe, it } from "@effect/vitest"
import { begunBy } from "../../actors/thread/tools/derivedIds.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { eventually } from "../waiting.ts"
import { ended, type Event, logOf } from "./threadFixture.ts"
import {
  addRole,
  begin,
  call,
  failures,
  leavesMemory,
  loseLease,
  makeWorker,
  only,
  outcomes,
  resolveWait,
  takenOver,
  told,
  turnOf,
  waitsOf
} from "./toolFixture.ts"
import { found, familyStand } from "./familyFixture.ts"

const { server, worker } = await familyStand()

/** An agent that asks, and the log of its thread. */
const asking = async (message: string, answerer: object = {}, asker: object = {}) => {
  const other = await makeWorker(server.alpha, answerer)
  const agentId = await worker(asker)
  const threadId = await begin(server.alpha, agentId, found, "/then", call("agents.ask", { agentId: other, message }))
  return { other, agentId, threadId, log: () => logOf(server.alpha, threadId, ended(1)) }
}
const threadsOf = async (agentId: string): Promise<ReadonlyArray<string>> =>
  (await server.alpha.get(`/v1/threads?agentId=${agentId}`)).body.threads.map(
    ({ thread }: { thread: { id: string } }) => thread.id
  )
const spentBy = async (agentId: string) => {
  const rows = await server.runtime.runPromise(
    server.database.run("test", (db) =>
      db.selectFrom("spent").select("amount").where("subject", "=", toUuid(agentId)).execute()
    )
  )
  return rows.reduce((sum, { amount }) => sum + Number(amount), 0)
}
const costOf = (event: Event | undefined) =>
  (event?.usage as { readonly estimatedCost?: number } | undefined)?.estimatedCost ?? 0

describe.concurrent("agents.ask", () => {
  it("answers what the other agent says in the end, in a thread of its own", async () => {
    const { agentId, log, other } = await asking("/say forty-two")
    const told = await log()
    const intent = only(told, "tool_intent")[1]!
    const [threadId] = await threadsOf(other)
    assert.deepStrictEqual(outcomes(told)[1], { threadId, text: "forty-two" })
    assert.strictEqual(threadId, begunBy("thread", String(intent.toolCallId)))
    const [question] = await logOf(server.alpha, threadId!, ended(1))
    assert.deepInclude(question, {
      type: "user_message",
      principal: { type: "agent", id: agentId },
      content: [{ type: "text", text: "/say forty-two" }]
    })
  })

  it("is told where the other's answer was cut", async () => {
    const { log } = await asking("/finish length\n/say forty-t")
    assert.deepInclude(outcomes(await log())[1], { text: "forty-t", finishReason: "length" })
  })

  it("has the other's usage in its own, and nobody pays twice", async () => {
    const paid = { models: ["troupe/scripted-paid"] }
    const { agentId, log, other } = await asking("/usage 1000 100\n/say yes", paid, paid)
    const told = await log()
    const [theirs] = await threadsOf(other)
    const end = (await logOf(server.alpha, theirs!, ended(1))).at(-1)
    const result = only(told, "tool_result")[1]!
    assert.deepStrictEqual(result.usage, end?.usage)
    assert.closeTo(costOf(result), 0.0012, 1e-12)
    assert.isAbove(costOf(told.at(-1)), costOf(result), "the turn's usage holds that of its tools")
    assert.closeTo(await spentBy(other), costOf(result), 1e-9)
    assert.closeTo(await spentBy(agentId), costOf(told.at(-1)) - costOf(result), 1e-9)
  })

  it("fails as the other's turn does, and still says what it used", async () => {
    const { log } = await asking("/usage 10 1\n/call nothing.here\n/then\n/fail content_refused no", {})
    const result = only(await log(), "tool_result")[1]!
    assert.strictEqual(result.failureCode, "tool_error")
    assert.match(String(result.failureText), /^The agent's turn in thr_\w+ failed: content_refused: no$/)
    assert.isAbove((result.usage as { inputTokens: number }).inputTokens, 0)
  })

  it("refuses agents that are not there, or do not run", async () => {
    const archived = await makeWorker(server.alpha)
    await server.alpha.delete(`/v1/agents/${archived}`)
    const modelless = await makeWorker(server.alpha, { models: ["nobody/has-it"] })
    const log = await turnOf(
      server.alpha,
      await worker(),
      found,
      "/then",
      ...[archived, modelless, await makeWorker(server.beta)].map((agentId) =>
        call("agents.ask", { agentId, message: "hello" })
      )
    )
    const results = new Map(only(log, "tool_result").map((event) => [event.toolCallId, event.failureText]))
    const texts = only(log, "tool_intent")
      .slice(1)
      .map(({ toolCallId }) => String(results.get(toolCallId)))
    assert.match(texts[0]!, /cannot begin: The agent was archived\.$/)
    assert.match(texts[1]!, /cannot begin: No model is available for nobody\/has-it\.$/)
    assert.match(texts[2]!, /^There is no agent agt_/)
  })

  it("takes messages of 8 KiB, not empty ones", async () => {
    const agentId = await worker()
    const other = await makeWorker(server.alpha)
    const ask = async (message: string) =>
      outcomes(
        await turnOf(server.alpha, agentId, found, "/then", call("agents.ask", { agentId: other, message }))
      )[1] as any
    assert.strictEqual((await ask("x".repeat(7_000))).text, `You said: ${"x".repeat(7_000)}`)
    assert.strictEqual(await ask(" \n"), "tool_input_invalid")
    assert.strictEqual(await ask(""), "tool_input_invalid")
  })

  it("stops the other's turn when its own is stopped", async () => {
    const { agentId, other, threadId } = await asking("/wait 60s")
    await eventually(async () => (await threadsOf(other)).length === 1, "the other is asked")
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    const [theirs] = await threadsOf(other)
    assert.deepInclude((await logOf(server.alpha, theirs!, ended(1))).at(-1), {
      type: "turn_cancelled",
      principal: { type: "agent", id: agentId }
    })
    assert.deepStrictEqual(told(await logOf(server.alpha, threadId, ended(1))).slice(-2), [
      "tool_result: turn_interrupted",
      "turn_cancelled"
    ])
  })

  it("waits for whom the other's turn waits for: a person, whom the asking agent cannot stand in for", async () => {
    const guard = await addRole(server.alpha, { allow: [{ tools: "*", approval: "required" }] })
    const { log, other } = await asking(call("tool_search", { query: "thread" }) + "\n/say done", {
      families: ["thread"],
      roleIds: [guard]
    })
    await eventually(async () => (await threadsOf(other)).length === 1, "the other is asked")
    const [theirs = ""] = await threadsOf(other)
    const [wait] = await waitsOf(server.alpha, theirs)
    assert.deepInclude(wait, { type: "role_approval", toolName: "tool_search" })
    await resolveWait(server.alpha, theirs, wait!.id, { type: "decision", decision: "allow" })
    assert.deepInclude(outcomes(await log())[1], { text: "done" })
  })

  it("leads at most four agents far", async () => {
    // Each asks the next, in the words that it was given: the message holds the rest of the way.
    const chain: Array<string> = [await makeWorker(server.alpha, { families: ["agents"] })]
    for (let i = 0; i < 5; i++) chain.push(await makeWorker(server.alpha, { families: ["agents"] }))
    const from = (at: number): string =>
      at === chain.length - 1
        ? "/say the end"
        : [
            call("tool_search", { query: "agents" }),
            "/then",
            call("agents.ask", { agentId: chain[at + 1], message: from(at + 1) })
          ].join("\n")
    const log = await turnOf(server.alpha, chain[0]!, from(0))
    let text = JSON.stringify(outcomes(log)[1])
    for (const inner of chain.slice(1, 5)) {
      const [threadId = ""] = await threadsOf(inner)
      text = JSON.stringify(failures(await logOf(server.alpha, threadId, ended(1)))[1])
    }
    assert.match(text, /came through 4 other agents already/)
    assert.deepStrictEqual(await threadsOf(chain[5]!), [])
  })

  it("is nothing for reviewers", async () => {
    const other = await makeWorker(server.alpha)
    const reviewer = await makeWorker(server.alpha, { families: ["agents"] })
    const instructions = [
      call("tool_search", { query: "agents" }),
      "/then",
      call("agents.ask", { agentId: other, message: "/say yes" }),
      `/say {"decision":"allow"}`
    ].join("\n")
    const agentId = await worker({
      hooks: [
        { name: "review", point: "before_turn_start", processor: { type: "agent", agentId: reviewer, instructions } }
      ]
    })
    await turnOf(server.alpha, agentId, "hello")
    const [review = ""] = await threadsOf(reviewer)
    assert.deepStrictEqual(failures(await logOf(server.alpha, review, ended(1)))[1], [
      "tool_error",
      "A thread that reviews another agent's work asks no other agents."
    ])
    assert.deepStrictEqual(await threadsOf(other), [])
  })

  it("keeps the name under which it works: who is disabled meanwhile can ask nobody", async () => {
    const other = await makeWorker(server.alpha)
    const agentId = await worker()
    const hedy = await server.client(server.workspaces.alpha, { identity: "hedy" })
    const threadId = (
      await hedy.post("/v1/threads", {
        agentId,
        identity: "hedy-thread",
        message: {
          content: [
            { type: "text", text: [found, "/then", call("agents.ask", { agentId: other, message: "hi" })].join("\n") }
          ]
        }
      })
    ).body.thread.id
    await logOf(server.alpha, threadId, ended(1))
    const [theirs = ""] = await threadsOf(other)
    assert.strictEqual((await server.alpha.get(`/v1/threads/${theirs}`)).body.thread.identity, "hedy-thread")
    assert.deepInclude((await logOf(server.alpha, theirs, ended(1)))[0]!.principal, {
      type: "agent",
      id: agentId,
      identity: "hedy"
    })
  })
})

describe("after a crash", () => {
  it("a question is found where it has got to, and asked once", async () => {
    const { agentId, log, other } = await asking("/wait 3s\n/say late")
    await eventually(async () => (await threadsOf(other)).length === 1, "the other is asked")
    await loseLease(server)
    await takenOver(server, [agentId, other])
    const told = await log()
    assert.deepInclude(outcomes(told)[1], { text: "late" })
    const threads = await threadsOf(other)
    assert.lengthOf(threads, 1)
    assert.lengthOf(only(await logOf(server.alpha, threads[0]!, ended(1)), "user_message"), 1)
  }, 30_000)

  it("an answer that came meanwhile is found", async () => {
    const { log, other, threadId } = await asking("/wait 700ms\n/say meanwhile")
    await eventually(async () => (await threadsOf(other)).length === 1, "the other is asked")
    await loseLease(server)
    const [theirs = ""] = await threadsOf(other)
    await logOf(server.alpha, theirs, ended(1))
    assert.deepInclude(outcomes(await log())[1], { text: "meanwhile" })
    await leavesMemory(server, threadId)
  }, 30_000)
})
