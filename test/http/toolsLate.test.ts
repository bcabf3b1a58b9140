/**
 * What nobody answers in time. The contract's times are minutes, hours and days: here they are shorter, and everything
 * else is as it is.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { vi } from "vitest"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { endless, type Lie, startLiar, stream } from "../tools/liar.ts"
import { startMcpServer, type TestTool } from "../tools/mcpServer.ts"
import { eventually } from "../waiting.ts"
import { Watcher } from "./sse.ts"
import { ended, logOf } from "./threadFixture.ts"
import {
  addRole,
  addToolset,
  assertSound,
  begin,
  call,
  Gate,
  leavesMemory,
  makeWorker,
  outcomes,
  told,
  turnOf
} from "./toolFixture.ts"

/** What a call is given here: enough for a machine that does ten other things to report in time. */
const { callMs } = vi.hoisted(() => ({ callMs: 2_000 }))

vi.mock(import("../../src/domain/limits.ts"), async (original) => {
  const { limits, ...others } = await original()
  const shorter: object = {
    mcpCallMs: { ...limits.mcpCallMs, usual: callMs },
    mcpProgressTimes: 5,
    clientToolTimeoutMs: { ...limits.clientToolTimeoutMs, least: 300 },
    roleApprovalMs: 300
  }
  return { ...others, limits: Object.assign({}, limits, shorter) }
})

const server = await during(startServer({ idleMs: 50, leaseTtlMs: 20_000 }))
afterAll(() => assertSound(server))

describe.concurrent("a tool that takes too long", () => {
  it("is tool_timeout, and is cancelled at its server", async () => {
    const gate = new Gate()
    const mcp = await startMcpServer({
      tools: [
        { name: "gate", run: (_, { signal }) => gate.pass(signal) },
        { name: "quick", run: () => "quick" }
      ]
    })
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    const log = await turnOf(server.alpha, agentId, call(`${namespace}.gate`), call(`${namespace}.quick`))
    assert.deepStrictEqual(outcomes(log), ["tool_timeout", "quick"])
    assert.strictEqual(log.at(-1)!.type, "turn_completed")
    await eventually(
      () => mcp.calls.some(({ cancelled, tool }) => tool === "gate" && cancelled),
      "the server sees that it was cancelled"
    )
    await mcp.close()
  })

  const lies: ReadonlyArray<readonly [what: string, lie: Lie]> = [
    ["never answers", () => {}],
    ["drips", (response) => endless(response.writeHead(200, { "content-type": "application/json" }), " ", 50)],
    [
      "opens a stream and is silent",
      (response) => {
        stream(response)
      }
    ]
  ]
  for (const [what, lie] of lies)
    it(`because its server ${what} is tool_timeout`, async () => {
      const liar = await startLiar("tools/call", lie)
      const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: liar.url })
      const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
      const log = await turnOf(server.alpha, agentId, call(`${namespace}.change`), call(`${namespace}.look`))
      assert.deepStrictEqual(outcomes(log), ["tool_timeout", "tool_timeout"])
      assert.strictEqual(log.at(-1)!.type, "turn_completed")
      await liar.close()
    })
})

/** Reports its progress so many times, fifteen in the time that a call has. */
const reporting = (name: string, times: number): TestTool => ({
  name,
  run: async (_, { report, signal }) => {
    for (let i = 1; i <= times && !signal.aborted; i++) {
      await report(i, { total: times, message: `step ${i}` })
      await sleep(callMs / 15)
    }
    return "through"
  }
})

describe.concurrent.each(["sessions", "modern"] as const)("a tool that reports its progress (%s)", (era) => {
  const watched = async (tool: string, query = "", profile = {}) => {
    const mcp = await startMcpServer({ era, tools: [reporting("long", 18), reporting("endless", 1_000)] })
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id], ...profile })
    const threadId = await begin(server.alpha, agentId, "/wait 50ms", call(`${namespace}.${tool}`))
    const watcher = await Watcher.open(
      server.base,
      `/v1/threads/${threadId}/events/stream${query}`,
      server.alpha.token!
    )
    const log = await logOf(server.alpha, threadId, ended(1))
    watcher.close()
    await mcp.close()
    return { threadId, log, reports: watcher.events("progress").map(({ data }) => data) }
  }

  it("has its time anew with each report, and watchers of its thread hear how it goes", async () => {
    const { log, reports, threadId } = await watched("long")
    assert.deepStrictEqual(outcomes(log), ["through"])
    // Eighteen were made: not each is told.
    assert.isAtLeast(reports.length, 2)
    assert.isBelow(reports.length, 18)
    const toolCallId = log.find(({ type }) => type === "tool_intent")?.toolCallId
    const told = reports.map(({ progress }) => Number(progress))
    assert.deepStrictEqual(
      told,
      told.toSorted((a, b) => a - b)
    )
    for (const { progress, ...rest } of reports)
      assert.deepStrictEqual(rest, { threadId, toolCallId, total: 18, message: `step ${Number(progress)}` })
  })

  it("is given up after so many times its time all the same", async () => {
    const { log } = await watched("endless", "?types=event")
    assert.deepStrictEqual(outcomes(log), ["tool_timeout"])
    assert.strictEqual(
      log.find(({ type }) => type === "tool_result")?.failureText,
      `no result within ${5 * callMs} ms, 5 times the call's time, though there was progress`
    )
  })

  it("tells no words of it where a hook has to judge them first", async () => {
    const hooks = [
      { name: "C", point: "after_tool_result", match: { tools: ["nothing.of.this"] }, processor: { type: "client" } }
    ]
    const { log, reports } = await watched("long", "", { hooks })
    assert.deepStrictEqual(outcomes(log), ["through"])
    assert.isAtLeast(reports.length, 2)
    assert.isTrue(reports.every((report) => !("message" in report) && report.total === 18))
  })
})

describe.concurrent("a wait that nobody answers", () => {
  it("for a client's result is tool_timeout, and the model goes on", async () => {
    const { id, namespace } = await addToolset(server.alpha, {
      kind: "client",
      tools: [{ name: "ask", inputSchema: { type: "object" }, timeoutMs: 300 }]
    })
    const threadId = await begin(
      server.alpha,
      await makeWorker(server.alpha, { toolsetIds: [id] }),
      call(`${namespace}.ask`),
      call(`${namespace}.ask`)
    )
    await leavesMemory(server, threadId)
    assert.deepStrictEqual(told(await logOf(server.alpha, threadId, ended(1))), [
      "user_message",
      "tool_intent",
      "tool_intent",
      "wait_created",
      "wait_created",
      "wait_resolved: expired",
      "tool_result: tool_timeout",
      "wait_resolved: expired",
      "tool_result: tool_timeout",
      "assistant_message",
      "turn_completed"
    ])
  })

  it("for the approval that a role requires is wait_expired, and the tool has not run", async () => {
    const mcp = await startMcpServer()
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
    const roleIds = [await addRole(server.alpha, { allow: [{ tools: "*", approval: "required" }] })]
    const log = await turnOf(
      server.alpha,
      await makeWorker(server.alpha, { toolsetIds: [id], roleIds }),
      call(`${namespace}.put`)
    )
    assert.deepStrictEqual(told(log), [
      "user_message",
      "tool_intent",
      "wait_created",
      "wait_resolved: expired",
      "tool_result: wait_expired",
      "assistant_message",
      "turn_completed"
    ])
    assert.deepStrictEqual(mcp.calls, [])
    await mcp.close()
  })
})
