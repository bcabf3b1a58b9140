/** Servers that lie, stall, flood and break off: nothing hangs, nothing breaks, and what is said about it is right. */
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { toProviderName } from "../../src/models/toolNames.ts"
import { Toolsets } from "../../src/tools/Toolsets.ts"
import { sharedServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { endless, type Lie, sendJson, sendResult, startLiar, stream } from "./liar.ts"

const server = await sharedServer()

let made = 0

const register = (url: string) =>
  server.alpha.post("/v1/toolsets", { kind: "mcp", namespace: `liar${made++}`, url, trusted: true })

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

const status =
  (code: number, headers: Record<string, string> = {}): Lie =>
  (response) =>
    response.writeHead(code, headers).end("x")
const hang: Lie = () => {}
const destroy: Lie = (response) => response.destroy()
const breakOff: Lie = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" }).write('{"jsonrpc":')
  setTimeout(() => response.destroy(), 20)
}
const html: Lie = (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>")
const drip: Lie = (response) => endless(response.writeHead(200, { "content-type": "application/json" }), " ", 50)
const flood: Lie = (response) =>
  endless(response.writeHead(200, { "content-type": "application/json" }), "[".repeat(65_536), 0)
const bomb: Lie = (response) =>
  response
    .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
    .end(gzipSync(" ".repeat(64 * 1024 * 1024)))
const nothing: Lie = (response) => response.writeHead(200, { "content-type": "application/json" }).end()
const accepted: Lie = (response) => response.writeHead(202).end()
const otherId: Lie = (response) => sendResult(response, "other", {})
const emptyStream: Lie = (response) => {
  stream(response)
  response.end()
}
const silentStream: Lie = (response) => {
  stream(response)
}
const endlessEvent: Lie = (response) => {
  stream(response)
  return endless(response, `data: ${"x".repeat(65_536)}`, 0)
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
    ["answers with a page", html, "unreachable", "does not follow the protocol"],
    ["answers with broken JSON", (response) => sendJson(response, "{"), "unreachable", "does not follow the protocol"],
    [
      "answers with JSON of its own",
      (response) => sendJson(response, { hello: 1 }),
      "unreachable",
      "does not follow the protocol"
    ],
    ["answers with nothing", nothing, "unreachable", "does not follow the protocol"],
    ["accepts, and never answers", accepted, "unreachable", "without an answer"],
    ["answers another question", otherId, "unreachable", "without an answer"],
    ["closes the connection", destroy, "unreachable", "connection was lost"],
    ["breaks off", breakOff, "unreachable", "connection was lost"],
    ["ends its stream", emptyStream, "unreachable", "without an answer"],
    ["floods", flood, "unreachable", "larger than"],
    ["sends a bomb", bomb, "unreachable", "larger than"],
    ["sends an event without an end", endlessEvent, "unreachable", ""]
  ] as const satisfies ReadonlyArray<readonly [string, Lie, string, string]>) {
    it(`${what} is 201, and ${expected}`, async () => {
      const { catalogVersion, status, statusReason, toolCount } = await registered("*", lie)
      assert.deepStrictEqual([status, catalogVersion, toolCount], [expected, 0, 0], statusReason)
      assert.include(statusReason, reason)
    })
  }

  for (const [what, point, lie] of [
    ["never answers", "*", hang],
    ["drips", "*", drip],
    ["opens a stream and is silent", "initialize", silentStream],
    ["does not take note of the beginning", "notifications/initialized", hang],
    ["never lists", "tools/list", hang]
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
    ["breaks off", breakOff],
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
    const twins = (() => {
      for (let i = 0; ; i++) {
        const name = toProviderName(`twins.${variant(i)}`)
        const other = seen.get(name)
        if (other !== undefined) return [other, variant(i)]
        seen.set(name, variant(i))
      }
    })()
    const liar = await startLiar("tools/list", listing(twins.map((name) => tool({ name }))))
    const answer = await server.alpha.post("/v1/toolsets", { kind: "mcp", namespace: "twins", url: liar.url })
    await liar.close()
    assert.deepStrictEqual([answer.body.toolset.status, answer.body.toolset.toolCount], ["ready", 1])
    assert.include(answer.body.toolset.statusReason, `left out: ${twins[1]}: providers could not tell its name`)
  })
})

describe("a call that", () => {
  /** The outcomes of a tool that changes things, and of one that only looks. */
  const called = async (point: string, lie: Lie, timeoutMs = 60_000) => {
    const liar = await startLiar(point, lie)
    const answer = await register(liar.url)
    assert.deepStrictEqual([answer.status, answer.body.toolset.status], [201, "ready"], answer.text)
    const workspace = server.workspaces.alpha
    const outcomes = await server.runtime.runPromise(
      Effect.gen(function* () {
        const toolsets = yield* Toolsets
        const tools = yield* toolsets.tools(workspace, yield* toolsets.current(workspace, [answer.body.toolset.id]))
        return yield* Effect.forEach(tools, (tool) => toolsets.call(workspace, { ...tool, timeoutMs }, {}, "call_1"))
      })
    )
    const times = liar.times()
    await liar.close()
    return { outcomes, codes: outcomes.map(({ failure }) => failure?.code), times }
  }

  const unknown = ["tool_outcome_unknown", "toolset_unreachable"]
  const both = (code: string) => [code, code]

  for (const [what, lie, codes, times] of [
    // A tool that only looks is tried once more where nobody knows.
    ["is answered with 500", status(500), unknown, 3],
    ["is answered with 502", status(502), unknown, 3],
    ["is cut off before the answer", destroy, unknown, 3],
    ["is cut off within the answer", breakOff, unknown, 3],
    ["is accepted, and never answered", accepted, unknown, 3],
    ["is answered by a stream without the answer", emptyStream, unknown, 3],
    ["is answered with another's answer", otherId, unknown, 3],
    // Both know that nothing was done.
    ["is answered with 503", status(503), both("toolset_unreachable"), 2],
    ["is answered with 429", status(429), both("toolset_unreachable"), 2],
    ["is answered with a redirect", status(302, { location: "http://127.0.0.1:1/" }), both("toolset_unreachable"), 2],
    ["is answered with 404 in every session", status(404), both("toolset_unreachable"), 4],
    ["is answered with 401", status(401), both("toolset_unauthorized"), 2],
    ["is answered with 403", status(403), both("toolset_unauthorized"), 2],
    // It was answered, with what is no answer.
    ["is answered with 400", status(400), both("tool_error"), 2],
    ["is answered with a page", html, both("tool_error"), 2],
    ["is answered with broken JSON", (response) => sendJson(response, '{"jsonrpc":"2.0"'), both("tool_error"), 2],
    ["is answered with nothing", nothing, both("tool_error"), 2],
    [
      "is answered with another result",
      (response, { id }) => sendResult(response, id, { content: "text" }),
      both("tool_error"),
      2
    ],
    [
      "is answered with a block of an unknown type",
      (response, { id }) => sendResult(response, id, { content: [{ type: "smell" }] }),
      both("tool_error"),
      2
    ],
    [
      "is answered with an error of the protocol",
      (response, { id }) =>
        sendJson(response, { jsonrpc: "2.0", id, error: { code: -32000, message: "x".repeat(100_000) } }),
      both("tool_error"),
      2
    ],
    ["is answered with more than is read", flood, both("tool_error"), 2],
    ["is answered with a bomb", bomb, both("tool_error"), 2],
    [
      "is answered with what nests too deep",
      (response, { id }) =>
        sendJson(
          response,
          `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}}`
        ),
      both("tool_error"),
      2
    ]
  ] as const satisfies ReadonlyArray<readonly [string, Lie, ReadonlyArray<string>, number]>) {
    it(`${what} ends with ${[...new Set(codes)].join(" or ")}`, async () => {
      const found = await called("tools/call", lie)
      assert.deepStrictEqual(
        [found.codes, found.times],
        [[...codes], times],
        JSON.stringify(found.outcomes).slice(0, 500)
      )
      for (const { failure } of found.outcomes) assert.isAtMost(failure?.text.length ?? 0, 4_200)
    })
  }

  for (const [what, lie] of [
    ["is never answered", hang],
    ["is answered drop by drop", drip],
    ["is answered by a stream that says nothing", silentStream],
    [
      "is answered by pings without an end",
      async (response) => {
        const { send } = stream(response)
        for (let id = 0; !response.destroyed; id++) {
          send({ jsonrpc: "2.0", id: `ping${id}`, method: "ping" })
          await sleep(5)
        }
      }
    ]
  ] as const satisfies ReadonlyArray<readonly [string, Lie]>) {
    it(`${what} ends with tool_timeout`, async () => {
      const began = performance.now()
      assert.deepStrictEqual((await called("tools/call", lie, 300)).codes, ["tool_timeout", "tool_timeout"])
      assert.isBelow(performance.now() - began, 5_000)
    })
  }

  for (const [what, lie] of [
    [
      "is answered by a stream that goes on",
      (response, { id }) => {
        stream(response).send({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "done" }] } })
      }
    ],
    [
      "is answered twice",
      (response, { id }) => {
        const { send } = stream(response)
        for (const text of ["done", "again"])
          send({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } })
        response.end()
      }
    ],
    [
      "is answered after noise",
      (response, { id }) => {
        const { raw, send } = stream(response)
        raw(': comment\n\nevent: other\ndata: x\n\ndata: {\n\ndata: {"jsonrpc":"2.0"}\n\nid: \n\nretry: 0\n\n')
        for (const method of ["elicitation/create", "sampling/createMessage", "roots/list", "__proto__"])
          send({ jsonrpc: "2.0", id: method, method, params: {} })
        send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 99, progress: 1 } })
        send({ jsonrpc: "2.0", id: "other", result: {} })
        send({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "done" }], extra: { __proto__: null } } })
        response.end()
      }
    ]
  ] as const satisfies ReadonlyArray<readonly [string, Lie]>) {
    it(`${what} has its answer`, async () => {
      assert.deepStrictEqual((await called("tools/call", lie)).outcomes, [{ output: "done" }, { output: "done" }])
    })
  }

  it("is taken up again where the stream says that it can be", async () => {
    // An event with an id promises that the rest can be read later, by a GET from there.
    const { codes, times } = await called("tools/call", (response) => {
      stream(response).raw("id: 7\ndata: \n\n")
      response.end()
    })
    // The GET is a 405 here: nobody has the rest.
    assert.deepStrictEqual([codes, times], [unknown, 3])
  })
})

/** Calls the first tool of a toolset so many times, one call after another. */
const use = (toolsetId: string, times: number) =>
  server.runtime.runPromise(
    Effect.gen(function* () {
      const workspace = server.workspaces.alpha
      const toolsets = yield* Toolsets
      const [tool] = yield* toolsets.tools(workspace, yield* toolsets.current(workspace, [toolsetId]))
      for (let i = 0; tool !== undefined && i < times; i++) yield* toolsets.call(workspace, tool, {}, `c${i}`)
    })
  )

it("a server whose stream to listen on ends at once is not listened to in a loop", async () => {
  const liar = await startLiar("listen", (response) => {
    stream(response).raw("retry: 0\n\n")
    response.end()
  })
  const answer = await register(liar.url)
  // A loop goes round in the time of an answer.
  await use(answer.body.toolset.id, 100)
  assert.isAtMost(liar.times(), 3)
  await liar.close()
})

it("a server that announces changes without an end is asked at most once in five seconds", async () => {
  let announced = 0
  const liar = await startLiar("listen", async (response) => {
    const { send } = stream(response)
    for (; !response.destroyed; announced++) {
      send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })
      await sleep(2)
    }
  })
  const answer = await register(liar.url)
  await use(answer.body.toolset.id, 1)
  await eventually(() => announced > 500, "it announces a change again and again")
  assert.isAtMost(liar.asked.filter((name) => name === "tools/list").length, 3)
  await liar.close()
})
