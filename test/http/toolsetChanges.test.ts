/** Toolsets over HTTP: how large they may be, and how they are changed, refreshed and deleted. */
import { assert, describe, it } from "@effect/vitest"
import { toUuid } from "../../src/domain/ids.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer, usualTools } from "../tools/mcpServer.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { tool, schemaOf, toolsetStand } from "./toolsetFixture.ts"
import { fresh } from "./toolFixture.ts"

const { created, mcp, names, patch, postClient, postMcp, server, urlOf } = await toolsetStand()

describe("the limits of a toolset", () => {
  for (const [field, most, past] of [
    ["namespace", "n".repeat(32), "n".repeat(33)],
    ["namespace", "0_-a", "_a"],
    ["namespace", "a", ""],
    ["namespace", "z9", "Z9"],
    ["description", "d".repeat(4096), "d".repeat(4097)],
    ["include", Array.from({ length: 512 }, (_, i) => `t${i}`), Array.from({ length: 513 }, (_, i) => `t${i}`)],
    ["exclude", ["x".repeat(128)], ["x".repeat(129)]],
    ["exclude", ["A.b_c-9"], ["a b"]],
    ["include", ["a"], ["a", "a"]],
    ["exposure", "search", "never"]
  ] as const) {
    it(`${field}: ${JSON.stringify(most).slice(0, 40)} is accepted, ${JSON.stringify(past).slice(0, 40)} is not`, async () => {
      const client = await server.client(await server.workspace(fresh("limits")))
      assert.deepStrictEqual((await created(postClient({ [field]: most }, client)))[field], most)
      const answer = await postClient({ [field]: past })
      refused(answer, 400, "invalid_request")
      assert.isTrue(answer.body.message.startsWith(field), answer.body.message)
    })
  }

  it("url: 2048 bytes are accepted, 2049 are not", async () => {
    assert.strictEqual((await created(postMcp({ url: urlOf(2048) }))).url.length, 2048)
    refusedAt(await postMcp({ url: urlOf(2049) }), 400, "invalid_request", "url")
  })

  for (const [what, url] of [
    ["a query", "https://tools.example.com/mcp?a=1"],
    ["an empty query", "https://tools.example.com/mcp?"],
    ["a fragment", "https://tools.example.com/#a"],
    ["credentials", "https://user:password@tools.example.com/"],
    ["another scheme", "ftp://tools.example.com/"],
    ["a file", "file:///etc/passwd"],
    ["no scheme", "tools.example.com"],
    ["nothing", ""],
    ["a metadata address", "http://169.254.169.254/latest"],
    ["a number", 7]
  ] as const) {
    it(`url: ${what} is refused`, async () => refusedAt(await postMcp({ url }), 400, "invalid_request", "url"))
  }

  for (const name of ["inputSchema", "outputSchema"]) {
    it(`${name}: 16 KiB are accepted, a byte more is not`, async () => {
      assert.strictEqual((await created(postClient({ tools: [tool({ [name]: schemaOf(16_384) })] }))).toolCount, 1)
      refusedAt(
        await postClient({ tools: [tool({ [name]: schemaOf(16_385) })] }),
        400,
        "invalid_request",
        `tools[0].${name}`
      )
    })
  }

  it("timeoutMs: 0, and ten seconds to a day", async () => {
    for (const timeoutMs of [0, 10_000, 86_400_000])
      assert.strictEqual((await created(postClient({ tools: [tool({ timeoutMs })] }))).tools[0].timeoutMs, timeoutMs)
    for (const timeoutMs of [-1, 1, 9_999, 86_400_001, 10_000.5, "0", null]) {
      refusedAt(
        await postClient({ tools: [tool(), tool({ name: "b", timeoutMs })] }),
        400,
        "invalid_request",
        "tools[1].timeoutMs"
      )
    }
  })

  it("tools: 1 to 512, with different names", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => tool({ name: `t${i}` }))
    assert.strictEqual((await created(postClient({ tools: many(512) }))).toolCount, 512)
    for (const tools of [[], many(513), [tool(), tool()]])
      refusedAt(await postClient({ tools }), 400, "invalid_request", "tools")
  })

  for (const [what, fields, path] of [
    ["no kind", { kind: undefined }, "the body"],
    ["another kind", { kind: "a2a" }, "the body"],
    ["a url", { url: "https://tools.example.com/" }, "url"],
    ["a connection", { connectionId: absent("conn_") }, "connectionId"],
    ["a status", { status: "ready" }, "status"],
    ["no tools", { tools: undefined }, "tools"],
    ["a tool without a name", { tools: [tool({ name: undefined })] }, "tools[0].name"],
    ["a tool whose name has a space", { tools: [tool({ name: "a b" })] }, "tools[0].name"],
    ["a tool without a schema", { tools: [{ name: "a" }] }, "tools[0].inputSchema"],
    [
      "a schema that is none",
      { tools: [tool({ inputSchema: { type: "object", properties: 7 } })] },
      "tools[0].inputSchema"
    ],
    ["an input that is no object", { tools: [tool({ inputSchema: { type: "string" } })] }, "tools[0].inputSchema"],
    [
      "a reference to elsewhere",
      { tools: [tool({ inputSchema: { type: "object", $ref: "https://example.com/x.json" } })] },
      "tools[0].inputSchema"
    ],
    ["a pattern that is none", { tools: [tool({ outputSchema: { pattern: "(" } })] }, "tools[0].outputSchema"],
    ["a schema that is an array", { tools: [tool({ outputSchema: [] })] }, "tools[0].outputSchema"],
    ["an unknown hint", { tools: [tool({ annotations: { safeHint: true } })] }, "tools[0].annotations.safeHint"],
    ["a description of 4097 bytes", { tools: [tool({ description: "d".repeat(4097) })] }, "tools[0].description"]
  ] as const) {
    it(`of a client's refuses ${what} with its path`, async () =>
      refusedAt(await postClient(fields), 400, "invalid_request", path))
  }

  for (const [what, fields, path] of [
    ["tools", { tools: [tool()] }, "tools"],
    ["another transport", { transport: "stdio" }, "transport"],
    ["an id of another kind", { connectionId: absent("agt_") }, "connectionId"]
  ] as const) {
    it(`of a server's refuses ${what} with its path`, async () =>
      refusedAt(await postMcp(fields), 400, "invalid_request", path))
  }

  it("of no kind says which there are", async () => {
    assert.strictEqual(
      (await postClient({ kind: "a2a" })).body.message,
      `the body: expected an object whose kind is "mcp" or "client"`
    )
  })

  it("says what is wrong with a schema, and where in it", async () => {
    const { body } = await postClient({
      tools: [tool({ inputSchema: { type: "object", properties: { a: { minimum: "1" } } } })]
    })
    assert.strictEqual(
      body.message,
      "tools[0].inputSchema: expected a usable JSON Schema (properties.a.minimum: must be number)"
    )
  })

  it("holds http and private addresses off where the operator does not allow them", async () => {
    const strict = await startServer({ outbound: { allowPrivateNetwork: false } })
    for (const [url, code] of [
      ["http://tools.example.com/", "forbidden_url"],
      ["https://127.0.0.1/", "forbidden_address"],
      ["https://[::1]/", "forbidden_address"],
      ["https://10.0.0.1/mcp", "forbidden_address"]
    ]) {
      const answer = await strict.alpha.post("/v1/toolsets", { kind: "mcp", namespace: "n", url })
      refusedAt(answer, 400, "invalid_request", "url")
      assert.strictEqual(answer.body.code, code)
    }
    const { body } = await strict.alpha.post("/v1/toolsets", { kind: "mcp", namespace: "n", url: "https://localhost/" })
    assert.deepStrictEqual(
      [body.toolset.status, body.toolset.statusReason],
      ["unreachable", "the host leads to an address that is not a public one"]
    )
    const patched = await strict.alpha.patch(`/v1/toolsets/${body.toolset.id}`, { url: "http://tools.example.com/" })
    refusedAt(patched, 400, "invalid_request", "url")
    assert.strictEqual(patched.body.code, "forbidden_url")
    await strict.stop()
  })
})

describe("changing a toolset", () => {
  it("merges, counts, and says with a new catalogue what is offered now", async () => {
    const { id, ...before } = await created(postMcp({ description: "d", include: ["echo", "add"] }))
    const changed = await patch(id, { description: null, exclude: ["add"], exposure: "search" })
    assert.deepStrictEqual([changed.status, changed.headers.get("etag")], [200, `"2"`])
    const { description, exclude, exposure, catalogVersion, include, status, toolCount } = changed.body.toolset
    assert.deepStrictEqual(
      [description, include, exclude, exposure, status, toolCount, catalogVersion],
      [undefined, ["echo", "add"], ["add"], "search", "ready", 1, 2]
    )
    assert.deepStrictEqual(await names(id), ["echo"])
    const cleared = (await patch(id, { include: null, exclude: null, exposure: null })).body.toolset
    assert.deepStrictEqual(
      [cleared.toolCount, cleared.exposure, cleared.catalogVersion],
      [usualTools.length, "always", 3]
    )
    assert.strictEqual(cleared.createdAt, before.createdAt)
  })

  it("of a description makes no new catalogue, and of nothing changes nothing", async () => {
    const { id } = await created(postClient())
    const { body, headers } = await patch(id, { description: "d" })
    assert.deepStrictEqual([body.toolset.catalogVersion, headers.get("etag")], [1, `"2"`])
    const same = await patch(id, { description: "d", tools: [tool()] })
    assert.deepStrictEqual([same.body, same.headers.get("etag")], [body, `"2"`])
  })

  it("replaces the tools of a client", async () => {
    const { id } = await created(postClient({ tools: [tool(), tool({ name: "old" })] }))
    const { toolset } = (await patch(id, { tools: [tool({ name: "new", timeoutMs: 20_000 })] })).body
    assert.deepStrictEqual(
      [toolset.tools, toolset.toolCount, toolset.catalogVersion],
      [[tool({ name: "new", timeoutMs: 20_000 })], 1, 2]
    )
    assert.deepStrictEqual(await names(id), ["new"])
  })

  it("asks the other server, and forgets what the one before offered", async () => {
    const { id } = await created(postMcp())
    const moved = (await patch(id, { url: "http://127.0.0.1:1/mcp" })).body.toolset
    assert.deepStrictEqual([moved.status, moved.toolCount, moved.url], ["unreachable", 0, "http://127.0.0.1:1/mcp"])
    assert.deepStrictEqual(await names(id), [])
    const back = (await patch(id, { url: mcp.url })).body.toolset
    assert.deepStrictEqual([back.status, back.toolCount, "statusReason" in back], ["ready", usualTools.length, false])
  })

  it("asks again with another connection", async () => {
    const locked = await startMcpServer({ token: "a-token-that-fits" })
    const connection = (token: string) =>
      server.alpha.post("/v1/connections", { provider: "p", name: "C", secret: { token }, allowedHosts: ["127.0.0.1"] })
    const [wrong, right] = [
      (await connection("another-token")).body.connection.id,
      (await connection("a-token-that-fits")).body.connection.id
    ]
    const { id, status } = await created(postMcp({ url: locked.url, connectionId: wrong }))
    assert.strictEqual(status, "unauthorized")
    const changed = (await patch(id, { connectionId: right })).body.toolset
    assert.deepStrictEqual(
      [changed.status, changed.connectionId, changed.toolCount],
      ["ready", right, usualTools.length]
    )
    const without = (await patch(id, { connectionId: null })).body.toolset
    assert.deepStrictEqual(
      [without.status, "connectionId" in without, without.toolCount],
      ["unauthorized", false, usualTools.length]
    )
    refusedAt(await patch(id, { connectionId: absent("conn_") }), 422, "connection_not_found", "connectionId")
    refused(
      await server.alpha
        .delete(`/v1/connections/${wrong}`)
        .then((answer) => (answer.status === 204 ? server.alpha.get(`/v1/connections/${wrong}`) : answer)),
      404,
      "not_found"
    )
    await locked.close()
  })

  it("refuses what would leave an invalid one, or another kind", async () => {
    const client = await created(postClient())
    const mcpOne = await created(postMcp())
    for (const [id, body, path] of [
      [client.id, { namespace: null }, "namespace"],
      [client.id, { tools: null }, "tools"],
      [client.id, { tools: [] }, "tools"],
      [client.id, { kind: "mcp" }, "kind"],
      [client.id, { url: mcp.url }, "url"],
      [client.id, { connectionId: absent("conn_") }, "connectionId"],
      [mcpOne.id, { tools: [tool()] }, "tools"],
      [mcpOne.id, { url: null }, "url"],
      [mcpOne.id, { toolCount: 7 }, "toolCount"]
    ] as const)
      refusedAt(await patch(id, body), 400, "invalid_request", path)
  })

  it("holds If-Match against what a client has written, whatever probes find", async () => {
    const { id } = await created(postMcp())
    assert.strictEqual((await server.alpha.post(`/v1/toolsets/${id}/refresh`)).headers.get("etag"), `"1"`)
    assert.strictEqual((await patch(id, { description: "a" }, { "if-match": `"1"` })).status, 200)
    refused(await patch(id, { description: "b" }, { "if-match": `"1"` }), 412, "precondition_failed")
    refused(await server.alpha.delete(`/v1/toolsets/${id}`, { "if-match": `"1"` }), 412, "precondition_failed")
    assert.strictEqual((await server.alpha.delete(`/v1/toolsets/${id}`, { "if-match": `"2"` })).status, 204)
  })

  it("loses nothing when many change it at once", async () => {
    const { id } = await created(postClient())
    await Promise.all(Array.from({ length: 8 }, (_, i) => patch(id, { tools: [tool({ name: `t${i}` })] })))
    const { headers, body } = await server.alpha.get(`/v1/toolsets/${id}`)
    assert.deepStrictEqual([headers.get("etag"), body.toolset.catalogVersion], [`"9"`, 9])
  })
})

describe("refreshing a toolset", () => {
  it("makes a new catalogue where the tools have changed, and says when the server was asked", async () => {
    const own = await startMcpServer()
    const first = await created(postMcp({ url: own.url }))
    const same = (await server.alpha.post(`/v1/toolsets/${first.id}/refresh`)).body.toolset
    assert.strictEqual(same.catalogVersion, 1)
    assert.isAtLeast(Date.parse(same.lastCheckedAt), Date.parse(first.lastCheckedAt))
    await own.offer([{ name: "only", run: () => "x" }], false)
    const { catalogVersion, toolCount } = (await server.alpha.post(`/v1/toolsets/${first.id}/refresh`)).body.toolset
    assert.deepStrictEqual([catalogVersion, toolCount], [2, 1])
    await own.close()
    const gone = (await server.alpha.post(`/v1/toolsets/${first.id}/refresh`)).body.toolset
    assert.deepStrictEqual([gone.status, gone.toolCount, gone.catalogVersion], ["unreachable", 1, 2])
  })

  it("keeps the newest hundred catalogues", async () => {
    const { id } = await created(postClient())
    for (let i = 0; i < 104; i++)
      assert.strictEqual((await patch(id, { tools: [tool({ name: `t${i}` })] })).status, 200)
    const versions = await server.runtime.runPromise(
      server.database.run("test", (db) =>
        db.selectFrom("catalogues").where("toolset", "=", toUuid(id)).select("version").orderBy("version").execute()
      )
    )
    assert.deepStrictEqual(
      versions.map(({ version }) => version),
      Array.from({ length: 100 }, (_, i) => i + 6)
    )
  })
})

describe("deleting a toolset", () => {
  it("is refused while the latest version of a profile lists it, or one that an agent is pinned to", async () => {
    const { id } = await created(postClient())
    const profile = (await server.alpha.post("/v1/profiles", { name: "P", models: ["@a"], toolsetIds: [id] })).body
      .profile
    refused(await server.alpha.delete(`/v1/toolsets/${id}`), 409, "toolset_in_use")
    const agent = (await server.alpha.post("/v1/agents", { name: "A", profileId: profile.id, profileVersion: 1 })).body
      .agent
    assert.strictEqual((await server.alpha.patch(`/v1/profiles/${profile.id}`, { toolsetIds: [] })).status, 200)
    refused(await server.alpha.delete(`/v1/toolsets/${id}`), 409, "toolset_in_use")
    await server.alpha.delete(`/v1/agents/${agent.id}`)
    assert.strictEqual((await server.alpha.delete(`/v1/toolsets/${id}`)).status, 204)
    refused(await server.alpha.get(`/v1/toolsets/${id}`), 404, "not_found")
    refused(await server.alpha.delete(`/v1/toolsets/${id}`), 404, "not_found")
  })

  it("is not held up by a profile that only speaks of it", async () => {
    const { id } = await created(postClient())
    await server.alpha.post("/v1/profiles", { name: id, models: ["@a"], systemPrompt: `"${id}"` })
    assert.strictEqual((await server.alpha.delete(`/v1/toolsets/${id}`)).status, 204)
  })

  it("and listing it in a profile at the same time: one of the two is refused", async () => {
    for (let i = 0; i < 10; i++) {
      const { id } = await created(postClient())
      const [deleted, listed] = await Promise.all([
        server.alpha.delete(`/v1/toolsets/${id}`),
        server.alpha.post("/v1/profiles", { name: "P", models: ["@a"], toolsetIds: [id] })
      ])
      assert.deepInclude(
        [
          [204, 422],
          [409, 201]
        ],
        [deleted.status, listed.status]
      )
    }
  })
})
