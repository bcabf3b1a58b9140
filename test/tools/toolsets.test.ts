/** Catalogues of toolsets, and the tools that a turn has of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { usualTools } from "./mcpServer.ts"
import { makeToolsetWorlds, text } from "./toolsetWorld.ts"
import { fresh } from "../http/toolFixture.ts"

/** Of its own: a test counts what is asked of its database. */
const server = await during(startServer())
const { run, within, world } = makeToolsetWorlds(server)

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
    const namespace = fresh("hours")
    const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })
    const answer = await server.alpha.post("/v1/toolsets", {
      kind: "client",
      namespace,
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
        [`${namespace}.a`, "client", "search", 3_600_000],
        [`${namespace}.b`, "client", "search", 3_600_000],
        [`${namespace}.c`, "client", "search", 10_000]
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
