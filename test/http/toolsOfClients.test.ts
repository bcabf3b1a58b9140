/** Calls that a client executes. */
import { assert, describe, it } from "@effect/vitest"
import { readOnly } from "../../src/roles/role.ts"
import { ended, logOf } from "./threadFixture.ts"
import {
  addToolset,
  begin,
  call,
  failures,
  makeWorker,
  outcomes,
  resolveWait,
  told,
  turnOf,
  waitsOf
} from "./toolFixture.ts"
import { toolTurnStand } from "./toolTurnFixture.ts"

const { server } = await toolTurnStand()

describe("a tool of clients", () => {
  const desk = async (profile: object = {}) => {
    const { id, namespace } = await addToolset(server.alpha, {
      kind: "client",
      tools: [
        {
          name: "ask",
          inputSchema: { type: "object", properties: { q: { type: "string" } } },
          outputSchema: { type: "object", required: ["a"] }
        }
      ]
    })
    return { id, name: `${namespace}.ask`, agentId: await makeWorker(server.alpha, { toolsetIds: [id], ...profile }) }
  }

  it("parks its call until a client brings the result", async () => {
    const { agentId, id, name } = await desk()
    const threadId = await begin(server.alpha, agentId, call(name, { q: "which?" }), call("nothing.there"))
    const [wait] = await waitsOf(server.alpha, threadId)
    assert.deepInclude(wait, {
      type: "client_tool",
      target: "client",
      toolName: name,
      toolInput: { q: "which?" },
      toolsetId: id
    })
    assert.strictEqual((await server.alpha.get(`/v1/threads/${threadId}`)).body.status, "awaiting")
    await resolveWait(server.alpha, threadId, wait!.id, { type: "tool_result", output: { a: "that one" } })
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(told(log), [
      "user_message",
      "tool_intent",
      "tool_intent",
      "tool_result: tool_not_found",
      "wait_created",
      "wait_resolved: result",
      "tool_result",
      "assistant_message",
      "turn_completed"
    ])
    assert.deepStrictEqual(outcomes(log), [{ a: "that one" }, "tool_not_found"])
  })

  it("fails its call with what the client says went wrong", async () => {
    const { agentId, name } = await desk()
    const threadId = await begin(server.alpha, agentId, call(name))
    const [wait] = await waitsOf(server.alpha, threadId)
    await resolveWait(server.alpha, threadId, wait!.id, {
      type: "tool_result",
      error: { code: "out_of_paper", message: "No paper." }
    })
    assert.deepStrictEqual(failures(await logOf(server.alpha, threadId, ended(1))), [
      ["tool_error", "out_of_paper: No paper."]
    ])
  })

  it("is believed about its tools: read_only lets one run that says that it only reads", async () => {
    const tools = [true, false].map((readOnlyHint) => ({
      name: readOnlyHint ? "look" : "change",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint }
    }))
    const { id, namespace } = await addToolset(server.alpha, { kind: "client", tools })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id], roleIds: [readOnly.id] })
    const threadId = await begin(server.alpha, agentId, call(`${namespace}.look`), call(`${namespace}.change`))
    const [wait] = await waitsOf(server.alpha, threadId)
    await resolveWait(server.alpha, threadId, wait!.id, { type: "tool_result", output: "seen" })
    assert.deepStrictEqual(outcomes(await logOf(server.alpha, threadId, ended(1))), ["seen", "tool_denied"])
  })

  it("is not asked with an input that does not fit, nor by roles that deny it", async () => {
    const { agentId, name } = await desk()
    assert.deepStrictEqual(outcomes(await turnOf(server.alpha, agentId, call(name, { q: 1 }))), ["tool_input_invalid"])
    const denied = await desk({ roleIds: ["role_00000000000000000000000002"] })
    assert.deepStrictEqual(outcomes(await turnOf(server.alpha, denied.agentId, call(denied.name, { q: "" }))), [
      "tool_denied"
    ])
  })
})
