/**
 * Agents that review for hooks, in threads of their own: what they say counts, what they do not say neither, and who
 * pays.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Threads } from "../../actors/thread/Threads.ts"
import { sibling, toUuid } from "../../src/domain/ids.ts"
import type { Principal } from "../../src/domain/principal.ts"
import { begunBy } from "../../actors/thread/tools/derivedIds.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { eventually } from "../waiting.ts"
import { ended, type Event, logOf } from "./threadFixture.ts"
import {
  addRole,
  addToolset,
  assertSound,
  begin,
  call,
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

const server = await during(startServer({ leaseTtlMs: 2_000 }))
const mcp = await during(startMcpServer())
const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
const ns = namespace
const toolsetId = id
afterAll(() => assertSound(server))

const says = (decision: string) => `/say ${decision}`
const allows = says(`{"decision":"allow"}`)
const denies = says(`{"decision":"deny","reason":"not today"}`)

/** A hook whose reviewer goes by these lines, and an agent whose calls it judges. */
const hookOf = (reviewer: string, lines: ReadonlyArray<string>, more: object = {}) => ({
  name: "review",
  point: "before_tool_call",
  processor: { type: "agent", agentId: reviewer, instructions: lines.join("\n") },
  ...more
})
const reviewed = async (lines: ReadonlyArray<string>, more: object = {}, reviewer: object = {}) => {
  const reviewerId = await makeWorker(server.alpha, reviewer)
  return {
    reviewerId,
    agentId: await makeWorker(server.alpha, { toolsetIds: [toolsetId], hooks: [hookOf(reviewerId, lines, more)] })
  }
}
const script = () => [call(`${ns}.echo`, { text: "hello" }), "/say done"]

const decisionOf = (log: ReadonlyArray<Event>) =>
  only(log, "hook_decision")[0]?.hook as {
    readonly deliveryId: string
    readonly reason?: string
    readonly decision: string
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
const costOf = (log: ReadonlyArray<Event>) =>
  (log.at(-1)?.usage as { readonly estimatedCost?: number } | undefined)?.estimatedCost ?? 0

describe.concurrent("a reviewing agent", () => {
  it("that allows lets the call run", async () => {
    const { agentId, reviewerId } = await reviewed([allows])
    const log = await turnOf(server.alpha, agentId, ...script())
    assert.deepStrictEqual(told(log), [
      "user_message",
      "tool_intent",
      "hook_decision: allow",
      "tool_result",
      "assistant_message",
      "turn_completed"
    ])
    assert.deepStrictEqual(outcomes(log), ["hello"])
    // One thread, under the delivery's body, with the one question in it, in the name of the agent that is judged.
    const { deliveryId } = decisionOf(log)
    assert.deepStrictEqual(await threadsOf(reviewerId), [sibling("thread", deliveryId)])
    const [question, ...rest] = await logOf(server.alpha, sibling("thread", deliveryId), ended(1))
    assert.deepInclude(question, {
      type: "user_message",
      principal: { type: "agent", id: agentId },
      inputId: begunBy("input", deliveryId)
    })
    assert.include(JSON.stringify(question?.content), "hello")
    assert.deepStrictEqual(told(rest), ["assistant_message", "turn_completed"])
    const { body } = await server.alpha.get(`/v1/threads/${sibling("thread", deliveryId)}`)
    assert.deepInclude(body.thread, { agentId: reviewerId, createdBy: { type: "agent", id: agentId } })
  })

  it("that denies stops it, with its reason", async () => {
    const { agentId } = await reviewed([denies])
    const log = await turnOf(server.alpha, agentId, ...script())
    assert.deepStrictEqual(outcomes(log), ["hook_denied"])
    assert.strictEqual(only(log, "tool_result")[0]!.failureText, "not today")
  })

  it("that asks parks the turn for a person", async () => {
    const { agentId } = await reviewed([says(`{"decision":"ask","reason":"a person should look"}`)])
    const threadId = await begin(server.alpha, agentId, ...script())
    const [wait] = await waitsOf(server.alpha, threadId)
    assert.deepInclude(wait, { type: "hook_ask", target: "person", processor: "agent", reason: "a person should look" })
    await resolveWait(server.alpha, threadId, wait!.id, { type: "decision", decision: "allow" })
    assert.deepStrictEqual(outcomes(await logOf(server.alpha, threadId, ended(1))), ["hello"])
  })

  for (const [what, lines, why] of [
    ["says nothing of the kind", ["/say I would let it pass."], /holds no JSON object/],
    ["says two things", [says(`{"decision":"allow"} {"decision":"deny"}`)], /more than one JSON object/],
    ["fails", ["/fail content_refused I will not"], /^the reviewer's turn failed: content_refused: I will not$/]
  ] as const) {
    it(`that ${what} leaves it to onError`, async () => {
      const { agentId } = await reviewed(lines)
      const log = await turnOf(server.alpha, agentId, ...script())
      assert.deepStrictEqual(outcomes(log), ["hook_failed"])
      assert.match(decisionOf(log).reason ?? "", why)
      const { agentId: lenient } = await reviewed(lines, { onError: "allow" })
      assert.deepStrictEqual(outcomes(await turnOf(server.alpha, lenient, ...script())), ["hello"])
    })
  }

  it("that takes too long is stopped, and leaves it to onError", async () => {
    const { agentId, reviewerId } = await reviewed(["/wait 60s", allows], { timeoutMs: 1_000 })
    const log = await turnOf(server.alpha, agentId, ...script())
    assert.deepStrictEqual(outcomes(log), ["hook_failed"])
    assert.match(decisionOf(log).reason ?? "", /did not answer within 1000 ms/)
    const [threadId = ""] = await threadsOf(reviewerId)
    assert.deepStrictEqual(told(await logOf(server.alpha, threadId, ended(1))), ["user_message", "turn_cancelled"])
  })

  it("is stopped when nobody wants to know any more", async () => {
    const { agentId, reviewerId } = await reviewed(["/wait 60s", allows])
    const threadId = await begin(server.alpha, agentId, ...script())
    await eventually(async () => (await threadsOf(reviewerId)).length === 1, "the reviewer is asked")
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    const [review = ""] = await threadsOf(reviewerId)
    assert.deepInclude((await logOf(server.alpha, review, ended(1))).at(-1), {
      type: "turn_cancelled",
      principal: { type: "agent", id: agentId }
    })
  })

  it("that a person stops gives no answer", async () => {
    const { agentId, reviewerId } = await reviewed(["/wait 60s", allows])
    const threadId = await begin(server.alpha, agentId, ...script())
    await eventually(async () => (await threadsOf(reviewerId)).length === 1, "the reviewer is asked")
    const [review = ""] = await threadsOf(reviewerId)
    await server.alpha.post(`/v1/threads/${review}/cancel`)
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(outcomes(log), ["hook_failed"])
    assert.strictEqual(decisionOf(log).reason, "the reviewer's turn was cancelled")
  })

  it("judges at every point", async () => {
    for (const [point, lines, ending] of [
      ["before_turn_start", [denies], "turn_failed: hook_denied"],
      ["after_tool_result", [denies], "turn_completed"],
      ["after_model_response", [denies], "turn_failed: hook_denied"]
    ] as const) {
      const { agentId } = await reviewed(lines, { point })
      const log = await turnOf(server.alpha, agentId, ...script())
      assert.strictEqual(told(log).at(-1), ending, point)
      assert.strictEqual(decisionOf(log).decision, "deny", point)
    }
  })
})

describe.concurrent("one that cannot be asked", () => {
  const outcome = async (reviewerId: string) => {
    const agentId = await makeWorker(server.alpha, { toolsetIds: [toolsetId], hooks: [hookOf(reviewerId, [allows])] })
    return { agentId, log: () => turnOf(server.alpha, agentId, ...script()) }
  }
  const assertFailed = (log: ReadonlyArray<Event>, why: RegExp) => {
    assert.deepStrictEqual(outcomes(log), ["hook_failed"])
    assert.match(decisionOf(log).reason ?? "", why)
  }

  it("is one that was archived", async () => {
    const reviewerId = await makeWorker(server.alpha)
    const { log } = await outcome(reviewerId)
    assert.strictEqual((await server.alpha.delete(`/v1/agents/${reviewerId}`)).status, 204)
    assertFailed(await log(), /^the reviewer's turn cannot begin: The agent was archived\.$/)
    assert.deepStrictEqual(await threadsOf(reviewerId), [])
  })

  it("is one of a disabled identity", async () => {
    const reviewerId = await makeWorker(server.alpha)
    assert.strictEqual((await server.alpha.patch(`/v1/agents/${reviewerId}`, { identity: "rita" })).status, 200)
    const { log } = await outcome(reviewerId)
    assert.strictEqual((await server.alpha.post("/v1/identities/disable", { identity: "rita" })).status, 200)
    assertFailed(await log(), /cannot begin: An identity .* is disabled\.$/)
  })

  it("is one without a model", async () => {
    const reviewerId = await makeWorker(server.alpha, { models: ["nobody/has-it"] })
    assertFailed(await (await outcome(reviewerId)).log(), /cannot begin: No model is available for nobody\/has-it\.$/)
  })
})

describe("a reviewer's thread", () => {
  it("is found again by whoever takes the turn over", async () => {
    const { agentId, reviewerId } = await reviewed(["/wait 4s", allows])
    const threadId = await begin(server.alpha, agentId, ...script())
    await eventually(async () => (await threadsOf(reviewerId)).length === 1, "the reviewer is asked")
    await loseLease(server)
    await takenOver(server, [agentId, reviewerId])
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(outcomes(log), ["hello"])
    const threads = await threadsOf(reviewerId)
    assert.deepStrictEqual(threads, [sibling("thread", decisionOf(log).deliveryId)])
    assert.deepStrictEqual(told(await logOf(server.alpha, threads[0]!, ended(1))), [
      "user_message",
      "assistant_message",
      "turn_completed"
    ])
  }, 30_000)

  it("costs the agent that is reviewed, and nobody else", async () => {
    const { agentId, reviewerId } = await reviewed(
      ["/usage 1000 100", allows],
      {},
      { models: ["troupe/scripted-paid"] }
    )
    const log = await turnOf(server.alpha, agentId, ...script())
    const review = await logOf(server.alpha, sibling("thread", decisionOf(log).deliveryId), ended(1))
    assert.isAbove(costOf(review), 0)
    assert.strictEqual(costOf(log), 0, "the turn that is judged does not count it")
    assert.closeTo(await spentBy(agentId), costOf(review), 1e-9)
    assert.strictEqual(await spentBy(reviewerId), 0)
    const { body } = await server.alpha.get(`/v1/threads/${review[0]!.threadId}`)
    assert.strictEqual(body.usage.estimatedCost, costOf(review), "its own thread shows it")
    const usageOf = async (id: string) => (await server.alpha.get(`/v1/usage?agentId=${id}&groupBy=model`)).body.usage
    const paid = { model: "troupe/scripted-paid", calls: 1, inputTokens: 1000, outputTokens: 100 }
    await eventually(async () => (await usageOf(agentId)).length === 2, "its call is counted")
    assert.deepInclude((await usageOf(agentId))[1], paid)
    assert.deepStrictEqual(await usageOf(reviewerId), [])
  })

  it("is reviewed by no agent, but by everybody else", async () => {
    const second = await makeWorker(server.alpha)
    const { agentId, reviewerId } = await reviewed(
      [call(`${ns}.read`), allows],
      {},
      {
        toolsetIds: [toolsetId],
        hooks: [hookOf(second, [denies]), { name: "person", point: "before_tool_call", processor: { type: "client" } }]
      }
    )
    const threadId = await begin(server.alpha, agentId, ...script())
    await eventually(async () => (await threadsOf(reviewerId)).length === 1, "the reviewer is asked")
    const [review = ""] = await threadsOf(reviewerId)
    const [wait] = await waitsOf(server.alpha, review)
    await resolveWait(server.alpha, review, wait!.id, { type: "decision", decision: "allow" })
    assert.deepStrictEqual(outcomes(await logOf(server.alpha, threadId, ended(1))), ["hello"])
    assert.deepStrictEqual(
      told(await logOf(server.alpha, review, ended(1))).filter((one) => one.startsWith("hook_decision")),
      ["hook_decision: ask"]
    )
    assert.deepStrictEqual(await threadsOf(second), [])
  })

  it("has waits that neither its own agent nor the one it judges resolves", async () => {
    const guard = await addRole(server.alpha, { allow: [{ tools: "*", approval: "required" }] })
    const { agentId, reviewerId } = await reviewed(
      [call(`${ns}.read`), allows],
      { timeoutMs: 60_000 },
      { toolsetIds: [toolsetId], roleIds: [guard] }
    )
    const threadId = await begin(server.alpha, agentId, ...script())
    await eventually(async () => (await threadsOf(reviewerId)).length === 1, "the reviewer is asked")
    const [review = ""] = await threadsOf(reviewerId)
    const [wait] = await waitsOf(server.alpha, review)
    const resolveAs = (principal: Principal, from?: string) =>
      server.runtime.runPromise(
        Threads.pipe(
          Effect.flatMap((threads) =>
            threads.resolve(
              { workspace: server.workspaces.alpha, principal, ...(from === undefined ? {} : { from }) },
              review,
              wait!.id,
              { type: "decision", decision: "allow" }
            )
          ),
          Effect.match({
            onSuccess: ({ kind }) => kind,
            onFailure: (failure) => (failure._tag === "Refused" ? failure.reason : failure._tag)
          })
        )
      )
    assert.strictEqual(await resolveAs({ type: "agent", id: reviewerId }), "permission_denied")
    assert.strictEqual(await resolveAs({ type: "agent", id: agentId }), "permission_denied")
    assert.strictEqual(
      await resolveAs({ type: "agent", id: await makeWorker(server.alpha) }, review),
      "permission_denied"
    )
    assert.strictEqual(await resolveAs({ type: "user", id: "ann" }), "found")
    assert.deepStrictEqual(outcomes(await logOf(server.alpha, threadId, ended(1))), ["hello"])
  })

  it("is the turn's that began it: its principal resolves none of the waits there", async () => {
    const { agentId } = await reviewed([says(`{"decision":"ask"}`)])
    const threadId = await begin(server.alpha, agentId, ...script())
    const [wait] = await waitsOf(server.alpha, threadId)
    const [review] = await logOf(server.alpha, sibling("thread", wait!.id), ended(1))
    const principal = review!.principal as Principal
    assert.deepStrictEqual(principal, { type: "agent", id: agentId })
    const refused = await server.runtime.runPromise(
      Threads.pipe(
        Effect.flatMap((threads) =>
          threads.resolve({ workspace: server.workspaces.alpha, principal }, threadId, wait!.id, {
            type: "decision",
            decision: "allow"
          })
        ),
        Effect.flip
      )
    )
    assert.deepInclude(refused, { _tag: "Refused", reason: "permission_denied" })
    assert.lengthOf(await waitsOf(server.alpha, threadId), 1)
  })
})

describe("trying a hook out", () => {
  it("asks the reviewer, on its own account", async () => {
    const reviewerId = await makeWorker(server.alpha, { models: ["troupe/scripted-paid"] })
    const data = { point: "before_tool_call", toolCallId: "call_1", toolName: "a.b", toolInput: {} }
    const { body } = await server.alpha.post("/v1/hooks/test", {
      hook: hookOf(reviewerId, ["/usage 1000 100", denies]),
      data
    })
    assert.deepInclude(body.outcome, { decision: "deny", reason: "not today" })
    assert.isAbove(await spentBy(reviewerId), 0)
  })

  it("stops it when it takes too long", async () => {
    const reviewerId = await makeWorker(server.alpha)
    const data = { point: "before_tool_call", toolCallId: "call_1", toolName: "a.b", toolInput: {} }
    const { body } = await server.alpha.post("/v1/hooks/test", {
      hook: hookOf(reviewerId, ["/wait 60s", allows], { timeoutMs: 1_000 }),
      data
    })
    assert.deepInclude(body.outcome, { decision: "deny", failed: true })
    const [threadId = ""] = await threadsOf(reviewerId)
    assert.deepStrictEqual(told(await logOf(server.alpha, threadId, ended(1))), ["user_message", "turn_cancelled"])
  })
})
