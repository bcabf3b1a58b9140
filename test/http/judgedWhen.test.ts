/** When hooks are asked, and when no more. */
import { assert, describe, it } from "@effect/vitest"
import { allow, ask, deny, hang, type Reply } from "../hooks/hookServer.ts"
import { eventually } from "../waiting.ts"
import { ended, logOf, submit } from "./threadFixture.ts"
import {
  addRole,
  begin,
  call,
  leavesMemory,
  makeWorker,
  only,
  outcomes,
  resolveWait,
  told,
  turnOf,
  waitsOf
} from "./toolFixture.ts"
import { dataOf, judgedStand } from "./judgedFixture.ts"

const { hook, hooks, ns, server, toolsetId, worker } = await judgedStand()

describe.concurrent("hooks", () => {
  it("are not asked about what does not run: denied, unknown, invalid", async () => {
    const before = hooks.endpoint(allow())
    const after = hooks.endpoint(allow())
    const roleIds = [await addRole(server.alpha, { allow: [{ tools: `${ns}.echo` }] })]
    const agentId = await makeWorker(server.alpha, {
      toolsetIds: [toolsetId],
      roleIds,
      hooks: [
        { name: "B", point: "before_tool_call", processor: { type: "url", url: before.url } },
        { name: "A", point: "after_tool_result", processor: { type: "url", url: after.url } }
      ]
    })
    const log = await turnOf(
      server.alpha,
      agentId,
      call(`${ns}.put`),
      call("no.such"),
      call(`${ns}.echo`, { text: 1 }),
      call(`${ns}.echo`, { text: "this one" })
    )
    assert.deepStrictEqual(outcomes(log), ["tool_denied", "tool_not_found", "tool_input_invalid", "this one"])
    assert.deepStrictEqual(
      [before, after].map(({ received }) => received().length),
      [1, 1]
    )
  })

  it("after a tool hear of its failure", async () => {
    const after = hooks.endpoint(allow())
    const agentId = await worker({ name: "A", point: "after_tool_result", processor: { type: "url", url: after.url } })
    const log = await turnOf(server.alpha, agentId, call(`${ns}.fail`))
    assert.deepStrictEqual(outcomes(log), ["tool_error"])
    assert.deepInclude(dataOf(after.received()[0]), {
      toolName: `${ns}.fail`,
      toolOutput: "it went wrong",
      failureCode: "tool_error"
    })
  })

  it("judge calls of one response each for itself", async () => {
    const reply: Reply = (response, received) =>
      (JSON.stringify(received.body.data).includes("bad")
        ? deny()
        : JSON.stringify(received.body.data).includes("ask")
          ? ask()
          : allow())(response, received)
    const threadId = await begin(
      server.alpha,
      await worker(hook("before_tool_call", reply)),
      ...["good", "bad", "ask one", "ask two"].map((words) => call(`${ns}.echo`, { text: words }))
    )
    const [one, two] = await waitsOf(server.alpha, threadId, 2)
    const inputOf = (wait: typeof one) => Object(wait?.toolInput).text
    const [first, second] = inputOf(one) === "ask one" ? [one, two] : [two, one]
    // In any order, and one of them leaves the other waiting.
    await resolveWait(server.alpha, threadId, second!.id, { type: "decision", decision: "deny" })
    assert.strictEqual((await server.alpha.get(`/v1/threads/${threadId}`)).body.status, "awaiting")
    await resolveWait(server.alpha, threadId, first!.id, {
      type: "decision",
      decision: "allow",
      rewrite: { toolInput: { text: "asked" } }
    })
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(outcomes(log), ["good", "hook_denied", "asked", "hook_denied"])
  })

  it("judge steers when they join: a denied one ends the turn", async () => {
    const reply: Reply = (response, received) =>
      (JSON.stringify(received.body.data).includes("steer me") ? deny("no steering") : allow())(response, received)
    const threadId = await begin(
      server.alpha,
      await worker(hook("before_turn_start", reply)),
      "/wait 300ms",
      call(`${ns}.echo`, { text: "a" }),
      "/say done"
    )
    await logOf(server.alpha, threadId, (log) => only(log, "hook_decision").length === 1)
    await submit(server.alpha, threadId, "steer me", { mode: "steer" })
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(told(log), [
      "user_message",
      "hook_decision: allow",
      "tool_intent",
      "tool_result",
      "user_message",
      "hook_decision: deny",
      "turn_failed: hook_denied"
    ])
  })

  it("are given up when the turn is interrupted while they are asked, or while it awaits", async () => {
    const asked = hooks.endpoint(hang())
    const agentId = await worker(
      {
        name: "H",
        point: "before_tool_call",
        match: { conditions: [{ path: "/text", op: "eq", value: "hang" }] },
        processor: { type: "url", url: asked.url }
      },
      hook("before_tool_call", ask())
    )
    const hanging = await begin(server.alpha, agentId, call(`${ns}.echo`, { text: "hang" }))
    await eventually(() => asked.received().length === 1, "the hook is asked")
    await submit(server.alpha, hanging, "/say stopped", { mode: "interrupt" })
    assert.deepStrictEqual(told(await logOf(server.alpha, hanging, ended(2))), [
      "user_message",
      "tool_intent",
      "tool_result: turn_interrupted",
      "turn_cancelled",
      "user_message",
      "assistant_message",
      "turn_completed"
    ])

    const parked = await begin(server.alpha, agentId, call(`${ns}.echo`, { text: "ask" }))
    const [wait] = await waitsOf(server.alpha, parked)
    await leavesMemory(server, parked)
    await submit(server.alpha, parked, "/say stopped", { mode: "interrupt" })
    assert.deepStrictEqual(told(await logOf(server.alpha, parked, ended(2))), [
      "user_message",
      "tool_intent",
      "hook_decision: ask",
      "wait_created",
      "wait_resolved: cancelled",
      "tool_result: turn_interrupted",
      "turn_cancelled",
      "user_message",
      "assistant_message",
      "turn_completed"
    ])
    const late = await server.alpha.post(`/v1/threads/${parked}/waits/${wait!.id}/resolve`, {
      type: "decision",
      decision: "allow"
    })
    assert.deepStrictEqual([late.status, late.body.error], [409, "wait_already_resolved"])
  })
})
