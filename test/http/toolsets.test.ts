/** Toolsets over HTTP: registered, named, listed, and whatever is sent. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { ToolList, ToolsetAnswer, ToolsetPage } from "../../http/toolsets/api.ts"
import { startMcpServer, usualTools } from "../tools/mcpServer.ts"
import { absent, assertRefused as refused, assertRefusedAt as refusedAt } from "./refusals.ts"
import { assertShape } from "./shape.ts"
import { tool, toolsetStand } from "./toolsetFixture.ts"

const { created, fresh, mcp, names, patch, postClient, postMcp, server } = await toolsetStand()

const seed = Number(process.env.TROUPE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

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
    const namespace = fresh()
    const answer = await postClient({ namespace, exposure: "search", tools })
    const { createdAt: _, id, updatedAt: __, ...rest } = await created(Promise.resolve(answer))
    assert.deepStrictEqual(rest, {
      namespace,
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
    refusedAt(await patch(id, { namespace: "memory" }), 409, "namespace_taken", "namespace")
  })
})

describe("listing toolsets", () => {
  it("pages newest first, without their tools", async () => {
    const ids: Array<string> = []
    for (let i = 0; i < 3; i++)
      ids.push(
        (await server.beta.post("/v1/toolsets", { kind: "client", namespace: fresh(), tools: [tool()] })).body.toolset
          .id
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

it("answers have exactly the shapes of the contract", async () => {
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
    assertShape(ToolsetAnswer, answer.body)
    assertShape(ToolList, (await server.alpha.get(`/v1/toolsets/${answer.body.toolset.id}/tools`)).body)
    assertShape(ToolsetAnswer, (await server.alpha.post(`/v1/toolsets/${answer.body.toolset.id}/refresh`)).body)
  }
  assertShape(ToolsetPage, (await server.alpha.get("/v1/toolsets?limit=1")).body)
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
