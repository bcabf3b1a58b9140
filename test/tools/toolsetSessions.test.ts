/** Sessions with servers: opened again, moved, and with the secret of a connection. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { toUuid } from "../../src/domain/ids.ts"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import { sharedServer, startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { startMcpServer, type TestTool } from "./mcpServer.ts"
import { makeToolsetWorlds, text } from "./toolsetWorld.ts"

const server = await sharedServer()
const { within, world } = makeToolsetWorlds(server)

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
