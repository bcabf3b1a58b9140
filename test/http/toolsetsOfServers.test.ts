/** Toolsets of MCP servers over HTTP: what registering one asks and shows of it, and how long its calls may take. */
import { assert, describe, it } from "@effect/vitest"
import { startMcpServer, usualTools } from "../tools/mcpServer.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { toolsetStand } from "./toolsetFixture.ts"

const { created, fresh, mcp, names, patch, postClient, postMcp, server } = await toolsetStand()

describe("registering an MCP server", () => {
  it("asks it for its tools at once", async () => {
    const namespace = fresh()
    const answer = await postMcp({ namespace, description: "Keeps books" })
    assert.strictEqual(answer.status, 201, answer.text)
    const { createdAt, id, lastCheckedAt, updatedAt, ...rest } = answer.body.toolset
    assert.deepStrictEqual(rest, {
      namespace,
      kind: "mcp",
      description: "Keeps books",
      url: mcp.url,
      transport: "streamable_http",
      trusted: false,
      lease: "none",
      timeoutMs: 60_000,
      exposure: "always",
      status: "ready",
      toolCount: usualTools.length,
      catalogVersion: 1
    })
    assert.strictEqual(createdAt, updatedAt)
    assert.isString(lastCheckedAt)
    assert.deepStrictEqual([answer.headers.get("location"), answer.headers.get("etag")], [`/v1/toolsets/${id}`, `"1"`])
    assert.deepStrictEqual((await server.alpha.get(`/v1/toolsets/${id}`)).body, answer.body)
    const { catalogVersion, tools } = (await server.alpha.get(`/v1/toolsets/${id}/tools`)).body
    assert.strictEqual(catalogVersion, 1)
    assert.deepStrictEqual(
      tools.map(({ name }: { name: string }) => name),
      usualTools.map(({ name }) => name)
    )
    assert.deepStrictEqual(tools[1], {
      name: "add",
      description: "Adds two numbers",
      timeoutMs: 60_000,
      annotations: { readOnlyHint: true, idempotentHint: true },
      inputSchema: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
        additionalProperties: false
      },
      outputSchema: {
        type: "object",
        properties: { sum: { type: "number" } },
        required: ["sum"],
        additionalProperties: false
      }
    })
  })

  it("offers what include and exclude leave of it", async () => {
    const { id, toolCount } = await created(postMcp({ include: ["echo", "add", "slow", "nowhere"], exclude: ["slow"] }))
    assert.deepStrictEqual([toolCount, await names(id)], [2, ["echo", "add"]])
  })

  it("is 201 where the server is not there, or wants another credential, and says so", async () => {
    const locked = await startMcpServer({ token: "token-of-somebody" })
    for (const [url, status] of [
      ["http://127.0.0.1:1/mcp", "unreachable"],
      [locked.url, "unauthorized"]
    ] as const) {
      const toolset = await created(postMcp({ url }))
      assert.deepStrictEqual([toolset.status, toolset.toolCount, toolset.catalogVersion], [status, 0, 0])
      assert.isNotEmpty(toolset.statusReason)
      assert.deepStrictEqual((await server.alpha.get(`/v1/toolsets/${toolset.id}/tools`)).body, {
        tools: [],
        catalogVersion: 0
      })
    }
    await locked.close()
  })

  it("takes effect once for an Idempotency-Key, and asks the server once", async () => {
    const namespace = fresh()
    const before = mcp.requests.length
    const key = { "idempotency-key": fresh() }
    const first = await postMcp({ namespace }, key)
    const asked = mcp.requests.length
    const second = await postMcp({ namespace }, key)
    assert.deepStrictEqual(
      [second.status, second.text, second.headers.get("location")],
      [201, first.text, first.headers.get("location")]
    )
    assert.strictEqual(second.headers.get("idempotency-replayed"), "true")
    assert.isAbove(asked, before)
    assert.strictEqual(mcp.requests.length, asked)
  })

  it("refuses a connection that is not there, and one that holds a signing secret", async () => {
    const secret = { signingSecret: `whsec_${Buffer.alloc(24).toString("base64")}` }
    const signing = (await server.alpha.post("/v1/connections", { provider: "p", name: "C", secret })).body.connection
      .id
    const { id } = await created(postMcp())
    for (const connectionId of [absent("conn_"), signing]) {
      refusedAt(await postMcp({ connectionId }), 422, "connection_not_found", "connectionId")
      refusedAt(await patch(id, { connectionId }), 422, "connection_not_found", "connectionId")
    }
  })

  it("says whether its word about its tools counts: not unless it is said, and again not once that is cleared", async () => {
    const { catalogVersion, id, trusted } = await created(postMcp({ trusted: true }))
    assert.deepStrictEqual(
      [trusted, (await created(postMcp())).trusted, "trusted" in (await created(postClient()))],
      [true, false, false]
    )
    const same = await patch(id, { trusted: true })
    assert.deepStrictEqual([same.headers.get("etag"), same.body.toolset.catalogVersion], [`"1"`, catalogVersion])
    const cleared = await patch(id, { trusted: null })
    assert.deepStrictEqual(
      [cleared.headers.get("etag"), cleared.body.toolset.trusted, cleared.body.toolset.catalogVersion],
      [`"2"`, false, catalogVersion + 1]
    )
    const listed = (await server.alpha.get("/v1/toolsets?limit=200")).body.toolsets.find(
      (one: { id: string }) => one.id === id
    )
    assert.deepStrictEqual(
      [(await server.alpha.get(`/v1/toolsets/${id}`)).body.toolset.trusted, listed.trusted],
      [false, false]
    )
    assert.deepStrictEqual(
      (await server.alpha.get(`/v1/toolsets/${id}/tools`)).body.tools[1].annotations,
      { readOnlyHint: true, idempotentHint: true },
      "it is shown all the same"
    )
    const client = await created(postClient())
    refusedAt(await postMcp({ trusted: "yes" }), 400, "invalid_request", "trusted")
    refusedAt(await postClient({ trusted: true }), 400, "invalid_request", "trusted")
    refusedAt(await patch(client.id, { trusted: true }), 400, "invalid_request", "trusted")
  })
})

describe("the time of a server's calls", () => {
  const timesOf = async (id: string) => {
    const { tools } = (await server.alpha.get(`/v1/toolsets/${id}/tools`)).body
    return Object.fromEntries(
      tools.map(({ name, timeoutMs }: { readonly name: string; readonly timeoutMs: number }) => [name, timeoutMs])
    )
  }

  it("is a minute, or what the toolset says, or what it says of the tool", async () => {
    const { id, timeoutMs, toolTimeouts } = await created(
      postMcp({ timeoutMs: 5_000, toolTimeouts: { add: 1_000, slow: 86_400_000, nowhere: 2_000 } })
    )
    assert.deepStrictEqual([timeoutMs, toolTimeouts], [5_000, { add: 1_000, slow: 86_400_000, nowhere: 2_000 }])
    const { add, echo, slow } = await timesOf(id)
    assert.deepStrictEqual([echo, add, slow], [5_000, 1_000, 86_400_000])

    const patched = await patch(id, { timeoutMs: null, toolTimeouts: { add: null, echo: 3_000 } })
    assert.deepStrictEqual(
      [patched.status, patched.body.toolset.timeoutMs, patched.body.toolset.toolTimeouts],
      [200, 60_000, { slow: 86_400_000, nowhere: 2_000, echo: 3_000 }]
    )
    const after = await timesOf(id)
    assert.deepStrictEqual([after.echo, after.add, after.slow], [3_000, 60_000, 86_400_000])
    const same = await patch(id, { timeoutMs: 60_000 })
    assert.deepStrictEqual(
      [same.headers.get("etag"), same.body.toolset.catalogVersion],
      [patched.headers.get("etag"), patched.body.toolset.catalogVersion]
    )
    const cleared = await patch(id, { toolTimeouts: null })
    assert.deepStrictEqual([cleared.status, "toolTimeouts" in cleared.body.toolset], [200, false])
  })

  it("is a second to a day, for each tool too, and of a server only", async () => {
    for (const ms of [1_000, 86_400_000]) await created(postMcp({ timeoutMs: ms, toolTimeouts: { add: ms } }))
    for (const ms of [0, 999, 86_400_001, 1_000.5, "1000"]) {
      refusedAt(await postMcp({ timeoutMs: ms }), 400, "invalid_request", "timeoutMs")
      refusedAt(await postMcp({ toolTimeouts: { add: ms } }), 400, "invalid_request", "toolTimeouts.add")
    }
    refused(await postMcp({ toolTimeouts: { "not a name": 1_000 } }), 400, "invalid_request")
    const times = (many: number) => Object.fromEntries(Array.from({ length: many }, (_, i) => [`t${i}`, 1_000]))
    await created(postMcp({ toolTimeouts: times(512) }))
    refusedAt(await postMcp({ toolTimeouts: times(513) }), 400, "invalid_request", "toolTimeouts")
    refusedAt(await postClient({ timeoutMs: 1_000 }), 400, "invalid_request", "timeoutMs")
    refusedAt(await patch((await created(postClient())).id, { timeoutMs: 1_000 }), 400, "invalid_request", "timeoutMs")
  })
})
