/** MCP servers as they are in the field: started again, away, refusing, and how their toolset stands then. */
import { assert, describe, it } from "@effect/vitest"
import { noteProbe } from "../../src/toolsets/changes.ts"
import { noteSeen } from "../../src/toolsets/status.ts"
import { fresh } from "../http/toolFixture.ts"
import { sharedServer } from "../setup/server.ts"
import { type Lie, sendJson, startLiar } from "./liar.ts"
import { startMcpServer } from "./mcpServer.ts"
import { makeFieldTools } from "./fieldFixture.ts"

const server = await sharedServer()
const { failuresOf, registered, run, withLiar, withServer } = makeFieldTools(server)

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
