/** Servers that lie, stall, flood and break off when they are registered: it ends, and what is said of them is right. */
import { assert, describe, it } from "@effect/vitest"
import { toProviderName } from "../../src/models/toolNames.ts"
import { type Lie, sendJson, sendResult, startLiar } from "./liar.ts"
import { fresh } from "../http/toolFixture.ts"
import { liarStand, lies, status } from "./lies.ts"

const { register, server } = await liarStand()

/** The toolset of a server with that lie, and what it took. */
const registered = async (point: string, lie: Lie) => {
  const liar = await startLiar(point, lie)
  const began = performance.now()
  const answer = await register(liar.url)
  await liar.close()
  assert.strictEqual(answer.status, 201, answer.text)
  assert.isBelow(performance.now() - began, 14_000)
  return answer.body.toolset
}

describe("registering a server that", () => {
  for (const [what, lie, expected, reason] of [
    ["answers 500", status(500), "unreachable", "HTTP 500"],
    ["answers 503", status(503), "unreachable", "HTTP 503"],
    ["answers 418", status(418), "unreachable", "HTTP 418"],
    ["answers 404", status(404), "unreachable", "HTTP 404"],
    ["answers 401", status(401), "unauthorized", "HTTP 401"],
    [
      "answers 403",
      status(403, { "www-authenticate": `Bearer error="insufficient_scope", scope="all"` }),
      "unauthorized",
      "HTTP"
    ],
    ["redirects", status(302, { location: "http://127.0.0.1:1/secret" }), "unreachable", "redirect"],
    ["redirects to itself", status(307, { location: "/mcp" }), "unreachable", "redirect"],
    ["answers with a page", lies.html, "unreachable", "does not follow the protocol"],
    ["answers with broken JSON", (response) => sendJson(response, "{"), "unreachable", "does not follow the protocol"],
    [
      "answers with JSON of its own",
      (response) => sendJson(response, { hello: 1 }),
      "unreachable",
      "does not follow the protocol"
    ],
    ["answers with nothing", lies.nothing, "unreachable", "does not follow the protocol"],
    ["accepts, and never answers", lies.accepted, "unreachable", "without an answer"],
    ["answers another question", lies.otherId, "unreachable", "without an answer"],
    ["closes the connection", lies.destroy, "unreachable", "connection was lost"],
    ["breaks off", lies.breakOff, "unreachable", "connection was lost"],
    ["ends its stream", lies.emptyStream, "unreachable", "without an answer"],
    ["floods", lies.flood, "unreachable", "larger than"],
    ["sends a bomb", lies.bomb, "unreachable", "larger than"],
    ["sends an event without an end", lies.endlessEvent, "unreachable", ""]
  ] as const satisfies ReadonlyArray<readonly [string, Lie, string, string]>) {
    it(`${what} is 201, and ${expected}`, async () => {
      const { catalogVersion, status, statusReason, toolCount } = await registered("*", lie)
      assert.deepStrictEqual([status, catalogVersion, toolCount], [expected, 0, 0], statusReason)
      assert.include(statusReason, reason)
    })
  }

  for (const [what, point, lie] of [
    ["never answers", "*", lies.hang],
    ["drips", "*", lies.drip],
    ["opens a stream and is silent", "initialize", lies.silentStream],
    ["does not take note of the beginning", "notifications/initialized", lies.hang],
    ["never lists", "tools/list", lies.hang]
  ] as const satisfies ReadonlyArray<readonly [string, string, Lie]>) {
    it.concurrent(`${what} is given up after ten seconds`, { timeout: 20_000 }, async () => {
      const { status, statusReason } = await registered(point, lie)
      assert.strictEqual(status, "unreachable")
      assert.match(statusReason, /in time|within/)
    })
  }

  it("has no tools is ready, and says so", async () => {
    const { status, statusReason, toolCount } = await registered("initialize", (response, { id }) =>
      sendResult(response, id, {
        protocolVersion: "2025-03-26",
        capabilities: {},
        serverInfo: { name: "liar", version: "0" }
      })
    )
    assert.deepStrictEqual([status, statusReason, toolCount], ["ready", "the server offers no tools", 0])
  })

  it("speaks a version that nobody knows is unreachable", async () => {
    const { status } = await registered("initialize", (response, { id }) =>
      sendResult(response, id, {
        protocolVersion: "1999-01-01",
        capabilities: { tools: {} },
        serverInfo: { name: "liar", version: "0" }
      })
    )
    assert.strictEqual(status, "unreachable")
  })

  it("is not there is unreachable", async () => {
    const answer = await register("http://127.0.0.1:1/mcp")
    assert.deepStrictEqual([answer.status, answer.body.toolset.status], [201, "unreachable"])
    assert.include(answer.body.toolset.statusReason, "ECONNREFUSED")
  })

  it("has a name that leads nowhere is unreachable", async () => {
    const answer = await register("http://nowhere.invalid/mcp")
    assert.deepStrictEqual([answer.status, answer.body.toolset.status], [201, "unreachable"])
  })
})

describe("a list of tools that", () => {
  const listing =
    (tools: unknown): Lie =>
    (response, { id }) =>
      sendResult(response, id, { tools })
  const tool = (fields: object = {}) => ({ name: "fine", inputSchema: { type: "object" }, ...fields })
  const deep = (levels: number): unknown => (levels === 0 ? {} : { properties: { a: deep(levels - 1) } })

  for (const [what, lie] of [
    ["is none", listing("none")],
    ["has a tool without a name", listing([{ inputSchema: { type: "object" } }])],
    [
      "is an error",
      (response, { id }) => sendJson(response, { jsonrpc: "2.0", id, error: { code: -32603, message: "\u0000no" } })
    ],
    ["breaks off", lies.breakOff],
    ["is too large to read", listing([tool({ description: "x".repeat(5 * 1024 * 1024) })])]
  ] as const satisfies ReadonlyArray<readonly [string, Lie]>) {
    it(`${what} leaves the toolset unreachable`, async () => {
      const { status, toolCount } = await registered("tools/list", lie)
      assert.deepStrictEqual([status, toolCount], ["unreachable", 0])
    })
  }

  for (const [what, tools, names, reason] of [
    [
      "has names that no turn could use",
      [
        tool({ name: "read file" }),
        tool({ name: "größe" }),
        tool({ name: "" }),
        tool({ name: "x".repeat(129) }),
        tool({ name: "x".repeat(128) })
      ],
      ["x".repeat(128)],
      "left out: a tool whose name is not"
    ],
    ["has a tool twice", [tool(), tool({ description: "other" })], ["fine"], "left out: a second fine"],
    [
      "has a schema of another type",
      [tool({ name: "odd", inputSchema: { type: "object", properties: { a: { type: "text" } } } }), tool()],
      ["fine"],
      "left out: odd: its inputSchema is not a usable JSON Schema"
    ],
    [
      "has a reference to elsewhere",
      [tool({ name: "far", inputSchema: { type: "object", $ref: "http://127.0.0.1:1/schema" } }), tool()],
      ["fine"],
      "left out: far: its inputSchema"
    ],
    [
      "has a schema that is too deep",
      [tool({ name: "deep", inputSchema: { type: "object", properties: { a: deep(200) } } }), tool()],
      ["fine"],
      "left out: deep: its inputSchema is not a JSON Schema of at most 64 levels"
    ],
    [
      "has a schema that is too large",
      [tool({ name: "large", outputSchema: { type: "object", description: "x".repeat(65_536) } }), tool()],
      ["fine"],
      "left out: large: its outputSchema is not a JSON Schema of at most 65536 bytes"
    ],
    [
      "has too many tools",
      Array.from({ length: 600 }, (_, i) => tool({ name: `t${i}` })),
      Array.from({ length: 512 }, (_, i) => `t${i}`),
      "too many"
    ],
    [
      "is too large in all",
      Array.from({ length: 100 }, (_, i) => tool({ name: `t${i}`, description: "x".repeat(15_000) })),
      Array.from({ length: 69 }, (_, i) => `t${i}`),
      "too many"
    ],
    [
      "has prototypes in its names",
      [
        tool({ name: "__proto__" }),
        tool({
          name: "constructor",
          inputSchema: JSON.parse(`{"type":"object","properties":{"__proto__":{"type":"string"}}}`)
        })
      ],
      ["__proto__", "constructor"],
      undefined
    ],
    ["is empty", [], [], undefined]
  ] as const) {
    it(`${what} is used as far as it can be, and the toolset says what was left out`, async () => {
      const { id, status, statusReason, toolCount } = await registered("tools/list", listing(tools))
      assert.deepStrictEqual([status, toolCount], ["ready", names.length], statusReason)
      if (reason === undefined) assert.isUndefined(statusReason)
      else assert.include(statusReason, reason)
      const offered = (await server.alpha.get(`/v1/toolsets/${id}/tools`)).body.tools
      assert.deepStrictEqual(
        offered.map(({ name }: { name: string }) => name),
        names
      )
    })
  }

  it("never ends is read for so many pages only", async () => {
    let pages = 0
    const { status, statusReason, toolCount } = await registered("tools/list", (response, { id }) =>
      sendResult(response, id, { tools: [tool({ name: `t${pages++}` })], nextCursor: "again" })
    )
    assert.deepStrictEqual([status, toolCount, pages], ["ready", 64, 64])
    assert.include(statusReason, "too many")
  })

  it("holds two names that a provider could not tell apart offers the first", async () => {
    // Names that differ only in what providers do not take: a hundred thousand of them, and two hashes are the same.
    const seen = new Map<string, string>()
    const variant = (i: number) => Array.from({ length: 18 }, (_, bit) => `x${(i >> bit) & 1 ? "." : "_"}`).join("")
    const namespace = fresh("twins")
    const twins = (() => {
      for (let i = 0; ; i++) {
        const name = toProviderName(`${namespace}.${variant(i)}`)
        const other = seen.get(name)
        if (other !== undefined) return [other, variant(i)]
        seen.set(name, variant(i))
      }
    })()
    const liar = await startLiar("tools/list", listing(twins.map((name) => tool({ name }))))
    const answer = await server.alpha.post("/v1/toolsets", { kind: "mcp", namespace, url: liar.url })
    await liar.close()
    assert.deepStrictEqual([answer.body.toolset.status, answer.body.toolset.toolCount], ["ready", 1])
    assert.include(answer.body.toolset.statusReason, `left out: ${twins[1]}: providers could not tell its name`)
  })
})
