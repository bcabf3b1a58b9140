/**
 * MCP servers as they are in the field: started again, away, with tasks, of other times, and in want of what Troupe
 * does not give.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { noteProbe } from "../../src/toolsets/changes.ts"
import { noteSeen } from "../../src/toolsets/status.ts"
import type { Tool } from "../../src/tools/Tool.ts"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import { addToolset, call, eventually, fresh, makeWorker, only, turnOf } from "../http/toolFixture.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { type Lie, sendJson, sendResult, startLiar, stream } from "./liar.ts"
import { type McpServerOptions, startMcpServer, type TestTool } from "./mcpServer.ts"
import { startTaskServer, type TaskServerOptions } from "./taskServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const run = <A, E>(work: (toolsets: Toolsets["Service"]) => Effect.Effect<A, E>) =>
  server.runtime.runPromise(Effect.flatMap(Toolsets, work))

let calls = 0

/** The toolset of a server, and ways to call its tools and to see how it stands. */
const registered = async (url: string, fields: object = {}) => {
  const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url, ...fields })
  const workspace = server.workspaces.alpha
  const find = async (name: string): Promise<Tool> => {
    const tools = await run((toolsets) =>
      Effect.flatMap(toolsets.current(workspace, [id]), (found) => toolsets.tools(workspace, found))
    )
    const tool = tools.find((tool) => tool.name === `${namespace}.${name}`)
    return tool ?? assert.fail(`no ${name}`)
  }
  const calling = (tool: Tool, input: unknown = {}) =>
    run((toolsets) => toolsets.call(workspace, tool, input, `call_${calls++}`))
  const read = async () => (await server.alpha.get(`/v1/toolsets/${id}`)).body.toolset
  return {
    id,
    namespace,
    workspace,
    find,
    read,
    calling,
    called: async (name: string, input: unknown = {}) => await calling(await find(name), input),
    refresh: async () => assert.strictEqual((await server.alpha.post(`/v1/toolsets/${id}/refresh`)).status, 200),
    becomes: async (status: string) => {
      await eventually(async () => (await read()).status === status, `the toolset is ${status}`)
      return await read()
    }
  }
}

/** What a turn is told that calls these, of an agent that has these toolsets. */
const failuresOf = async (toolsetIds: ReadonlyArray<string>, ...names: ReadonlyArray<string>) => {
  const agentId = await makeWorker(server.alpha, { toolsetIds })
  return only(await turnOf(server.alpha, agentId, ...names.map((name) => call(name))), "tool_result").map(
    ({ failureCode, failureDetails, ...event }) => ({
      code: failureCode,
      text: JSON.stringify({ failureDetails, ...event })
    })
  )
}

const withServer =
  (
    options: McpServerOptions,
    work: (
      mcp: Awaited<ReturnType<typeof startMcpServer>>,
      toolset: Awaited<ReturnType<typeof registered>>
    ) => Promise<void>
  ) =>
  async () => {
    const mcp = await startMcpServer(options)
    try {
      await work(mcp, await registered(mcp.url))
    } finally {
      await mcp.close()
    }
  }

const withLiar = async <A>(
  point: string,
  lie: Lie,
  work: (liar: Awaited<ReturnType<typeof startLiar>>, toolset: Awaited<ReturnType<typeof registered>>) => Promise<A>
): Promise<A> => {
  const liar = await startLiar(point, lie)
  try {
    return await work(liar, await registered(liar.url))
  } finally {
    await liar.close()
  }
}

const noSession = "Bad Request: No valid session ID provided"

describe("a server that was started again", () => {
  for (const unknownSession of [400, 404, 410, 422]) {
    it(
      `and answers HTTP ${unknownSession} for the session of before is called in a new one, once`,
      withServer({ unknownSession }, async (mcp, { called, read }) => {
        assert.deepStrictEqual(await called("delete.all"), { output: "deleted" })
        await mcp.forgetSessions()
        assert.deepStrictEqual(await called("delete.all"), { output: "deleted" })
        assert.strictEqual(mcp.calls.length, 2)
        assert.strictEqual((await read()).status, "ready")
      })
    )
  }

  it(
    "has one new session, however many calls have failed in the one before",
    withServer({ unknownSession: 400 }, async (mcp, { called }) => {
      await called("read")
      const before = mcp.opened()
      await mcp.forgetSessions()
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => called("delete.all")))
      assert.deepStrictEqual(
        outcomes,
        Array.from({ length: 20 }, () => ({ output: "deleted" }))
      )
      assert.strictEqual(mcp.opened(), before + 1)
    })
  )

  it(
    "has a new session after a refresh",
    withServer({}, async (mcp, { called, refresh }) => {
      await called("read")
      const before = mcp.opened()
      await refresh()
      await called("read")
      // One to look, and one to call in.
      assert.strictEqual(mcp.opened(), before + 2)
    })
  )
})

describe("a call that its server refuses by HTTP", () => {
  /** A server with sessions, which answers calls like that. */
  const refusing =
    (status: number, error: (id: unknown) => object): Lie =>
    (response, { id, method }, honest) => {
      if (method === "initialize") response.setHeader("mcp-session-id", fresh("session"))
      return method === "tools/call" ? sendJson(response, { jsonrpc: "2.0", ...error(id) }, status) : honest()
    }

  it("is called once more in a new session, and fails with the server's own words", () =>
    withLiar(
      "*",
      refusing(400, () => ({ id: null, error: { code: -32000, message: noSession } })),
      async (liar, { called }) => {
        assert.deepStrictEqual(await called("change"), {
          failure: { code: "tool_error", text: `the server answered with HTTP 400: ${noSession}` }
        })
        assert.strictEqual(liar.asked.filter((method) => method === "tools/call").length, 2)
      }
    ))

  it("is not called again where the refusal is the tool's own; the next call has a new session", () =>
    withLiar(
      "*",
      refusing(400, (id) => ({ id, error: { code: -32603, message: "half of it is done" } })),
      async (liar, { called }) => {
        const failure = { code: "tool_error" as const, text: "the server answered with HTTP 400: half of it is done" }
        const count = (method: string) => liar.asked.filter((asked) => asked === method).length
        assert.deepStrictEqual(await called("change"), { failure })
        const sessions = count("initialize")
        assert.strictEqual(count("tools/call"), 1)
        assert.deepStrictEqual(await called("change"), { failure })
        assert.deepStrictEqual([count("tools/call"), count("initialize")], [2, sessions + 1])
      }
    ))

  it("repeats no credential in those words", async () => {
    const token = "a-token-that-is-repeated"
    const connection = await server.alpha.post("/v1/connections", {
      provider: "p",
      name: fresh(),
      secret: { token },
      allowedHosts: ["127.0.0.1"]
    })
    const liar = await startLiar(
      "*",
      refusing(400, () => ({ id: null, error: { code: -32000, message: `${token} is not welcome` } }))
    )
    const { called } = await registered(liar.url, { connectionId: connection.body.connection.id })
    assert.strictEqual(
      (await called("change")).failure?.text,
      "the server answered with HTTP 400: [secret] is not welcome"
    )
    await liar.close()
  })

  it("is about the load where that is said: the session stays", () =>
    withLiar(
      "*",
      refusing(429, () => ({ id: null, error: { code: -32000, message: "slower, please" } })),
      async (liar, { called }) => {
        assert.deepStrictEqual(await called("change"), {
          failure: { code: "toolset_unreachable", text: "the server answered with HTTP 429: slower, please" }
        })
        assert.strictEqual(liar.asked.filter((method) => method === "tools/call").length, 1)
      }
    ))
})

describe("a toolset's status", () => {
  it(
    "follows its calls: unreachable once one has failed, ready once one has worked",
    withServer({}, async (mcp, { becomes, calling, find, read }) => {
      const tool = await find("read")
      assert.deepStrictEqual(await calling(tool), { output: "read" })
      const { lastCheckedAt } = await read()
      await mcp.close()
      assert.strictEqual((await calling(tool)).failure?.code, "toolset_unreachable")
      const away = await becomes("unreachable")
      assert.include(away.statusReason, "ECONNREFUSED")
      assert.isAbove(Date.parse(away.lastCheckedAt), Date.parse(lastCheckedAt))
      assert.strictEqual(away.catalogVersion, 1)

      const again = await startMcpServer({ port: mcp.port })
      assert.deepStrictEqual(await calling(tool), { output: "read" })
      const back = await becomes("ready")
      assert.isUndefined(back.statusReason)
      assert.isAbove(Date.parse(back.lastCheckedAt), Date.parse(away.lastCheckedAt))
      await again.close()
    })
  )

  it(
    "is what was seen last: a probe that has asked earlier and is written later changes only the tools",
    withServer({}, async (mcp, { id, read, workspace }) => {
      const at = Date.now() + 60_000
      const write = (work: (tx: Parameters<typeof noteSeen>[0]) => Promise<unknown>) =>
        server.runtime.runPromise(server.database.atomically("test.seen", work))
      await write((tx) => noteSeen(tx, workspace, id, mcp, { status: "unreachable", reason: "gone", at }))
      await write((tx) => noteProbe(tx, workspace, id, mcp, { status: "ready", tools: [], at: at - 1 }))
      await write((tx) => noteSeen(tx, workspace, id, mcp, { status: "ready", at: at - 1 }))
      const { catalogVersion, status, statusReason, toolCount } = await read()
      assert.deepStrictEqual([status, statusReason, toolCount, catalogVersion], ["unreachable", "gone", 0, 2])
      await write((tx) => noteSeen(tx, workspace, id, mcp, { status: "ready", at }))
      assert.strictEqual((await read()).status, "ready")
      await write((tx) =>
        noteSeen(tx, workspace, id, { url: "http://127.0.0.1:1/" }, { status: "unreachable", at: at + 1 })
      )
      assert.strictEqual((await read()).status, "ready", "of another server")
    })
  )

  it(
    "is unauthorized once a call is, and says so",
    withServer({}, async (mcp, { becomes, called }) => {
      await called("read")
      mcp.expect("another-token-0001")
      assert.strictEqual((await called("read")).failure?.code, "toolset_unauthorized")
      assert.strictEqual((await becomes("unauthorized")).statusReason, "the server answered with HTTP 401")
    })
  )

  it("is looked up where nobody knows how far a call came", () => {
    let down = false
    return withLiar(
      "*",
      (response, { method }, honest) => (down || method === "tools/call" ? response.destroy() : honest()),
      async (_, { becomes, called, find, read }) => {
        const tool = await find("change")
        assert.strictEqual((await called("change")).failure?.code, "tool_outcome_unknown")
        assert.strictEqual((await read()).status, "ready")
        down = true
        assert.strictEqual(
          (await run((toolsets) => toolsets.call(server.workspaces.alpha, tool, {}, "c"))).failure?.code,
          "toolset_unreachable"
        )
        await becomes("unreachable")
      }
    )
  })

  it(
    "is not written for calls that show nothing new",
    withServer({}, async (_, { called, find, calling }) => {
      await called("read")
      const tool = await find("read")
      await calling(tool)
      const before = server.database.counts.api
      const began = performance.now()
      for (let i = 0; i < 50; i++) assert.deepStrictEqual(await calling(tool), { output: "read" })
      const seconds = (performance.now() - began) / 1_000
      // Where the server is is looked up at most once a second; the node looks after itself meanwhile.
      assert.isBelow(server.database.counts.api - before, 20 + 10 * seconds)
    })
  )
})

describe("a tool that was never listed", () => {
  it("is toolset_unreachable or toolset_unauthorized where its server could not be asked, and tool_not_found where it could", async () => {
    const [locked, open] = [await startMcpServer({ token: "a-token-that-nobody-has" }), await startMcpServer()]
    const [dead, forbidden, there] = [
      await registered("http://127.0.0.1:1/mcp"),
      await registered(locked.url),
      await registered(open.url)
    ]
    const failures = await failuresOf(
      [dead.id, forbidden.id, there.id],
      `${dead.namespace}.echo`,
      `${forbidden.namespace}.echo`,
      `${there.namespace}.other`,
      "nowhere.echo"
    )
    assert.deepStrictEqual(
      failures.map(({ code }) => code),
      ["toolset_unreachable", "toolset_unauthorized", "tool_not_found", "tool_not_found"]
    )
    assert.include(failures[0]?.text, "ECONNREFUSED")
    // Nothing else can be called by this one.
    const [alone] = await failuresOf([dead.id], `${dead.namespace}.echo`)
    assert.strictEqual(alone?.code, "toolset_unreachable")
    await Promise.all([locked.close(), open.close()])
  })
})

describe("a tool that has to be run as a task", () => {
  const withTasks = async (
    options: TaskServerOptions,
    work: (
      tasks: Awaited<ReturnType<typeof startTaskServer>>,
      toolset: Awaited<ReturnType<typeof registered>>
    ) => Promise<void>
  ) => {
    const tasks = await startTaskServer(options)
    try {
      await work(tasks, await registered(tasks.url))
    } finally {
      await tasks.close()
    }
  }

  it("is run as one, and its result is the task's; its neighbours are called as ever", () =>
    withTasks({}, async ({ ledger, ttls }, { called, find }) => {
      assert.deepStrictEqual(await called("research"), { output: "found" })
      assert.deepStrictEqual(ledger, ["tools/call", "tasks/get", "tasks/get", "tasks/result"])
      assert.isAbove(Number(ttls[0]), (await find("research")).timeoutMs)
      assert.deepStrictEqual(await called("plain"), { output: "plain" })
      assert.strictEqual(ledger.length, 5)
    }))

  it("fails with what its task failed with", () =>
    withTasks(
      {
        states: [{ status: "failed" }],
        result: { isError: true, content: [{ type: "text", text: "no such library" }] }
      },
      async (_, { called }) => {
        assert.deepStrictEqual(await called("research"), { failure: { code: "tool_error", text: "no such library" } })
      }
    ))

  it("says that its server has cancelled it", () =>
    withTasks({ states: [{ status: "cancelled", statusMessage: "too late" }] }, async (_, { called }) => {
      assert.deepStrictEqual(await called("research"), {
        failure: { code: "tool_error", text: "the server has cancelled the task: too late" }
      })
    }))

  it("is cancelled where it wants an answer of its client, and says so", () =>
    withTasks({ states: [{ status: "input_required" }] }, async ({ ledger }, { called }) => {
      const { failure } = await called("research")
      assert.strictEqual(failure?.code, "tool_error")
      assert.include(failure?.text, "which Troupe does not give")
      await eventually(() => ledger.includes("tasks/cancel"), "the task is cancelled")
    }))

  it("has no known outcome where its server does not know it any more", () =>
    withTasks({ states: [undefined] }, async (_, { called }) => {
      assert.deepStrictEqual(await called("research"), {
        failure: {
          code: "tool_outcome_unknown",
          text: "nothing more is heard of the task: Task not found: the tool may or may not have done its work"
        }
      })
    }))

  it("is cancelled at the server when its call is, while it runs and while it is created", async () => {
    let create = () => {}
    const created = new Promise<void>((resolve) => {
      create = resolve
    })
    for (const [creating, point] of [
      [undefined, "tasks/get"],
      [() => created, "tools/call"]
    ] as const) {
      await withTasks(
        { states: [{ status: "working" }], ...(creating && { creating }) },
        async ({ ledger }, { find, workspace }) => {
          const tool = await find("research")
          await run((toolsets) =>
            Effect.gen(function* () {
              const calling = yield* Effect.forkChild(toolsets.call(workspace, tool, {}, "call_gone"))
              yield* Effect.promise(() => eventually(() => ledger.includes(point), point))
              yield* Fiber.interrupt(calling)
            })
          )
          create()
          await eventually(() => ledger.includes("tasks/cancel"), "the task is cancelled")
        }
      )
    }
  })

  it("ends with its time, and is cancelled", () =>
    withTasks({ states: [{ status: "working" }] }, async ({ ledger }, { calling, find }) => {
      assert.strictEqual((await calling({ ...(await find("research")), timeoutMs: 200 })).failure?.code, "tool_timeout")
      await eventually(() => ledger.includes("tasks/cancel"), "the task is cancelled")
    }))

  it("is left out where its server does not declare that it runs tasks", () =>
    withTasks({ declares: false }, async (_, { read }) => {
      const { status, statusReason, toolCount } = await read()
      assert.deepStrictEqual(
        [status, toolCount, statusReason],
        [
          "ready",
          1,
          "left out: research: it has to be run as a task, and its server does not declare that it runs tasks"
        ]
      )
    }))
})

describe("a server of another kind is told apart", () => {
  /** The status, and the failure of a call of whatever tool it may have. */
  const told = (point: string, lie: Lie) =>
    withLiar(point, lie, async (_, { id, namespace, read }) => {
      const { status, statusReason } = await read()
      const [failure] = await failuresOf([id], `${namespace}.whatever`)
      return { status, statusReason, failure }
    })

  const oldSse: Lie = (response, { method }) => {
    if (method !== "listen") return void response.writeHead(404).end("Cannot POST /sse")
    stream(response).raw("event: endpoint\ndata: /messages?sessionId=1\n\n")
  }
  const initialized =
    (version: string): Lie =>
    (response, { id }) =>
      sendResult(response, id, {
        protocolVersion: version,
        capabilities: { tools: {} },
        serverInfo: { name: "liar", version: "0" }
      })
  const refusedVersion: Lie = (response, { id }) =>
    sendJson(response, {
      jsonrpc: "2.0",
      id,
      error: {
        code: -32602,
        message: "Unsupported protocol version",
        data: { supported: ["2030-01-01"], requested: "2025-11-25" }
      }
    })
  const later: Lie = (response, { id }) =>
    sendJson(response, {
      jsonrpc: "2.0",
      id,
      error: {
        code: -32022,
        message: "Unsupported protocol version",
        data: { supported: ["2030-01-01"], requested: "2026-07-28" }
      }
    })
  const needy: Lie = (response, { id }) =>
    sendJson(
      response,
      {
        jsonrpc: "2.0",
        id,
        error: { code: -32021, message: "Missing capability", data: { requiredCapabilities: { sampling: {} } } }
      },
      400
    )

  for (const [what, point, lie, words] of [
    ["that speaks only the old SSE transport", "*", oldSse, "only MCP's old transport, HTTP with SSE"],
    [
      "that answers with a version of long ago",
      "initialize",
      initialized("1999-01-01"),
      "speaks version 1999-01-01 of MCP, and Troupe speaks 2026-07-28, 2025-11-25"
    ],
    [
      "that refuses the version and says which it speaks",
      "initialize",
      refusedVersion,
      "speaks version 2030-01-01 of MCP"
    ],
    ["of a later revision", "server/discover", later, "speaks version 2030-01-01 of MCP"],
    [
      "that wants a client which can sample",
      "tools/list",
      needy,
      "wants a client with sampling (the answer of a model), which Troupe does not give"
    ]
  ] as const satisfies ReadonlyArray<readonly [string, string, Lie, string]>) {
    it(what, async () => {
      const { failure, status, statusReason } = await told(point, lie)
      assert.strictEqual(status, "unreachable")
      assert.include(statusReason, words)
      assert.strictEqual(failure?.code, "toolset_unreachable")
      assert.include(failure?.text, words)
    })
  }

  const asks = (method: "sampling/createMessage" | "elicitation/create", swallows: boolean): TestTool => ({
    name: method.startsWith("sampling") ? "samples" : "elicits",
    run: async (_, { ask }) => {
      try {
        await ask({
          method,
          params: { messages: [], maxTokens: 1, message: "Who?", requestedSchema: { type: "object", properties: {} } }
        })
        return "answered"
      } catch (error) {
        return { isError: true, content: [{ type: "text", text: swallows ? "no luck" : String(error) }] }
      }
    }
  })

  it(
    "by the tool's error and the toolset's reason, where it asks for sampling or elicitation",
    withServer(
      {
        tools: [asks("sampling/createMessage", false), asks("elicitation/create", true)]
      },
      async (_, { called, read }) => {
        const sampled = (await called("samples")).failure
        assert.strictEqual(sampled?.code, "tool_error")
        assert.include(
          sampled?.text,
          "the server asked for sampling (the answer of a model), which Troupe does not give to tool servers"
        )
        assert.deepStrictEqual(await called("elicits"), {
          failure: {
            code: "tool_error",
            text: "no luck\nthe server asked for elicitation (the answer of a person), which Troupe does not give to tool servers: use a tool, an input or a setting of the server that does without"
          }
        })
        await eventually(
          async () => (await read()).statusReason?.includes("elicitation") === true,
          "the toolset says so"
        )
        assert.strictEqual((await read()).status, "ready")
      }
    )
  )
})
