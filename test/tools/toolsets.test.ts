import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { toUuid } from "../../src/domain/ids.ts"
import type { Tool } from "../../src/tools/Tool.ts"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { type Era, type McpServerOptions, startMcpServer, type TestTool, usualTools } from "./mcpServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const run = <A, E>(work: (toolsets: Toolsets["Service"]) => Effect.Effect<A, E>) =>
  server.runtime.runPromise(Effect.flatMap(Toolsets, work))

/** Until it holds: changes arrive when they arrive. */
const eventually = async (holds: () => boolean | Promise<boolean>, what: string) => {
  for (const deadline = Date.now() + 15_000; !(await holds()); await sleep(10)) {
    if (Date.now() > deadline) assert.fail(`never happened: ${what}`)
  }
}

let made = 0

/** A server, its toolset, and ways to ask for what a turn asks. */
const world = async (era: Era, options: McpServerOptions = {}, fields: object = {}) => {
  const mcp = await startMcpServer({ ...options, era })
  const namespace = `world${made++}`
  const answer = await server.alpha.post("/v1/toolsets", {
    kind: "mcp",
    namespace,
    url: mcp.url,
    trusted: true,
    ...fields
  })
  assert.strictEqual(answer.status, 201, answer.text)
  const { id } = answer.body.toolset
  const workspace = server.workspaces.alpha
  const current = () => run((toolsets) => toolsets.current(workspace, [id]))
  const tools = async () =>
    await run((toolsets) =>
      Effect.flatMap(toolsets.current(workspace, [id]), (found) => toolsets.tools(workspace, found))
    )
  const find = async (name: string): Promise<Tool> => {
    const tool = (await tools()).find((tool) => tool.name === `${namespace}.${name}`)
    if (tool === undefined) throw new Error(`no ${name}`)
    return tool
  }
  const call = async (name: string, input: unknown = {}, toolCallId = `call_${made++}`) => {
    const tool = await find(name)
    return await run((toolsets) => toolsets.call(workspace, tool, input, toolCallId))
  }
  const read = async () => (await server.alpha.get(`/v1/toolsets/${id}`)).body.toolset
  return { mcp, id, namespace, workspace, current, tools, find, call, read, close: () => mcp.close() }
}
type World = Awaited<ReturnType<typeof world>>

const within =
  (era: Era, work: (world: World) => Promise<void>, options: McpServerOptions = {}, fields: object = {}) =>
  async () => {
    const made = await world(era, options, fields)
    try {
      await work(made)
    } finally {
      await made.close()
    }
  }

const text = (name: string, said: string): TestTool => ({ name, run: () => said })

describe.each(["sessions", "modern"] as const)("a call of a tool (%s)", (era) => {
  it(
    "gives structuredContent, or the text of a single block, or the blocks",
    within(era, async ({ call }) => {
      assert.deepStrictEqual(await call("add", { a: 2, b: 3 }), { output: { sum: 5 } })
      assert.deepStrictEqual(await call("echo", { text: '{"not": "parsed"}' }), { output: '{"not": "parsed"}' })
      assert.deepStrictEqual(await call("blocks"), {
        output: [
          { type: "text", text: "one" },
          { type: "text", text: "two" }
        ]
      })
    })
  )

  it(
    "keeps what its tool says beside the output: other blocks, their annotations, _meta; of an image without room, that it was there",
    within(
      era,
      async ({ call }) => {
        const picture = {
          type: "image",
          mimeType: "image/png",
          data: "AAAA",
          annotations: { audience: ["user"], priority: 0.5 }
        }
        const seen = [{ type: "text", text: "As a picture:" }, picture]
        assert.deepStrictEqual(await call("shown"), {
          output: { sum: 5 },
          beside: { content: seen, meta: { "example.com/cost": 3 } }
        })
        const noted = { type: "text", text: "five", annotations: { priority: 1 } }
        assert.deepStrictEqual(await call("noted"), { output: "five", beside: { content: [noted] } })
        assert.deepStrictEqual(await call("large"), {
          output: [
            { type: "text", text: "large" },
            { type: "image", mimeType: "image/png", truncated: true, bytes: 300_000 }
          ]
        })
      },
      {
        tools: [
          {
            name: "shown",
            outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
            run: () => ({
              structuredContent: { sum: 5 },
              _meta: { "example.com/cost": 3 },
              content: [
                { type: "text", text: "As a picture:" },
                {
                  type: "image",
                  mimeType: "image/png",
                  data: "AAAA",
                  annotations: { audience: ["user"], priority: 0.5 }
                }
              ]
            })
          },
          { name: "noted", run: () => ({ content: [{ type: "text", text: "five", annotations: { priority: 1 } }] }) },
          {
            name: "large",
            run: () => ({
              content: [
                { type: "text", text: "large" },
                { type: "image", mimeType: "image/png", data: Buffer.alloc(300_000).toString("base64") }
              ]
            })
          }
        ]
      }
    )
  )

  it(
    "brings its id as idempotency key, in the message and in the header, and its input as it is",
    within(era, async ({ call, mcp }) => {
      const input = { text: "é\u0000\ud83d\ude00" }
      assert.deepStrictEqual(await call("echo", input, "call_7"), { output: input.text })
      assert.deepStrictEqual(mcp.calls, [
        {
          tool: "echo",
          input,
          toolCallId: "call_7",
          idempotencyKey: "call_7",
          authorization: null,
          cancelled: false,
          over: true
        }
      ])
    })
  )

  it(
    "fails with what the tool says went wrong",
    within(era, async ({ call }) => {
      assert.deepStrictEqual(await call("fail"), { failure: { code: "tool_error", text: "it went wrong" } })
      assert.deepStrictEqual(await call("crash"), { failure: { code: "tool_error", text: "out of order" } })
    })
  )

  it(
    "fails where the output breaks the tool's own schema, and says where",
    within(era, async ({ call }) => {
      assert.deepStrictEqual(await call("wrong"), {
        failure: { code: "tool_error", text: "the tool's output does not fit its schema: sum: must be number" }
      })
    })
  )

  it(
    "fails where a tool with an output schema gives no structuredContent",
    within(
      era,
      async ({ call }) => {
        assert.deepStrictEqual(await call("odd"), {
          failure: {
            code: "tool_error",
            text: "the tool's output does not fit its schema: it has no structuredContent"
          }
        })
      },
      { tools: [{ ...text("odd", "7"), outputSchema: { type: "object" } }] }
    )
  )

  it(
    "cuts an output of more than 256 KiB",
    within(era, async ({ call }) => {
      const most = 256 * 1024 - 2
      assert.deepStrictEqual(await call("big", { chars: most }), { output: "x".repeat(most) })
      const { output } = await call("big", { chars: most + 1 })
      assert.deepStrictEqual(Object.keys(output as object), ["truncated", "text"])
      assert.isAtMost(JSON.stringify(output).length, 256 * 1024)
      assert.isAbove(JSON.stringify(output).length, 256 * 1024 - 100)
    })
  )

  it(
    "ends with tool_timeout when its time is up, and is cancelled at the server",
    within(era, async ({ find, mcp, workspace }) => {
      const tool: Tool = { ...(await find("slow")), timeoutMs: 100 }
      const outcome = await run((toolsets) => toolsets.call(workspace, tool, { ms: 60_000 }, "call_slow"))
      assert.deepStrictEqual(outcome, { failure: { code: "tool_timeout", text: "no result within 100 ms" } })
      await eventually(() => mcp.calls[0]?.cancelled === true, "the call is cancelled")
    })
  )

  it(
    "is cancelled at the server when it is interrupted",
    within(era, async ({ find, mcp, workspace }) => {
      const tool = await find("slow")
      await run((toolsets) =>
        Effect.gen(function* () {
          const calling = yield* Effect.forkChild(toolsets.call(workspace, tool, { ms: 60_000 }, "call_gone"))
          yield* Effect.promise(() => eventually(() => mcp.calls.length === 1, "the call is there"))
          yield* Fiber.interrupt(calling)
        })
      )
      await eventually(() => mcp.calls[0]?.cancelled === true, "the call is cancelled")
    })
  )

  it(
    "keeps a structure whose image is too large without its bytes, which it says in words",
    within(
      era,
      async ({ call }) => {
        const { beside, output } = await call("photo")
        assert.deepStrictEqual(output, {
          content: [{ type: "image", mimeType: "image/png", data: "[image, image/png, 240000 bytes]" }]
        })
        assert.deepStrictEqual(beside, {
          content: [{ type: "image", mimeType: "image/png", truncated: true, bytes: 240_000 }]
        })
      },
      {
        tools: [
          {
            name: "photo",
            run: () => {
              const content = [{ type: "image", mimeType: "image/png", data: Buffer.alloc(240_000).toString("base64") }]
              return { content, structuredContent: { content } }
            }
          }
        ]
      }
    )
  )

  it(
    "is one of many at once, each with its own answer, over one session",
    within(era, async ({ call, mcp }) => {
      const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => call("add", { a: i, b: i })))
      assert.deepStrictEqual(
        outcomes,
        Array.from({ length: 50 }, (_, i) => ({ output: { sum: 2 * i } }))
      )
      // The probe's is closed.
      if (era === "sessions") await eventually(() => mcp.sessions() === 1, "one session")
    })
  )

  it(
    "ends with tool_not_found where the server does not have the tool any more",
    within(era, async ({ call, find, mcp, workspace }) => {
      const tool = await find("echo")
      await call("echo", { text: "x" })
      await mcp.offer([text("other", "x")], false)
      assert.deepStrictEqual(await run((toolsets) => toolsets.call(workspace, tool, { text: "x" }, "c")), {
        failure: { code: "tool_not_found", text: "the toolset's server does not have this tool any more" }
      })
    })
  )

  it(
    "ends with tool_error where the server has the tool and does not like the call",
    within(
      era,
      async ({ call }) => {
        assert.deepStrictEqual(await call("picky"), { failure: { code: "tool_error", text: "not like this" } })
      },
      {
        tools: [
          {
            name: "picky",
            run: () => {
              throw Object.assign(new Error("not like this"), { code: -32602 })
            }
          }
        ]
      }
    )
  )

  it(
    "ends with tool_not_found where the toolset is deleted",
    within(era, async ({ find, id, workspace }) => {
      const tool = await find("echo")
      assert.strictEqual((await server.alpha.delete(`/v1/toolsets/${id}`)).status, 204)
      assert.deepStrictEqual(await run((toolsets) => toolsets.call(workspace, tool, { text: "x" }, "c")), {
        failure: { code: "tool_not_found", text: "the toolset is not there any more" }
      })
    })
  )

  it(
    "ends with toolset_unreachable where nobody listens any more",
    within(era, async ({ call, close, find, workspace }) => {
      const [harmless, other] = [await find("put"), await find("delete.all")]
      assert.deepStrictEqual(await call("put"), { output: "put" })
      await close()
      const again = (tool: Tool) => run((toolsets) => toolsets.call(workspace, tool, {}, "c"))
      assert.strictEqual((await again(harmless)).failure?.code, "toolset_unreachable")
      assert.strictEqual((await again(other)).failure?.code, "toolset_unreachable")
    })
  )
})

describe("a session with a server", () => {
  it(
    "is opened again when the server has forgotten it, and the call is carried out once",
    within("sessions", async ({ call, mcp }) => {
      assert.deepStrictEqual(await call("delete.all"), { output: "deleted" })
      await mcp.forgetSessions()
      assert.deepStrictEqual(await call("delete.all"), { output: "deleted" })
      assert.strictEqual(mcp.calls.length, 2)
      await eventually(() => mcp.sessions() === 1, "one session")
    })
  )

  it("is another one after the toolset has moved to another server", async () => {
    const [first, second] = [
      await world("sessions", { tools: [text("who", "first")] }),
      await startMcpServer({ tools: [text("who", "second")] })
    ]
    assert.deepStrictEqual(await first.call("who"), { output: "first" })
    assert.strictEqual((await server.alpha.patch(`/v1/toolsets/${first.id}`, { url: second.url })).status, 200)
    assert.deepStrictEqual(await first.call("who"), { output: "second" })
    await Promise.all([first.close(), second.close()])
  })

  it("brings the connection's token, and its next one once that is replaced", async () => {
    const connection = await server.alpha.post("/v1/connections", {
      provider: "p",
      name: "C",
      secret: { token: "first-token-0001" },
      allowedHosts: ["127.0.0.1"]
    })
    const connectionId = connection.body.connection.id
    const { call, close, mcp, read } = await world("sessions", { token: "first-token-0001" }, { connectionId })
    assert.strictEqual((await read()).status, "ready")
    assert.deepStrictEqual(await call("read"), { output: "read" })
    assert.strictEqual(mcp.calls[0]?.authorization, "Bearer first-token-0001")

    mcp.expect("second-token-0002")
    assert.deepStrictEqual(await call("read"), {
      failure: { code: "toolset_unauthorized", text: "the server answered with HTTP 401" }
    })
    assert.strictEqual(
      (await server.alpha.patch(`/v1/connections/${connectionId}`, { secret: { token: "second-token-0002" } })).status,
      200
    )
    assert.deepStrictEqual(await call("read"), { output: "read" })
    assert.strictEqual(mcp.calls[1]?.authorization, "Bearer second-token-0002")
    await close()
  })

  it("brings the secret in the header that its connection names, as it is, and nothing in Authorization", async () => {
    const [first, second] = ["first-key-0001", "second-key-0002"]
    const connection = await server.alpha.post("/v1/connections", {
      provider: "p",
      name: "C",
      secret: { apiKey: first },
      allowedHosts: ["127.0.0.1"],
      header: "X-API-Key"
    })
    const connectionId = connection.body.connection.id
    const { call, close, mcp, read } = await world(
      "sessions",
      { token: first, tokenHeader: "x-api-key" },
      { connectionId }
    )
    assert.strictEqual((await read()).status, "ready")
    assert.deepStrictEqual(await call("read"), { output: "read" })
    assert.strictEqual(mcp.calls[0]?.authorization, null)
    mcp.expect(second)
    assert.strictEqual(
      (await server.alpha.patch(`/v1/connections/${connectionId}`, { secret: { apiKey: second } })).status,
      200
    )
    assert.deepStrictEqual(await call("read"), { output: "read" })
    await close()
  })

  it.each([{}, { header: "X-API-Key" }])(
    "says nowhere again what secret it was asked with, whatever the server does with it (%j)",
    async (named) => {
      const token = "third-token-0003"
      const connection = await server.alpha.post("/v1/connections", {
        provider: "p",
        name: "C",
        secret: { token },
        allowedHosts: ["127.0.0.1"],
        ...named
      })
      const repeats = `I was asked with Bearer ${token}.`
      const tools: ReadonlyArray<TestTool> = [
        { name: "tell", description: repeats, run: () => repeats },
        {
          name: "deep",
          run: () => ({
            content: [{ type: "text", text: repeats }],
            _meta: { asked: repeats },
            structuredContent: { headers: [{ [token]: { authorization: `Bearer ${token}` } }] }
          })
        },
        { name: "fails", run: () => ({ isError: true, content: [{ type: "text", text: repeats }] }) },
        {
          name: "throws",
          run: () => {
            throw new Error(repeats)
          }
        }
      ]
      const { call, close, find } = await world(
        "sessions",
        { token, tools, ...("header" in named && { tokenHeader: "x-api-key" }) },
        { connectionId: connection.body.connection.id }
      )
      const hidden = "I was asked with Bearer [secret]."
      assert.strictEqual((await find("tell")).description, hidden)
      assert.deepStrictEqual(await call("tell"), { output: hidden })
      assert.deepStrictEqual(await call("deep"), {
        output: { headers: [{ "[secret]": { authorization: "Bearer [secret]" } }] },
        beside: { content: [{ type: "text", text: hidden }], meta: { asked: hidden } }
      })
      assert.deepStrictEqual(await call("fails"), { failure: { code: "tool_error", text: hidden } })
      const thrown = await call("throws")
      assert.ok(
        "failure" in thrown &&
          thrown.failure?.text.includes("[secret]") === true &&
          !JSON.stringify(thrown).includes(token),
        JSON.stringify(thrown)
      )
      await close()
    }
  )

  it("sends no token to a host that its connection does not allow", async () => {
    const connection = await server.alpha.post("/v1/connections", {
      provider: "p",
      name: "C",
      secret: { token: "first-token-0001" },
      allowedHosts: ["tools.example.com"]
    })
    const { close, mcp, read } = await world("sessions", {}, { connectionId: connection.body.connection.id })
    const { status, statusReason } = await read()
    assert.deepStrictEqual([status, statusReason], ["unreachable", "the host is not among the allowed ones"])
    assert.deepStrictEqual(mcp.requests, [])
    await close()
  })

  it("cannot be opened with a connection that holds no token", async () => {
    const secret = { signingSecret: `whsec_${Buffer.alloc(24).toString("base64")}` }
    const connection = await server.alpha.post("/v1/connections", { provider: "p", name: "C", secret })
    const { close, id, read } = await world("sessions")
    // No toolset gets one now; one of an earlier version may have it.
    await server.runtime.runPromise(
      server.database.run("test", (db) =>
        db
          .updateTable("toolsets")
          .set({ connection: toUuid(connection.body.connection.id) })
          .where("id", "=", toUuid(id))
          .execute()
      )
    )
    assert.strictEqual((await server.alpha.post(`/v1/toolsets/${id}/refresh`)).status, 200)
    assert.strictEqual((await server.alpha.patch(`/v1/toolsets/${id}`, { description: "As it was" })).status, 200)
    const { status, statusReason } = await read()
    assert.deepStrictEqual([status, statusReason], ["unauthorized", "the connection holds no token that can be used"])
    await close()
  })

  it("is closed when the node leaves", async () => {
    const mcp = await startMcpServer()
    const node = await startServer()
    const { body } = await node.alpha.post("/v1/toolsets", { kind: "mcp", namespace: "n", url: mcp.url })
    const workspace = node.workspaces.alpha
    await node.runtime.runPromise(
      Effect.gen(function* () {
        const toolsets = yield* Toolsets
        const [tool] = yield* toolsets.tools(workspace, yield* toolsets.current(workspace, [body.toolset.id]))
        if (tool !== undefined) yield* toolsets.call(workspace, tool, { text: "x" }, "c")
      })
    )
    assert.strictEqual(mcp.sessions(), 1)
    await node.stop()
    await eventually(() => mcp.sessions() === 0, "no session")
    await mcp.close()
  })
})

describe.each(["sessions", "modern"] as const)("a catalogue (%s)", (era) => {
  it(
    "follows its server when that announces a change",
    within(era, async ({ call, current, mcp, read, tools }) => {
      await call("echo", { text: "opens a session" })
      const [before] = await current()
      await mcp.offer([text("new", "x")])
      await eventually(async () => (await tools()).length === 1, "the new list is there")
      const [after] = await current()
      assert.deepStrictEqual([before?.version, after?.version], [1, 2])
      const { catalogVersion, toolCount } = await read()
      assert.deepStrictEqual([catalogVersion, toolCount], [2, 1])
    })
  )

  it(
    "stays what it was for a turn that began with it",
    within(era, async ({ current, id, mcp, namespace, workspace }) => {
      const before = await current()
      const first = await run((toolsets) => toolsets.tools(workspace, before))
      await mcp.offer([text("new", "x")], false)
      assert.strictEqual((await server.alpha.post(`/v1/toolsets/${id}/refresh`)).body.toolset.catalogVersion, 2)
      assert.strictEqual(
        (
          await server.alpha.patch(`/v1/toolsets/${id}`, {
            namespace: `${namespace}x`,
            exposure: "search",
            exclude: ["new"]
          })
        ).status,
        200
      )
      const again = await run((toolsets) => toolsets.tools(workspace, before))
      assert.isTrue(
        first.every((tool, i) => tool === again[i]),
        "the same objects"
      )
      assert.deepStrictEqual(
        [again.length, again[0]?.name, again[0]?.exposure],
        [usualTools.length, `${namespace}.echo`, "always"]
      )
      assert.deepStrictEqual(
        await run((toolsets) =>
          Effect.flatMap(toolsets.current(workspace, [id]), (found) => toolsets.tools(workspace, found))
        ),
        []
      )
    })
  )

  it(
    "has no new version where nothing has changed",
    within(era, async ({ call, id, read }) => {
      for (let i = 0; i < 2; i++)
        assert.strictEqual((await server.alpha.post(`/v1/toolsets/${id}/refresh`)).status, 200)
      await call("echo", { text: "opens a session, which asks again" })
      assert.strictEqual((await read()).catalogVersion, 1)
    })
  )

  it(
    "is read over as many pages as there are",
    within(
      era,
      async ({ tools }) => {
        assert.deepStrictEqual((await tools()).length, usualTools.length)
      },
      { pageSize: 3 }
    )
  )
})

describe("the tools of turns", () => {
  it("are named by their namespace, in the order of the toolsets, with what their makers say", async () => {
    const [one, two] = [
      await world("modern", { tools: [text("a.b-c", "x")] }),
      await world("modern", { tools: usualTools })
    ]
    const workspace = server.workspaces.alpha
    const refs = await run((toolsets) =>
      toolsets.current(workspace, [two.id, "tset_01m7y1svs7e0087pe32vr71000", one.id])
    )
    assert.deepStrictEqual(refs, [
      { id: two.id, version: 1 },
      { id: one.id, version: 1 }
    ])
    const tools = await run((toolsets) => toolsets.tools(workspace, [...refs, { id: one.id, version: 99 }]))
    assert.deepStrictEqual(
      tools.map(({ name }) => name),
      [...usualTools.map(({ name }) => `${two.namespace}.${name}`), `${one.namespace}.a.b-c`]
    )
    assert.deepStrictEqual(tools[0], {
      name: `${two.namespace}.echo`,
      toolsetId: two.id,
      namespace: two.namespace,
      kind: "mcp",
      exposure: "always",
      description: "Gives back its text",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
        additionalProperties: false
      },
      annotations: { readOnlyHint: true, title: "Echo" },
      timeoutMs: 60_000
    })
    await Promise.all([one.close(), two.close()])
  })

  it("of a client toolset have the hour where they say 0 or nothing", async () => {
    const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })
    const answer = await server.alpha.post("/v1/toolsets", {
      kind: "client",
      namespace: "hours",
      exposure: "search",
      tools: [tool("a"), tool("b", { timeoutMs: 0 }), tool("c", { timeoutMs: 10_000 })]
    })
    const workspace = server.workspaces.alpha
    const tools = await run((toolsets) =>
      Effect.flatMap(toolsets.current(workspace, [answer.body.toolset.id]), (found) => toolsets.tools(workspace, found))
    )
    assert.deepStrictEqual(
      tools.map(({ exposure, kind, name, timeoutMs }) => [name, kind, exposure, timeoutMs]),
      [
        ["hours.a", "client", "search", 3_600_000],
        ["hours.b", "client", "search", 3_600_000],
        ["hours.c", "client", "search", 10_000]
      ]
    )
    assert.strictEqual(
      (await run((toolsets) => toolsets.call(workspace, tools[0]!, {}, "c"))).failure?.code,
      "tool_not_found"
    )
  })

  it(
    "of another workspace are not there",
    within("modern", async ({ current, find, id }) => {
      const beta = server.workspaces.beta
      const refs = await current()
      assert.deepStrictEqual(await run((toolsets) => toolsets.current(beta, [id])), [])
      assert.deepStrictEqual(await run((toolsets) => toolsets.tools(beta, refs)), [])
      const tool = await find("echo")
      assert.strictEqual(
        (await run((toolsets) => toolsets.call(beta, tool, { text: "x" }, "c"))).failure?.code,
        "tool_not_found"
      )
    })
  )

  it(
    "come from memory: no query for what was asked within the last second",
    within("modern", async ({ current, tools }) => {
      await tools()
      const before = server.database.counts.api
      for (let i = 0; i < 20; i++) await tools()
      await current()
      assert.isAtMost(server.database.counts.api - before, 1)
    })
  )
})
