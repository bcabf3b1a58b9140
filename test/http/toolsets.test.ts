/** Toolsets over HTTP: tools of clients, namespaces, lists, shapes, and whatever is sent. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { ToolList, ToolsetAnswer, ToolsetPage } from "../../http/toolsets/api.ts"
import { assertRefusedAt as refusedAt } from "./refusals.ts"
import { assertShape } from "./shape.ts"
import { tool, toolsetStand } from "./toolsetFixture.ts"

const { created, fresh, patch, postClient, postMcp, server } = await toolsetStand()

const seed = Number(process.env.TROUPE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

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
