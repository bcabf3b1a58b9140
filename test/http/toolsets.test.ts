import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Schema } from "effect"
import { ToolList, ToolsetAnswer, ToolsetPage } from "../../http/toolsets/api.ts"
import { sharedServer, startServer, type TestServer } from "../setup/server.ts"
import { type McpServer, startMcpServer, usualTools } from "../tools/mcpServer.ts"
import { absent, assertRefused as refused } from "./refused.ts"

const seed = Number(process.env.TROUPE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

let server: TestServer
let mcp: McpServer
beforeAll(async () => {
  ;[server, mcp] = await Promise.all([sharedServer(), startMcpServer()])
})
afterAll(async () => {
  await Promise.all([server.stop(), mcp.close()])
})

let made = 0
/** A namespace that no other test has. */
const fresh = () => `ns${made++}`
const tool = (fields: object = {}) => ({ name: "ask", inputSchema: { type: "object" }, ...fields })

const postMcp = (fields: object = {}, headers?: Record<string, string>) =>
  server.alpha.post("/v1/toolsets", { kind: "mcp", namespace: fresh(), url: mcp.url, ...fields }, headers)
const postClient = (fields: object = {}) =>
  server.alpha.post("/v1/toolsets", { kind: "client", namespace: fresh(), tools: [tool()], ...fields })
const created = async (answer: ReturnType<typeof postMcp>) => {
  const made = await answer
  assert.strictEqual(made.status, 201, made.text)
  return made.body.toolset
}
const names = async (id: string) =>
  (await server.alpha.get(`/v1/toolsets/${id}/tools`)).body.tools.map(({ name }: { name: string }) => name)
const patch = (id: string, body: object, headers?: Record<string, string>) =>
  server.alpha.send("PATCH", `/v1/toolsets/${id}`, body, headers)

/** A schema of exactly so many bytes. */
const schemaOf = (bytes: number) => {
  const schema = { type: "object", description: "" }
  return { ...schema, description: "d".repeat(bytes - JSON.stringify(schema).length) }
}
const urlOf = (bytes: number) => `${mcp.url}/${"p".repeat(bytes - mcp.url.length - 1)}`

describe("registering an MCP server", () => {
  it("asks it for its tools at once", async () => {
    const answer = await postMcp({ namespace: "ledger", description: "Keeps books" })
    assert.strictEqual(answer.status, 201, answer.text)
    const { createdAt, id, lastCheckedAt, updatedAt, ...rest } = answer.body.toolset
    assert.deepStrictEqual(rest, {
      namespace: "ledger",
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
    const first = await postMcp({ namespace }, { "idempotency-key": "toolset" })
    const asked = mcp.requests.length
    const second = await postMcp({ namespace }, { "idempotency-key": "toolset" })
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
      refused(await postMcp({ connectionId }), 422, "connection_not_found", "connectionId")
      refused(await patch(id, { connectionId }), 422, "connection_not_found", "connectionId")
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
    refused(await postMcp({ trusted: "yes" }), 400, "invalid_request", "trusted")
    refused(await postClient({ trusted: true }), 400, "invalid_request", "trusted")
    refused(await patch(client.id, { trusted: true }), 400, "invalid_request", "trusted")
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
      refused(await postMcp({ timeoutMs: ms }), 400, "invalid_request", "timeoutMs")
      refused(await postMcp({ toolTimeouts: { add: ms } }), 400, "invalid_request", "toolTimeouts.add")
    }
    refused(await postMcp({ toolTimeouts: { "not a name": 1_000 } }), 400, "invalid_request")
    const times = (many: number) => Object.fromEntries(Array.from({ length: many }, (_, i) => [`t${i}`, 1_000]))
    await created(postMcp({ toolTimeouts: times(512) }))
    refused(await postMcp({ toolTimeouts: times(513) }), 400, "invalid_request", "toolTimeouts")
    refused(await postClient({ timeoutMs: 1_000 }), 400, "invalid_request", "timeoutMs")
    refused(await patch((await created(postClient())).id, { timeoutMs: 1_000 }), 400, "invalid_request", "timeoutMs")
  })
})

describe("registering tools of clients", () => {
  it("is ready at once, with its tools as they were written", async () => {
    const tools = [
      tool({
        description: "Asks",
        outputSchema: { type: "string" },
        annotations: { readOnlyHint: true, title: "Ask" },
        timeoutMs: 0
      }),
      tool({ name: "wait", timeoutMs: 86_400_000 })
    ]
    const answer = await postClient({ namespace: "desk", exposure: "search", tools })
    const { createdAt: _, id, updatedAt: __, ...rest } = await created(Promise.resolve(answer))
    assert.deepStrictEqual(rest, {
      namespace: "desk",
      kind: "client",
      exposure: "search",
      tools,
      status: "ready",
      toolCount: 2,
      catalogVersion: 1
    })
    assert.deepStrictEqual((await server.alpha.get(`/v1/toolsets/${id}`)).body, answer.body)
    const offered = (await server.alpha.get(`/v1/toolsets/${id}/tools`)).body.tools
    assert.deepStrictEqual(offered, [{ ...tools[0], timeoutMs: 3_600_000 }, tools[1]])
    assert.deepStrictEqual((await server.alpha.post(`/v1/toolsets/${id}/refresh`)).body, answer.body)
  })

  it("with schemas that take long to compile lets others have their answers meanwhile", async () => {
    const properties = (i: number) =>
      Object.fromEntries(
        Array.from({ length: 100 }, (_, j) => [`p${j}`, { type: "string", minLength: i, maxLength: 100 + j }])
      )
    const tools = Array.from({ length: 10 }, (_, i) =>
      tool({ name: `t${i}`, inputSchema: { type: "object", properties: properties(i) } })
    )
    const order: Array<string> = []
    const slow = created(postClient({ tools })).then(() => order.push("slow"))
    for (let i = 0; i < 3; i++) await server.alpha.get("/v1/toolsets?limit=1").then(() => order.push("quick"))
    await slow
    assert.deepStrictEqual(order, ["quick", "quick", "quick", "slow"])
  })

  it("keeps every text that is legal", async () => {
    const odd = "\u0000 \udfff é"
    const { id } = await created(
      postClient({ description: odd, tools: [tool({ description: odd, inputSchema: { type: "object", title: odd } })] })
    )
    const { toolset } = (await server.alpha.get(`/v1/toolsets/${id}`)).body
    assert.deepStrictEqual(
      [toolset.description, toolset.tools[0].description, toolset.tools[0].inputSchema.title],
      [odd, odd, odd]
    )
  })
})

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
      assert.deepStrictEqual((await created(postClient({ [field]: most })))[field], most)
      const answer = await postClient({ [field]: past })
      refused(answer, 400, "invalid_request")
      assert.isTrue(answer.body.message.startsWith(field), answer.body.message)
    })
  }

  it("url: 2048 bytes are accepted, 2049 are not", async () => {
    assert.strictEqual((await created(postMcp({ url: urlOf(2048) }))).url.length, 2048)
    refused(await postMcp({ url: urlOf(2049) }), 400, "invalid_request", "url")
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
    it(`url: ${what} is refused`, async () => refused(await postMcp({ url }), 400, "invalid_request", "url"))
  }

  for (const name of ["inputSchema", "outputSchema"]) {
    it(`${name}: 16 KiB are accepted, a byte more is not`, async () => {
      assert.strictEqual((await created(postClient({ tools: [tool({ [name]: schemaOf(16_384) })] }))).toolCount, 1)
      refused(
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
      refused(
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
      refused(await postClient({ tools }), 400, "invalid_request", "tools")
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
      refused(await postClient(fields), 400, "invalid_request", path))
  }

  for (const [what, fields, path] of [
    ["tools", { tools: [tool()] }, "tools"],
    ["another transport", { transport: "stdio" }, "transport"],
    ["an id of another kind", { connectionId: absent("agt_") }, "connectionId"]
  ] as const) {
    it(`of a server's refuses ${what} with its path`, async () =>
      refused(await postMcp(fields), 400, "invalid_request", path))
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
      refused(answer, 400, "invalid_request", "url")
      assert.strictEqual(answer.body.code, code)
    }
    const { body } = await strict.alpha.post("/v1/toolsets", { kind: "mcp", namespace: "n", url: "https://localhost/" })
    assert.deepStrictEqual(
      [body.toolset.status, body.toolset.statusReason],
      ["unreachable", "the host leads to an address that is not a public one"]
    )
    const patched = await strict.alpha.patch(`/v1/toolsets/${body.toolset.id}`, { url: "http://tools.example.com/" })
    refused(patched, 400, "invalid_request", "url")
    assert.strictEqual(patched.body.code, "forbidden_url")
    await strict.stop()
  })
})

describe("a namespace", () => {
  it("belongs to one toolset of a workspace, of whatever kind", async () => {
    const { id, namespace } = await created(postClient())
    const held = `namespace: the toolset ${id} has it`
    for (const answer of [await postClient({ namespace }), await postMcp({ namespace })]) {
      assert.deepStrictEqual([answer.status, answer.body], [409, { error: "namespace_taken", message: held }])
    }
    assert.strictEqual(
      (await server.beta.post("/v1/toolsets", { kind: "client", namespace, tools: [tool()] })).status,
      201
    )
    const other = await created(postClient())
    assert.deepStrictEqual((await patch(other.id, { namespace })).body, { error: "namespace_taken", message: held })
    assert.strictEqual((await server.alpha.get(`/v1/toolsets/${other.id}`)).body.toolset.namespace, other.namespace)
  })

  it("is given to one of many who ask at once", async () => {
    const namespace = fresh()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? postClient({ namespace }) : postMcp({ namespace })))
    )
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, ...Array<number>(7).fill(409)])
  })

  it("is free again once its toolset is deleted", async () => {
    const { id, namespace } = await created(postClient())
    assert.strictEqual((await server.alpha.delete(`/v1/toolsets/${id}`)).status, 204)
    await created(postClient({ namespace }))
  })

  it("is none of the built-in families", async () => {
    for (const namespace of [
      "agents",
      "connections",
      "thread",
      "memory",
      "artifacts",
      "sites",
      "web",
      "schedules",
      "feeds",
      "subscriptions",
      "sandbox"
    ]) {
      assert.deepStrictEqual((await postClient({ namespace })).body, {
        error: "namespace_taken",
        message: `namespace: "${namespace}" is a built-in tool family`
      })
    }
    const { id } = await created(postClient())
    refused(await patch(id, { namespace: "memory" }), 409, "namespace_taken", "namespace")
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
    refused(await patch(id, { connectionId: absent("conn_") }), 422, "connection_not_found", "connectionId")
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
      refused(await patch(id, body), 400, "invalid_request", path)
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
        db
          .selectFrom("catalogues")
          .innerJoin("toolsets", "toolsets.id", "catalogues.toolset")
          .where("toolsets.catalogue", "=", 105)
          .select("version")
          .orderBy("version")
          .execute()
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

describe("listing toolsets", () => {
  it("pages newest first, without their tools", async () => {
    const ids: Array<string> = []
    for (let i = 0; i < 3; i++)
      ids.push(
        (await server.beta.post("/v1/toolsets", { kind: "client", namespace: `page${i}`, tools: [tool()] })).body
          .toolset.id
      )
    const first = (await server.beta.get("/v1/toolsets?limit=2")).body
    const second = (await server.beta.get(`/v1/toolsets?limit=2&cursor=${first.nextCursor}`)).body
    const found = [...first.toolsets, ...second.toolsets]
    assert.deepStrictEqual(
      found.slice(0, 3).map(({ id }) => id),
      ids.toReversed()
    )
    assert.isTrue(found.every((toolset) => !("tools" in toolset) && toolset.toolCount === 1))
  })
})

describe("who may do what with toolsets", () => {
  it("answers 404 for what is absent, malformed or of another workspace", async () => {
    const { id } = await created(postMcp())
    for (const path of [absent("tset_"), "x", absent("agt_")]) {
      for (const rest of ["", "/tools"])
        refused(await server.alpha.get(`/v1/toolsets/${path}${rest}`), 404, "not_found")
    }
    refused(await server.beta.get(`/v1/toolsets/${id}`), 404, "not_found")
    refused(await server.beta.get(`/v1/toolsets/${id}/tools`), 404, "not_found")
    refused(await server.beta.patch(`/v1/toolsets/${id}`, { description: "d" }), 404, "not_found")
    refused(await server.beta.post(`/v1/toolsets/${id}/refresh`), 404, "not_found")
    refused(await server.beta.delete(`/v1/toolsets/${id}`), 404, "not_found")
  })
})

it("answers have exactly the shapes of the contract", async () => {
  const shaped = (schema: Schema.Decoder<unknown>, body: unknown) => {
    const decoded = Schema.decodeUnknownResult(schema, { onExcessProperty: "error", errors: "all" })(body)
    if (decoded._tag === "Failure") assert.fail(`${decoded.failure.message}\n${JSON.stringify(body)}`)
  }
  const connection = await server.alpha.post("/v1/connections", {
    provider: "p",
    name: "C",
    secret: { token: "t" },
    allowedHosts: ["127.0.0.1"]
  })
  for (const answer of [
    await postMcp({
      description: "d",
      include: ["echo"],
      exclude: ["add"],
      connectionId: connection.body.connection.id
    }),
    await postMcp({ url: "http://127.0.0.1:1/" }),
    await postClient()
  ]) {
    shaped(ToolsetAnswer, answer.body)
    shaped(ToolList, (await server.alpha.get(`/v1/toolsets/${answer.body.toolset.id}/tools`)).body)
    shaped(ToolsetAnswer, (await server.alpha.post(`/v1/toolsets/${answer.body.toolset.id}/refresh`)).body)
  }
  shaped(ToolsetPage, (await server.alpha.get("/v1/toolsets?limit=1")).body)
})

it(`whatever is sent: a 4xx that says what is wrong, or a toolset; never a 500 (seed ${seed})`, {
  timeout: 60_000
}, async () => {
  const { id } = await created(postClient())
  const key = fc.constantFrom(
    "namespace",
    "kind",
    "description",
    "tools",
    "include",
    "exclude",
    "exposure",
    "url",
    "transport",
    "connectionId",
    "__proto__",
    "constructor",
    "extra"
  )
  const nasty = fc.constantFrom(
    "",
    "\u0000",
    "\ud800",
    "__proto__",
    "client",
    "mcp",
    "https://[",
    "http://127.0.0.1:1/",
    "a"
  )
  const schema = fc.dictionary(
    fc.constantFrom("type", "$ref", "properties", "pattern", "__proto__", "$id", "items", "enum"),
    fc.oneof(nasty, fc.jsonValue({ maxDepth: 2 }), fc.constant("object"), fc.constant("#"))
  )
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    nasty,
    fc.array(
      fc.record(
        {
          name: fc.oneof(nasty, fc.constant("t")),
          inputSchema: schema,
          timeoutMs: fc.oneof(fc.integer(), fc.double())
        },
        { requiredKeys: [] }
      ),
      { maxLength: 2 }
    )
  )
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(fc.tuple(key, value), { maxLength: 3 }), async (create, changes) => {
      const fields = [
        ...(create ? Object.entries({ kind: "client", namespace: fresh(), tools: [tool()] }) : []),
        ...changes
      ]
      const body = `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? "null"}`).join(",")}}`
      const answer = await server.alpha.send(
        create ? "POST" : "PATCH",
        create ? "/v1/toolsets" : `/v1/toolsets/${id}`,
        body
      )
      assert.oneOf(answer.status, [200, 201, 400, 409, 422], `${body} ${answer.text}`)
      if (answer.status >= 400) assert.notMatch(answer.body.message, /[\p{Cc}\p{Cs}]/u)
    }),
    { seed, numRuns: 300 }
  )
  assert.strictEqual((await server.alpha.get("/v1/toolsets?limit=200")).status, 200)
})
