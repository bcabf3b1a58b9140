/** What happens while a turn calls tools: its toolset changes, and the turn itself ends. */
import { assert, describe, it } from "@effect/vitest"
import type { TestTool } from "../tools/mcpServer.ts"
import { eventually } from "../waiting.ts"
import { ended, logOf, submit } from "./threadFixture.ts"
import { addRole, begin, call, Gate, outcomes, told, turnOf } from "./toolFixture.ts"
import { toolTurnStand } from "./toolTurnFixture.ts"

const { server, stage } = await toolTurnStand()

describe("a toolset that changes while a turn runs", () => {
  const taking = (properties: object, gate: Gate): ReadonlyArray<TestTool> => [
    { name: "gate", run: (_, { signal }) => gate.pass(signal) },
    {
      name: "shape",
      inputSchema: { type: "object", properties, required: Object.keys(properties) },
      run: (input) => ({ input })
    }
  ]

  it("is for that turn what it was; the next has the new one", async () => {
    const gate = new Gate()
    const { agentId, id, namespace, own } = await stage(taking({ text: { type: "string" } }, gate))
    const script = [
      call(`${namespace}.gate`),
      "/then",
      call(`${namespace}.shape`, { text: "old" }),
      call(`${namespace}.shape`, { n: 1 }),
      call(`${namespace}.more`)
    ]
    const threadId = await begin(server.alpha, agentId, ...script)
    await eventually(() => gate.inside === 1, "the turn is in its first call")
    await own.offer([...taking({ n: { type: "integer" } }, gate), { name: "more", run: () => "more" }])
    await server.alpha.post(`/v1/toolsets/${id}/refresh`)
    gate.letAll()
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(outcomes(log), [
      "through",
      { input: { text: "old" } },
      "tool_input_invalid",
      "tool_not_found"
    ])

    await submit(server.alpha, threadId, script.slice(2).join("\n"))
    const next = (await logOf(server.alpha, threadId, ended(2))).slice(log.length)
    assert.deepStrictEqual(outcomes(next), ["tool_input_invalid", { input: { n: 1 } }, "more"])
    await own.close()
  })

  it("and has lost a tool says so: tool_not_found", async () => {
    const { agentId, namespace, own } = await stage([
      { name: "gone", run: () => "never" },
      { name: "stays", run: () => "here" }
    ])
    await own.offer([{ name: "stays", run: () => "here" }], false)
    assert.deepStrictEqual(
      outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.gone`), call(`${namespace}.stays`))),
      ["tool_not_found", "here"]
    )
    await own.close()
  })

  it("is gone: what the turn still calls is tool_not_found", async () => {
    const gate = new Gate()
    const { agentId, id, namespace, own } = await stage(taking({}, gate))
    const threadId = await begin(server.alpha, agentId, call(`${namespace}.gate`), "/then", call(`${namespace}.shape`))
    await eventually(() => gate.inside === 1, "the turn is in its first call")
    const { profileId } = (await server.alpha.get(`/v1/agents/${agentId}`)).body.agent
    await server.alpha.patch(`/v1/profiles/${profileId}`, { toolsetIds: [] })
    assert.strictEqual((await server.alpha.delete(`/v1/toolsets/${id}`)).status, 204)
    gate.letAll()
    assert.deepStrictEqual(outcomes(await logOf(server.alpha, threadId, ended(1))), ["through", "tool_not_found"])
    await own.close()
  })

  it("is no reason to wait: a permission that is taken away counts in the turn that runs", async () => {
    const gate = new Gate()
    const roleId = await addRole(server.alpha, { allow: [{ tools: "*" }] })
    const { agentId, namespace, own } = await stage(taking({}, gate), { roleIds: [roleId] })
    const threadId = await begin(server.alpha, agentId, call(`${namespace}.gate`), "/then", call(`${namespace}.shape`))
    await eventually(() => gate.inside === 1, "the turn is in its first call")
    assert.strictEqual((await server.alpha.patch(`/v1/roles/${roleId}`, { deny: [{ tools: "*.shape" }] })).status, 200)
    gate.letAll()
    assert.deepStrictEqual(outcomes(await logOf(server.alpha, threadId, ended(1))), ["through", "tool_denied"])
    assert.deepStrictEqual(
      own.calls.map(({ tool }) => tool),
      ["gate"]
    )
    await own.close()
  })
})

describe("a tool that runs when its turn ends", () => {
  it.each(["interrupt", "cancel"] as const)(
    "by %s is cancelled at its server, and its result is turn_interrupted",
    async (how) => {
      const gate = new Gate()
      const { agentId, namespace, own } = await stage([{ name: "gate", run: (_, { signal }) => gate.pass(signal) }], {
        limits: { maxParallelTools: 1 }
      })
      const threadId = await begin(server.alpha, agentId, call(`${namespace}.gate`), call(`${namespace}.gate`))
      await eventually(() => gate.inside === 1, "the first call runs")
      if (how === "interrupt") await submit(server.alpha, threadId, "stop that", { mode: "interrupt" })
      else assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/cancel`)).status, 200)
      const log = await logOf(server.alpha, threadId, ended(how === "interrupt" ? 2 : 1))
      assert.deepStrictEqual(told(log), [
        "user_message",
        "tool_intent",
        "tool_intent",
        "tool_result: turn_interrupted",
        "tool_result: turn_interrupted",
        "turn_cancelled",
        ...(how === "interrupt" ? ["user_message", "assistant_message", "turn_completed"] : [])
      ])
      await eventually(() => own.calls[0]?.cancelled === true, "the server sees that it was cancelled")
      assert.lengthOf(own.calls, 1)
      await own.close()
    }
  )

  it("by its deadline as well, with turn_timeout", async () => {
    const gate = new Gate()
    const { agentId, namespace, own } = await stage([{ name: "gate", run: (_, { signal }) => gate.pass(signal) }], {
      limits: { maxTurnSeconds: 1 }
    })
    const log = await turnOf(server.alpha, agentId, call(`${namespace}.gate`))
    assert.deepStrictEqual(told(log), [
      "user_message",
      "tool_intent",
      "tool_result: turn_interrupted",
      "turn_failed: turn_timeout"
    ])
    await eventually(() => own.calls[0]?.cancelled === true, "the server sees that it was cancelled")
    await own.close()
  })
})
