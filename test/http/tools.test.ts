/**
 * Whole turns that call tools: HTTP in, a journal in PostgreSQL, real MCP servers out, and their ledgers to say what
 * has run.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { readOnly } from "../../src/roles/role.ts"
import { utf8Bytes } from "../../src/domain/text.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { endless, type Lie, type Liar, listedTools, sendJson, startLiar, stream } from "../tools/liar.ts"
import { type McpServer, startMcpServer, type TestTool } from "../tools/mcpServer.ts"
import { ended, type Event, logOf, submit } from "./threadFixture.ts"
import {
  addRole,
  addToolset,
  assertSound,
  begin,
  call,
  eventually,
  fresh,
  Gate,
  makeWorker,
  only,
  outcomes,
  resolveWait,
  told,
  turnOf,
  waitsOf
} from "./toolFixture.ts"

let server: TestServer
let mcp: McpServer
/** Of `mcp`, and an agent that has it. */
let ns: string
let worker: string
beforeAll(async () => {
  ;[server, mcp] = await Promise.all([startServer({ idleMs: 100, leaseTtlMs: 20_000 }), startMcpServer()])
  const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
  ns = namespace
  worker = await makeWorker(server.alpha, { toolsetIds: [id] })
})
afterAll(async () => {
  await assertSound(server)
  await Promise.all([server.stop(), mcp.close()])
})

const turn = (...lines: ReadonlyArray<string>) => turnOf(server.alpha, worker, ...lines)
const executed = (log: ReadonlyArray<Event>, ledger: McpServer = mcp) => {
  const ids = new Set(only(log, "tool_intent").map(({ toolCallId }) => toolCallId))
  return ledger.calls.filter(({ toolCallId }) => ids.has(toolCallId))
}
const failures = (log: ReadonlyArray<Event>) =>
  only(log, "tool_result").map(({ failureCode, failureText }) => [failureCode, failureText])

/** A server of tools of the test's own, its toolset, and an agent that has it. */
const stage = async (tools: ReadonlyArray<TestTool>, profile: object = {}, toolset: object = {}) => {
  const own = await startMcpServer({ tools })
  const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: own.url, ...toolset })
  return { own, id, namespace, agentId: await makeWorker(server.alpha, { toolsetIds: [id], ...profile }) }
}

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
      executed(log).map(({ input, tool }) => [tool, input]),
      [
        ["add", { a: 2, b: 3 }],
        ["delete.all", {}]
      ]
    )
  })

  it("sends each call's id as the key of its one effect, and notes how long it took", async () => {
    const log = await turn(call(`${ns}.echo`, { text: "a" }), call(`${ns}.slow`, { ms: 50 }))
    const intents = only(log, "tool_intent")
    const ledger = executed(log)
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

describe("a call that does not run", () => {
  const reaches = async (log: ReadonlyArray<Event>, codes: ReadonlyArray<string>, ledger: McpServer = mcp) => {
    assert.deepStrictEqual(outcomes(log), [...codes])
    assert.deepStrictEqual(executed(log, ledger), [])
    assert.strictEqual(log.at(-1)!.type, "turn_completed")
  }

  it("for want of such a tool is tool_not_found", async () => {
    const names = [
      `${ns}.nothing`,
      "nothing",
      "echo",
      `${ns}.`,
      `${ns}.ECHO`,
      `${ns.toUpperCase()}.echo`,
      `${ns}.*`,
      "*",
      "__proto__",
      "constructor",
      "n.".repeat(200)
    ]
    await reaches(
      await turn(...names.map((name) => call(name, { text: "a" }))),
      names.map(() => "tool_not_found")
    )
  })

  it("for its input is tool_input_invalid, whether it is no JSON or does not fit", async () => {
    const log = await turn(
      `/call ${ns}.echo {"text": `,
      `/call ${ns}.echo [1]`,
      `/call ${ns}.echo null`,
      call(`${ns}.echo`, { text: 1 }),
      call(`${ns}.echo`),
      call(`${ns}.echo`, { text: "a", more: 1 })
    )
    await reaches(
      log,
      Array.from({ length: 6 }, () => "tool_input_invalid")
    )
    assert.strictEqual(only(log, "tool_intent")[0]!.toolInput, `{"text":`)
    assert.include(String(failures(log)[3]![1]), "text")
  })

  it("for its roles is tool_denied, by name, by input and for want of a grant", async () => {
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
    const roleIds = [
      await addRole(server.alpha, {
        allow: [
          { tools: `${namespace}.echo`, conditions: [{ path: "/text", op: "startsWith", value: "ok" }] },
          { tools: `${namespace}.put` }
        ],
        deny: [
          { tools: `${namespace}.echo`, conditions: [{ path: "/text", op: "contains", value: "secret" }] },
          { tools: `*.put` }
        ]
      })
    ]
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id], roleIds })
    const log = await turnOf(
      server.alpha,
      agentId,
      call(`${namespace}.echo`, { text: "ok" }),
      call(`${namespace}.echo`, { text: "no" }),
      call(`${namespace}.echo`, { text: "ok secret" }),
      call(`${namespace}.put`),
      call(`${namespace}.read`),
      call(`${namespace}.echo`, { text: 5 })
    )
    assert.deepStrictEqual(outcomes(log), [
      "ok",
      "tool_denied",
      "tool_denied",
      "tool_denied",
      "tool_denied",
      "tool_denied"
    ])
    assert.deepStrictEqual(
      executed(log).map(({ input }) => input),
      [{ text: "ok" }]
    )
  })

  it("with the built-in roles is what they do not allow", async () => {
    for (const [role, codes] of [
      ["role_00000000000000000000000002", ["read", "tool_denied"]],
      ["role_00000000000000000000000003", ["tool_denied", "tool_denied"]]
    ] as const) {
      const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
      const agentId = await makeWorker(server.alpha, { toolsetIds: [id], roleIds: [role] })
      assert.deepStrictEqual(
        outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.read`), call(`${namespace}.put`))),
        [...codes]
      )
    }
  })

  it("because it has not been revealed is tool_not_found", async () => {
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url, exposure: "search" })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    await reaches(await turnOf(server.alpha, agentId, call(`${namespace}.read`)), ["tool_not_found"])
  })

  it("because include and exclude leave it out is tool_not_found", async () => {
    const { id, namespace } = await addToolset(server.alpha, {
      kind: "mcp",
      url: mcp.url,
      include: ["read", "put"],
      exclude: ["put"]
    })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    assert.deepStrictEqual(
      outcomes(
        await turnOf(
          server.alpha,
          agentId,
          call(`${namespace}.read`),
          call(`${namespace}.put`),
          call(`${namespace}.echo`, { text: "" })
        )
      ),
      ["read", "tool_not_found", "tool_not_found"]
    )
  })

  it("is one of more than 128 in a response: that turn fails, and none of them runs", async () => {
    const log = await turn(...Array.from({ length: 129 }, () => call(`${ns}.read`)))
    assert.deepStrictEqual(told(log), ["user_message", "turn_failed: model_error"])
    const most = await turn(...Array.from({ length: 128 }, () => call(`${ns}.read`)), "/say done")
    assert.lengthOf(executed(most), 128)
  })
})

describe("a server", () => {
  it("that is gone is toolset_unreachable, and comes back by itself", async () => {
    const own = await startMcpServer()
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: own.url })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    const again = async () =>
      outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.put`), call(`${namespace}.delete.all`)))
    assert.deepStrictEqual(await again(), ["put", "deleted"])
    await own.forgetSessions()
    assert.deepStrictEqual(await again(), ["put", "deleted"], "a session that is over is opened again")
    await own.close()
    assert.deepStrictEqual(await again(), ["toolset_unreachable", "toolset_unreachable"])
  })

  it("that wants another credential is toolset_unauthorized, without a call", async () => {
    const own = await startMcpServer()
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: own.url })
    own.expect("something else")
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    assert.deepStrictEqual(outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.read`))), [
      "toolset_unauthorized"
    ])
    assert.deepStrictEqual(own.calls, [])
    await own.close()
  })

  const status =
    (code: number, headers: Record<string, string> = {}): Lie =>
    (response) =>
      response.writeHead(code, headers).end("x")
  /** What becomes of `change`, which must not run twice, and of `look`, which may. */
  const lies: ReadonlyArray<readonly [what: string, lie: Lie, change: string, look: string]> = [
    ["redirects", status(302, { location: "http://127.0.0.1:1/secret" }), "toolset_unreachable", "toolset_unreachable"],
    ["says that it is busy", status(503), "toolset_unreachable", "toolset_unreachable"],
    ["refuses the credential", status(401), "toolset_unauthorized", "toolset_unauthorized"],
    ["breaks", status(500), "tool_outcome_unknown", "toolset_unreachable"],
    ["closes the connection", (response) => response.destroy(), "tool_outcome_unknown", "toolset_unreachable"],
    [
      "ends its stream without an answer",
      (response) => {
        stream(response)
        response.end()
      },
      "tool_outcome_unknown",
      "toolset_unreachable"
    ],
    [
      "answers with a page",
      (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      "tool_error",
      "tool_error"
    ],
    ["answers with broken JSON", (response) => sendJson(response, "{"), "tool_error", "tool_error"],
    [
      "floods",
      (response) => endless(response.writeHead(200, { "content-type": "application/json" }), "[".repeat(65_536), 0),
      "tool_error",
      "tool_error"
    ],
    [
      "sends an event without an end",
      (response) => {
        stream(response)
        return endless(response, `data: ${"x".repeat(65_536)}`, 0)
      },
      "tool_outcome_unknown",
      "toolset_unreachable"
    ]
  ]
  for (const [what, lie, change, look] of lies)
    it.concurrent(`that ${what} at a call: ${change}, or ${look} where it may run again; the turn goes on`, async () => {
      const liar: Liar = await startLiar("tools/call", lie)
      const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: liar.url })
      const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
      const log = await turnOf(server.alpha, agentId, ...listedTools.map(({ name }) => call(`${namespace}.${name}`)))
      assert.deepStrictEqual(outcomes(log), [change, look], JSON.stringify(failures(log)))
      assert.strictEqual(log.at(-1)!.type, "turn_completed")
      await liar.close()
    })
})

describe("a server that nobody has said to be trusted", () => {
  it("is not believed that a tool changes nothing: read_only does not allow it, until the toolset says so", async () => {
    const { agentId, id, namespace } = await stage(
      [{ name: "wipe", annotations: { readOnlyHint: true }, run: () => "wiped" }],
      { roleIds: [readOnly.id] },
      { trusted: false }
    )
    const wipe = async () => outcomes(await turnOf(server.alpha, agentId, call(`${namespace}.wipe`)))
    assert.deepStrictEqual(await wipe(), ["tool_denied"])
    assert.strictEqual((await server.alpha.patch(`/v1/toolsets/${id}`, { trusted: true })).status, 200)
    assert.deepStrictEqual(await wipe(), ["wiped"])
    assert.strictEqual((await server.alpha.patch(`/v1/toolsets/${id}`, { trusted: false })).status, 200)
    assert.deepStrictEqual(await wipe(), ["tool_denied"])
  })

  it("is not believed that a call may run again: where nobody knows, that is what is said", async () => {
    const liar = await startLiar("tools/call", (response) => response.destroy())
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: liar.url, trusted: false })
    const agentId = await makeWorker(server.alpha, { toolsetIds: [id] })
    const log = await turnOf(server.alpha, agentId, ...listedTools.map(({ name }) => call(`${namespace}.${name}`)))
    assert.deepStrictEqual(outcomes(log), ["tool_outcome_unknown", "tool_outcome_unknown"])
    assert.strictEqual(liar.times(), 2)
    await liar.close()
  })
})

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
