/** What a model is shown of the runtime's own tools: when, in which order, and in a form that every provider takes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { agentsFamily } from "../../actors/thread/tools/families/agents.ts"
import { connectionsFamily } from "../../actors/thread/tools/families/connections.ts"
import { feedsFamily } from "../../actors/thread/tools/families/feeds.ts"
import { memoryFamily } from "../../actors/thread/tools/families/memory.ts"
import { schedulesFamily } from "../../actors/thread/tools/families/schedules.ts"
import { subscriptionsFamily } from "../../actors/thread/tools/families/subscriptions.ts"
import { threadFamily } from "../../actors/thread/tools/families/thread.ts"
import { makeTools } from "../../actors/thread/tools/toolbox.ts"
import type { Carry } from "../../machines/thread/context.ts"
import { limits } from "../../src/domain/limits.ts"
import { servedFamilies } from "../../src/agents/profile.ts"
import { Bus } from "../../src/bus/Bus.ts"
import { ConditionJudge } from "../../src/subscriptions/ConditionJudge.ts"
import { Journal } from "../../src/journal/Journal.ts"
import { noUsage } from "../../src/domain/usage.ts"
import { toProviderName } from "../../src/models/toolNames.ts"
import { makeThreadModel } from "../../src/threads/shownModel.ts"
import { makeChanging } from "../../src/subscriptions/changing.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { Validators } from "../../src/tools/jsonSchema.ts"
import { addToolset } from "../http/toolFixture.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"

const validators = new Validators()
const checkSchema = (schema: unknown) => validators.unusable(JSON.stringify(schema))
const validate = (schema: unknown, value: unknown) => validators.misfit(JSON.stringify(schema), value)

const server = await during(startServer())

const families = async () => [
  threadFamily({
    approval: () => Effect.succeed(undefined),
    reads: await server.runtime.runPromise(ThreadReads),
    modelOf: await server.runtime.runPromise(makeThreadModel),
    now: Date.now
  }),
  agentsFamily(
    server.database,
    () => Effect.never,
    () => Effect.succeed(undefined)
  ),
  connectionsFamily(server.database),
  memoryFamily({ approval: () => Effect.succeed(undefined), database: server.database, now: Date.now }),
  feedsFamily({
    approval: () => Effect.succeed(undefined),
    bus: await server.runtime.runPromise(Bus),
    conditions: await server.runtime.runPromise(ConditionJudge),
    database: server.database,
    journal: await server.runtime.runPromise(Journal)
  }),
  schedulesFamily({
    approval: () => Effect.succeed(undefined),
    database: server.database,
    mayName: () => Effect.succeed(true),
    now: Date.now,
    wake: () => {}
  }),
  subscriptionsFamily({
    approval: () => Effect.succeed(undefined),
    changing: await server.runtime.runPromise(makeChanging),
    database: server.database
  })
]

describe("the families", () => {
  it("are those that profiles may list, and their tools are called after them", async () => {
    const all = await families()
    assert.sameMembers(
      all.map(({ name }) => name),
      [...servedFamilies]
    )
    for (const { name, tools } of all)
      for (const tool of tools) assert.isTrue(tool.name.startsWith(`${name}.`), tool.name)
  })

  it("are in the documents, tool by tool", async () => {
    const document = readFileSync(resolve(import.meta.dirname, "../../docs/tools.md"), "utf8")
    const section =
      document.split(/^## /m).find((part) => part.startsWith("Built-in tools\n")) ??
      assert.fail("there is no section of built-in tools")
    const named = [...section.matchAll(/^\| `([a-z_.]+)` \|/gm)].map(([, name]) => name)
    assert.deepStrictEqual(named, [
      "tool_search",
      ...(await families()).flatMap(({ tools }) => tools.map(({ name }) => name))
    ])
  })

  it("have names, descriptions and schemas that every provider takes", async () => {
    for (const { tools } of await families()) {
      for (const { description, inputSchema, name } of tools) {
        assert.isAtMost(toProviderName(name).length, 64)
        assert.isBelow(description.length, limits.toolDescriptionBytes)
        assert.isUndefined(checkSchema(inputSchema), name)
        assert.deepInclude(inputSchema, { type: "object", additionalProperties: false })
        assert.notInclude(JSON.stringify(inputSchema), "$ref")
      }
    }
  })

  it("say in their schemas what they take", async () => {
    const [thread, agents] = await families()
    const schema = (name: string) =>
      [...thread!.tools, ...agents!.tools].find((tool) => tool.name === name)?.inputSchema
    assert.isUndefined(validate(schema("thread.get"), {}))
    assert.isDefined(validate(schema("thread.get"), { threadId: "thr_1" }))
    assert.isUndefined(validate(schema("thread.rename"), { title: null, metadata: { a: null, b: "c" } }))
    assert.isDefined(validate(schema("thread.rename"), { title: 7 }))
    assert.isDefined(validate(schema("agents.ask"), { agentId: "agt_01m7y1svs7e0087pe32vr71000" }))
    assert.isDefined(validate(schema("agents.ask"), { agentId: "you", message: "hello" }))
  })
})

describe("a model", () => {
  it("is shown what is always there, then the search, then what was revealed", async () => {
    const { id, namespace } = await addToolset(server.alpha, {
      kind: "client",
      tools: [{ name: "open", inputSchema: { type: "object" } }]
    })
    const hidden = await addToolset(server.alpha, {
      kind: "client",
      exposure: "search",
      tools: [
        { name: "one", inputSchema: { type: "object" } },
        { name: "two", inputSchema: { type: "object" } }
      ]
    })
    const {
      body: { profile }
    } = await server.alpha.post("/v1/profiles", {
      name: "P",
      models: ["troupe/scripted"],
      families: ["thread", "agents"],
      toolsetIds: [hidden.id, id]
    })
    const workspace = server.workspaces.alpha
    const tools = await server.runtime.runPromise(Effect.flatMap(Effect.promise(families), makeTools))
    const toolkit = await server.runtime.runPromise(
      tools.toolkit(workspace, {
        profileId: profile.id,
        profileVersion: 1,
        models: [],
        maxSteps: 1,
        maxTurnMs: 1,
        maxParallelTools: 1,
        catalogues: [
          { id: hidden.id, version: 1 },
          { id, version: 1 }
        ]
      })
    )
    const shown = async (reveals?: Carry["reveals"]) => {
      const carry = { usage: noUsage, ...(reveals === undefined ? {} : { reveals }) }
      return await server.runtime.runPromise(
        toolkit.definitions({ workspace, agentId: "agt_1", threadId: "thr_1", carry, hops: 0 })
      )
    }
    const before = await shown()
    assert.deepStrictEqual(
      before.map(({ name }) => name),
      [`${namespace}.open`, "tool_search"]
    )
    const { description, inputSchema } = before[1]!
    assert.include(description, `Families: thread, agents. Toolsets: ${hidden.namespace}.`)
    assert.isUndefined(checkSchema(inputSchema))
    assert.isUndefined(validate(inputSchema, { query: "q".repeat(limits.searchChars), limit: limits.revealedTools }))
    assert.isDefined(validate(inputSchema, { query: "q".repeat(limits.searchChars + 1) }))
    assert.deepStrictEqual(
      (await shown({ families: ["agents"], tools: [`${hidden.id}/two`] })).map(({ name }) => name),
      [`${namespace}.open`, "tool_search", "agents.list", "agents.get", "agents.ask", `${hidden.namespace}.two`]
    )
  })
})
