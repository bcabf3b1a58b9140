/**
 * Whole turns that call tools: HTTP in, a journal in PostgreSQL, real MCP servers out, and their ledgers to say what
 * has run.
 */
import { assert, describe, it } from "@effect/vitest"
import { utf8Bytes } from "../../src/domain/text.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { eventually } from "../waiting.ts"
import { ended, type Event, logOf, submit } from "./threadFixture.ts"
import {
  addToolset,
  begin,
  call,
  failures,
  fresh,
  Gate,
  makeWorker,
  only,
  outcomes,
  told,
  turnOf
} from "./toolFixture.ts"
import { executed, stock, toolTurnStand } from "./toolTurnFixture.ts"

const { server, stage } = await toolTurnStand()
const { mcp, ns, worker } = await stock(server)

const turn = (...lines: ReadonlyArray<string>) => turnOf(server.alpha, worker, ...lines)

describe("a turn that calls tools", () => {
  it("runs what the model asks for under its exact name, and shows the model what came back", async () => {
    const log = await turn(call(`${ns}.add`, { a: 2, b: 3 }), "/then", call(`${ns}.delete.all`))
    assert.deepStrictEqual(told(log), [
      "user_message",
      "tool_intent",
      "tool_result",
      "tool_intent",
      "tool_result",
      "assistant_message",
      "turn_completed"
    ])
    assert.deepStrictEqual(
      only(log, "tool_intent").map(({ toolInput, toolName }) => [toolName, toolInput]),
      [
        [`${ns}.add`, { a: 2, b: 3 }],
        [`${ns}.delete.all`, {}]
      ]
    )
    assert.deepStrictEqual(log.at(-2)!.content, [{ type: "text", text: `Done: [{"sum":5},"deleted"]` }])
    assert.deepStrictEqual(
      executed(log, mcp).map(({ input, tool }) => [tool, input]),
      [
        ["add", { a: 2, b: 3 }],
        ["delete.all", {}]
      ]
    )
  })

  it("sends each call's id as the key of its one effect, and notes how long it took", async () => {
    const log = await turn(call(`${ns}.echo`, { text: "a" }), call(`${ns}.slow`, { ms: 50 }))
    const intents = only(log, "tool_intent")
    const ledger = executed(log, mcp)
    assert.sameMembers(
      ledger.map(({ toolCallId }) => toolCallId),
      intents.map(({ toolCallId }) => toolCallId)
    )
    for (const { idempotencyKey, toolCallId } of ledger) assert.strictEqual(idempotencyKey, toolCallId)
    const timings = only(log, "tool_result").map(({ timing }) => timing)
    for (const timing of timings) assert.hasAllKeys(timing, ["durationMs"])
    assert.isTrue(
      timings.some(
        (timing) =>
          typeof timing === "object" && timing !== null && "durationMs" in timing && Number(timing.durationMs) >= 45
      ),
      JSON.stringify(timings)
    )
  })

  it("passes every input on as it is", async () => {
    const input = {
      text: "\u0000 \ud83d\ude00 é",
      __proto__x: 1,
      constructor: "c",
      deep: [[{ a: [null, false, 1e21, -0.5] }]],
      "": ""
    }
    const { agentId, namespace, own } = await stage([
      { name: "any", inputSchema: { type: "object" }, run: (input) => ({ input }) }
    ])
    const log = await turnOf(server.alpha, agentId, call(`${namespace}.any`, input))
    assert.deepStrictEqual(
      executed(log, own).map((one) => one.input),
      [input]
    )
    assert.deepStrictEqual(outcomes(log), [{ input }])
    await own.close()
  })

  it("has committed each intent before its tool runs", async () => {
    let threadId = ""
    const seen: Array<number> = []
    const { agentId, namespace, own } = await stage([
      {
        name: "look",
        run: async () => {
          const callId = own.calls.at(-1)?.toolCallId
          const { events } = (await server.alpha.get(`/v1/threads/${threadId}/events`)).body
          seen.push(events.filter((event: Event) => event.type === "tool_intent" && event.toolCallId === callId).length)
          return "seen"
        }
      }
    ])
    threadId = (await server.alpha.post("/v1/threads", { agentId })).body.thread.id
    await submit(server.alpha, threadId, `${call(`${namespace}.look`)}\n/then\n${call(`${namespace}.look`)}`)
    await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(seen, [1, 1])
    await own.close()
  })

  it("runs calls of one response together, never more than its profile allows", async () => {
    const gate = new Gate()
    const { agentId, namespace, own } = await stage([{ name: "gate", run: (_, { signal }) => gate.pass(signal) }], {
      limits: { maxParallelTools: 2 }
    })
    const threadId = await begin(server.alpha, agentId, ...Array.from({ length: 5 }, () => call(`${namespace}.gate`)))
    for (let done = 0; done < 5; done++) {
      await eventually(
        () => own.calls.length === Math.min(5, done + 2) && gate.inside === Math.min(2, 5 - done),
        "the free place is taken"
      )
      gate.letOne()
    }
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(
      outcomes(log),
      Array.from({ length: 5 }, () => "through")
    )
    assert.strictEqual(gate.most, 2)
    // All intents stand before the first result, in the order of the calls.
    assert.deepStrictEqual(
      told(log).slice(1, 6),
      Array.from({ length: 5 }, () => "tool_intent")
    )
    await own.close()
  })

  it("keeps tools of the same name apart by their namespaces", async () => {
    const one = await stage([{ name: "who", run: () => "one" }])
    const two = await stage([{ name: "who", run: () => "two" }])
    const agentId = await makeWorker(server.alpha, { toolsetIds: [two.id, one.id] })
    const log = await turnOf(server.alpha, agentId, call(`${one.namespace}.who`), call(`${two.namespace}.who`))
    assert.deepStrictEqual(outcomes(log), ["one", "two"])
    await Promise.all([one.own.close(), two.own.close()])
  })

  it("brings the toolset's credential, and the new one as soon as it is replaced", async () => {
    const own = await startMcpServer({ token: "first" })
    const { id: connectionId } = (
      await server.alpha.post("/v1/connections", {
        provider: "p",
        name: fresh(),
        secret: { token: "first" },
        allowedHosts: ["127.0.0.1"]
      })
    ).body.connection
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: own.url, connectionId })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    await turnOf(server.alpha, agentId, call(`${namespace}.read`))
    own.expect("second")
    assert.strictEqual(
      (await server.alpha.patch(`/v1/connections/${connectionId}`, { secret: { token: "second" } })).status,
      200
    )
    const log = await turnOf(server.alpha, agentId, call(`${namespace}.read`))
    assert.deepStrictEqual(outcomes(log), ["read"])
    assert.deepStrictEqual(
      own.calls.map(({ authorization }) => authorization),
      ["Bearer first", "Bearer second"]
    )
    await own.close()
  })
})

describe("an output", () => {
  // Encoded it has two quotes more.
  it.each([
    [256 * 1024 - 2, "whole"],
    [256 * 1024 - 1, "cut"],
    [1024 * 1024, "cut"]
  ] as const)("of %i characters is kept %s", async (chars, how) => {
    const [result] = only(await turn(call(`${ns}.big`, { chars }), "/say done"), "tool_result")
    const output = result!.toolOutput
    if (how === "whole") return assert.strictEqual(output, "x".repeat(chars))
    assert.hasAllKeys(output, ["truncated", "text"])
    assert.isAtMost(utf8Bytes(JSON.stringify(output)), 256 * 1024)
    assert.isAbove(utf8Bytes(JSON.stringify(output)), 256 * 1024 - 16)
  })

  it("that breaks the tool's own schema is tool_error, and says where", async () => {
    const log = await turn(call(`${ns}.wrong`))
    assert.deepStrictEqual(failures(log), [
      ["tool_error", "the tool's output does not fit its schema: sum: must be number"]
    ])
    assert.isNull(only(log, "tool_result")[0]!.toolOutput)
    assert.strictEqual(log.at(-1)!.type, "turn_completed")
  })

  it("that says it is an error is tool_error, with the tool's words", async () => {
    assert.deepStrictEqual(failures(await turn(call(`${ns}.fail`), call(`${ns}.crash`))).sort(), [
      ["tool_error", "it went wrong"],
      ["tool_error", "out of order"]
    ])
  })
})
