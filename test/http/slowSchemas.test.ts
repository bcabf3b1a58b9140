/**
 * A tenant whose schemas take seconds over a short text: their calls end, and say that the schema is to blame; the node
 * and the other tenants do not notice.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setTimeout as sleep } from "node:timers/promises"
import { schemaLimits, Schemas } from "../../src/tools/Schemas.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { assertRefused } from "./refusals.ts"
import { addToolset, assertSound, call, fresh, makeWorker, only, outcomes, turnOf } from "./toolFixture.ts"
import { answer, parked, resolved, result } from "./waitFixture.ts"

/** Linear, but each character of a text costs nine thousand steps. */
const manyStates = { type: "string", pattern: `^${"(?:.?){900}".repeat(5)}$` }
const long = "a".repeat(7_000)

// A slow machine needs long to start a thread, which the workspace pays for: its next check's turn comes all the same.
const server = await during(startServer({ schemas: Schemas.layerOf({ ...schemaLimits, lineMs: 60_000 }) }))
afterAll(() => assertSound(server))

/** The longest time in which nobody else was served. */
const held = async (work: () => Promise<void>) => {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  await sleep(20)
  delay.reset()
  await work()
  await sleep(20)
  delay.disable()
  return delay.max / 1e6
}

/** Why the call of a turn has failed. */
const failures = (log: Awaited<ReturnType<typeof turnOf>>) =>
  only(log, "tool_result").map(({ failureText }) => failureText)

const client = async (tool: object, workspace = server.alpha) => {
  const { id, namespace } = await addToolset(workspace, {
    kind: "client",
    tools: [{ name: "t", inputSchema: { type: "object" }, ...tool }]
  })
  return { name: `${namespace}.t`, agentId: await makeWorker(workspace, { toolsetIds: [id] }) }
}

describe("a schema that takes long over a value", () => {
  it("of an input ends the call, and holds neither the event loop nor another workspace", async () => {
    const { agentId, name } = await client({ inputSchema: { type: "object", properties: { s: manyStates } } })
    const other = await client({ inputSchema: { type: "object", required: ["x"] } }, server.beta)
    // Everybody's first check starts a thread, and a first text teaches the pattern.
    await Promise.all([
      parked(server.alpha, agentId, [call(name, { s: "a" })]),
      turnOf(server.beta, other.agentId, call(other.name))
    ])
    let slowest = 0
    const delay = await held(async () => {
      const hostile = turnOf(server.alpha, agentId, call(name, { s: long }))
      let isOver = false
      void hostile.finally(() => {
        isOver = true
      })
      while (!isOver) {
        const began = performance.now()
        assert.deepStrictEqual(outcomes(await turnOf(server.beta, other.agentId, call(other.name))), [
          "tool_input_invalid"
        ])
        slowest = Math.max(slowest, performance.now() - began)
      }
      const log = await hostile
      assert.deepStrictEqual(outcomes(log), ["tool_input_invalid"])
      assert.deepStrictEqual(failures(log), [
        "the input was not checked: the schema is too slow: it takes more than 200 ms over one value, which may be right"
      ])
    })
    assert.isBelow(delay, 250)
    assert.isBelow(slowest, 1_500)
  })

  it("of an MCP server's output ends the call as the tool's error", async () => {
    const mcp = await startMcpServer({
      tools: [{ name: "t", outputSchema: { type: "object", properties: { s: manyStates } }, run: () => ({ s: long }) }]
    })
    // Of a workspace that owes no time yet: one that does may have to wait for longer than a test looks on.
    const own = await server.client(await server.workspace("slow outputs"))
    const { id, namespace } = await addToolset(own, { kind: "mcp", url: mcp.url })
    const agentId = await makeWorker(own, { toolsetIds: [id] })
    const log = await turnOf(own, agentId, call(`${namespace}.t`))
    assert.deepStrictEqual(outcomes(log), ["tool_error"])
    assert.deepStrictEqual(failures(log), [
      "the tool's output was not checked: the schema is too slow: it takes more than 200 ms over one value, which may be right"
    ])
    await mcp.close()
  })

  it("of a client's result is said to the client, whose wait stays open", async () => {
    // Of a workspace that owes no time yet: the call's own input is checked first, and not for long.
    const own = await server.client(await server.workspace("slow answers"))
    const { agentId, name } = await client({ outputSchema: { type: "object", properties: { s: manyStates } } }, own)
    const { threadId, wait } = await parked(own, agentId, [call(name)])
    const refused = await answer(own, threadId, wait, result({ s: long }))
    assertRefused(refused, 400, "invalid_request")
    assert.strictEqual(
      refused.body.message,
      "output: was not checked: the schema is too slow: it takes more than 200 ms over one value, which may be right"
    )
    await resolved(own, threadId, wait, result({ s: "a" }))
  })

  it("is refused where a toolset is made, if it has more than ten thousand states", async () => {
    const inputSchema = {
      type: "object",
      properties: { s: { type: "string", pattern: `^${"(?:.?){900}".repeat(20)}$` } }
    }
    const refused = await server.alpha.post("/v1/toolsets", {
      kind: "client",
      namespace: fresh(),
      tools: [{ name: "t", inputSchema }]
    })
    assertRefused(refused, 400, "invalid_request")
    assert.match(
      refused.body.message,
      /^tools\[0\]\.inputSchema: expected a usable JSON Schema \(its patterns are too large: they have more than 10000 states in all\)/
    )
  })
})

describe("a workspace whose schemas have used up their time for long", () => {
  it("is refused what needs them, to try again, and keeps what it has", { timeout: 60_000 }, async () => {
    const mcp = await startMcpServer()
    // What the first check takes is more than it ever gets back.
    const poor = await startServer({
      schemas: Schemas.layerOf({ ...schemaLimits, lineMs: 2_000, budget: { ms: 0.01, windowMs: 1e9 } })
    })
    try {
      const { alpha, beta } = poor
      const outputSchema = { type: "integer" }
      // Made elsewhere, where there was time.
      const rich = await startServer({ beside: poor })
      const desk = await addToolset(rich.at(alpha), {
        kind: "client",
        tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema }]
      })
      const other = await addToolset(rich.at(alpha), { kind: "mcp", url: mcp.url })
      const agentId = await makeWorker(rich.at(alpha), { toolsetIds: [desk.id] })
      await rich.stop()

      const made = { kind: "client", namespace: fresh(), tools: [{ name: "t", inputSchema: { type: "object" } }] }
      // The kernel counts what a thread takes by ticks of some milliseconds: a short check may be counted with a later
      // one.
      let refused = await alpha.post("/v1/toolsets", made)
      for (let tries = 20; refused.status === 201 && tries > 0; tries--)
        refused = await alpha.post("/v1/toolsets", { ...made, namespace: fresh() })
      assertRefused(refused, 503, "runtime_unavailable")
      assert.strictEqual(refused.body.message, "schemas of tools cannot be checked at the moment; try again")
      assert.strictEqual((await beta.post("/v1/toolsets", made)).status, 201)

      const refreshed = await alpha.post(`/v1/toolsets/${other.id}/refresh`)
      assert.deepInclude(refreshed.body.toolset, { status: "unreachable", toolCount: 11 })
      assert.match(refreshed.body.toolset.statusReason ?? refreshed.text, /have used up their/)

      await parked(alpha, agentId, [call(`${desk.namespace}.t`)])
      const log = await turnOf(alpha, agentId, call(`${desk.namespace}.t`))
      assert.deepStrictEqual(outcomes(log), ["tool_input_invalid"])
      assert.match(String(failures(log)), /^the input was not checked: the workspace's schemas have used up their/)
    } finally {
      await poor.stop()
      await mcp.close()
    }
  })
})
