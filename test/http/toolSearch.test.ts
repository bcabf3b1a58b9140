/** Families and toolsets that are hidden until a search reveals them: to whom, how many at once, and for how long. */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ToolReveal } from "../../src/domain/event.ts"
import { builtInRoles } from "../../src/roles/role.ts"
import { deny, type HookServer, rewrite, startHookServer } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { ended, type Event, logOf, submit } from "./threadFixture.ts"
import {
  addRole,
  addToolset,
  assertSound,
  begin,
  call,
  fresh,
  leavesMemory,
  loseLease,
  makeWorker,
  only,
  outcomes,
  turnOf
} from "./toolFixture.ts"

const server = await during(startServer({ idleMs: 50, leaseTtlMs: 2_000 }))
const mcp = await during(startMcpServer())
const hooks = await during(startHookServer())
const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: mcp.url, exposure: "search" })
const ns = namespace
const toolsetId = id
afterAll(() => assertSound(server))

const roleId = (name: string) => builtInRoles.find((role) => role.name === name)?.id ?? assert.fail(name)
const worker = (profile: object = {}) =>
  makeWorker(server.alpha, { families: ["thread", "agents", "connections"], toolsetIds: [toolsetId], ...profile })
const search = (query: string, limit?: number) =>
  call("tool_search", { query, ...(limit === undefined ? {} : { limit }) })

interface Found {
  readonly families: ReadonlyArray<{
    readonly name: string
    readonly description: string
    readonly tools: ReadonlyArray<{ readonly name: string; readonly description: string }>
  }>
  readonly tools: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly more?: number
}
const foundIn = (log: ReadonlyArray<Event>, at = 0) => only(log, "tool_result")[at]!.toolOutput as Found
const revealIn = (log: ReadonlyArray<Event>, at = 0) =>
  only(log, "tool_result")[at]!.reveal as typeof ToolReveal.Type | undefined
const names = ({ families, tools }: Found) => [...families, ...tools].map(({ name }) => name)
const isReveal = Schema.is(ToolReveal)

describe.concurrent("what is hidden", () => {
  it("cannot be called before it is revealed, not even in the response that looks for it", async () => {
    const agentId = await worker()
    const log = await turnOf(
      server.alpha,
      agentId,
      call(`${ns}.echo`, { text: "a" }),
      call("thread.get"),
      search(`echo thread`),
      "/then",
      call(`${ns}.echo`, { text: "b" }),
      call("thread.get")
    )
    const [echo, get, , again, got] = outcomes(log)
    assert.deepStrictEqual([echo, get, again], ["tool_not_found", "tool_not_found", "b"])
    assert.property(got, "thread")
  })

  it("is found by words in names and descriptions, and is then in the log: families, and tools with their definitions", async () => {
    const agentId = await worker()
    const log = await turnOf(
      server.alpha,
      agentId,
      search("gives back its text", 1),
      "/then",
      search("credentials"),
      "/then",
      search("zebra")
    )
    assert.deepStrictEqual(foundIn(log).tools, [{ name: `${ns}.echo`, description: "Gives back its text" }])
    assert.deepStrictEqual(revealIn(log)?.tools, [
      {
        toolsetId,
        namespace: ns,
        name: "echo",
        def: {
          name: `${ns}.echo`,
          description: "Gives back its text",
          schema: {
            type: "object",
            properties: { text: { type: "string" } },
            required: ["text"],
            additionalProperties: false
          }
        }
      }
    ])
    assert.deepStrictEqual(names(foundIn(log, 1)), ["connections"])
    assert.deepStrictEqual(
      foundIn(log, 1).families[0]!.tools.map(({ name }) => name),
      ["connections.list"]
    )
    assert.deepStrictEqual(revealIn(log, 1), { families: ["connections"] })
    assert.deepStrictEqual(only(log, "tool_result")[2]!.toolOutput, { families: [], tools: [] })
    assert.isUndefined(revealIn(log, 2))
    for (const at of [0, 1]) assert.isTrue(isReveal(revealIn(log, at)))
  })

  it("is revealed once: what is found again is named, and not revealed again", async () => {
    const log = await turnOf(server.alpha, await worker(), search("thread echo"), "/then", search("thread echo"))
    assert.deepStrictEqual(foundIn(log, 1), foundIn(log))
    assert.isDefined(revealIn(log))
    assert.isUndefined(revealIn(log, 1))
  })

  it("is at most ten tools at once, and says how many more there are", async () => {
    const { id, namespace } = await addToolset(server.alpha, {
      kind: "client",
      exposure: "search",
      tools: Array.from({ length: 12 }, (_, i) => ({ name: `zebra${i}`, inputSchema: { type: "object" } }))
    })
    const agentId = await worker({ toolsetIds: [id], families: [] })
    const log = await turnOf(
      server.alpha,
      agentId,
      search("zebra", 10),
      "/then",
      search("zebra"),
      "/then",
      search("zebra", 11),
      "/then",
      search("zebra", 0),
      "/then",
      call("tool_search", { query: " " })
    )
    assert.deepStrictEqual(
      revealIn(log)?.tools?.map(({ name }) => name),
      Array.from({ length: 10 }, (_, i) => `zebra${i}`)
    )
    assert.strictEqual(foundIn(log).more, 2)
    assert.lengthOf(foundIn(log, 1).tools, 5)
    assert.deepStrictEqual(outcomes(log).slice(2), ["tool_input_invalid", "tool_input_invalid", "tool_input_invalid"])
    assert.isTrue(names(foundIn(log)).every((name) => name.startsWith(`${namespace}.`)))
  })

  it("leaves definitions out of the log that are too long for it all together", async () => {
    // Only servers have schemas that long.
    const inputSchema = { type: "object", description: "x".repeat(60_000) }
    const zoo = await startMcpServer({
      tools: Array.from({ length: 6 }, (_, i) => ({
        name: `giraffe${i}`,
        description: "tall",
        inputSchema,
        run: () => "ate"
      }))
    })
    const { id, namespace } = await addToolset(server.alpha, { kind: "mcp", url: zoo.url, exposure: "search" })
    const agentId = await worker({ toolsetIds: [id], families: [] })
    const log = await turnOf(server.alpha, agentId, search("giraffe", 6), "/then", call(`${namespace}.giraffe5`))
    const tools = revealIn(log)?.tools ?? []
    assert.deepStrictEqual(
      tools.map(({ def }) => def !== undefined),
      [true, true, true, true, false, false]
    )
    assert.isAtMost(JSON.stringify(tools).length, 257 * 1024)
    assert.strictEqual(outcomes(log)[1], "ate", "it is revealed all the same")
    await zoo.close()
  })

  it("stays hidden where nothing is: without families and toolsets there is no search", async () => {
    const bare = await makeWorker(server.alpha)
    assert.deepStrictEqual(outcomes(await turnOf(server.alpha, bare, search("thread"))), ["tool_not_found"])
    const open = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
    const shown = await makeWorker(server.alpha, { toolsetIds: [open.id] })
    assert.deepStrictEqual(
      outcomes(await turnOf(server.alpha, shown, search("thread"), call(`${open.namespace}.echo`, { text: "x" }))),
      ["tool_not_found", "x"]
    )
  })

  it("is only what the profile lists", async () => {
    const agentId = await worker({ families: ["thread"], toolsetIds: [] })
    const log = await turnOf(
      server.alpha,
      agentId,
      search("agents connections echo thread"),
      "/then",
      call("agents.list"),
      call("thread.get")
    )
    assert.deepStrictEqual(names(foundIn(log)), ["thread"])
    assert.strictEqual(outcomes(log)[1], "tool_not_found")
    assert.property(outcomes(log)[2], "thread")
  })
})

describe.concurrent("roles", () => {
  it("read_only find and call what only reads", async () => {
    const agentId = await worker({ roleIds: [roleId("read_only")] })
    const log = await turnOf(
      server.alpha,
      agentId,
      search("thread agents connections echo delete slow put", 10),
      "/then",
      call("thread.get"),
      call("thread.rename", { title: "no" }),
      call("thread.events"),
      call("agents.list"),
      call("agents.ask", { agentId, message: "no" }),
      call("connections.list"),
      call(`${ns}.echo`, { text: "x" }),
      call(`${ns}.delete.all`)
    )
    const { families, tools } = foundIn(log)
    assert.sameMembers(
      families.flatMap(({ tools }) => tools.map(({ name }) => name)),
      ["thread.get", "thread.events", "agents.list", "agents.get", "connections.list"]
    )
    assert.deepStrictEqual(
      tools.map(({ name }) => name),
      [`${ns}.echo`]
    )
    const codes = outcomes(log)
      .slice(1)
      .map((outcome) => (typeof outcome === "object" ? "ran" : outcome))
    assert.deepStrictEqual(codes, ["ran", "tool_denied", "ran", "ran", "tool_denied", "ran", "x", "tool_not_found"])
  })

  it("that never allow anything hidden leave nothing to search, and what they deny is not found", async () => {
    const none = await worker({ roleIds: [roleId("no_tools")] })
    assert.deepStrictEqual(outcomes(await turnOf(server.alpha, none, search("thread"))), ["tool_denied"])
    const role = await addRole(server.alpha, {
      allow: [{ tools: "*" }],
      deny: [{ tools: "agents.*" }, { tools: `${ns}.delete.*` }]
    })
    const log = await turnOf(server.alpha, await worker({ roleIds: [role] }), search("agents thread delete echo", 10))
    assert.deepStrictEqual(names(foundIn(log)), ["thread", `${ns}.echo`])
  })

  it("need not name the search itself, but may deny it, or want it approved", async () => {
    const narrow = await addRole(server.alpha, { allow: [{ tools: `${ns}.echo` }] })
    const log = await turnOf(
      server.alpha,
      await worker({ roleIds: [narrow] }),
      search("thread echo read"),
      "/then",
      call(`${ns}.echo`, { text: "x" })
    )
    assert.deepStrictEqual(names(foundIn(log)), [`${ns}.echo`])
    assert.strictEqual(outcomes(log)[1], "x")
    const without = await addRole(server.alpha, { allow: [{ tools: "*" }], deny: [{ tools: "tool_search" }] })
    assert.deepStrictEqual(
      outcomes(await turnOf(server.alpha, await worker({ roleIds: [without] }), search("thread"))),
      ["tool_denied"]
    )
  })

  it("are asked when what was revealed is called: a reveal permits nothing", async () => {
    const role = await addRole(server.alpha, { allow: [{ tools: "*" }] })
    const agentId = await worker({ roleIds: [role] })
    const threadId = await begin(server.alpha, agentId, search("thread"))
    await logOf(server.alpha, threadId, ended(1))
    assert.strictEqual((await server.alpha.patch(`/v1/roles/${role}`, { allow: [{ tools: "agents.*" }] })).status, 200)
    await submit(server.alpha, threadId, call("thread.get"))
    assert.deepStrictEqual(outcomes(await logOf(server.alpha, threadId, ended(2))).at(-1), "tool_denied")
  })
})

describe("what was revealed", () => {
  const revealed = async () => {
    const threadId = await begin(server.alpha, await worker(), search("thread echo", 1))
    await logOf(server.alpha, threadId, ended(1))
    return threadId
  }
  const callsBoth = async (threadId: string, turn: number) => {
    await submit(
      server.alpha,
      threadId,
      [call("thread.get"), call(`${ns}.echo`, { text: "still" }), call("agents.list")].join("\n")
    )
    const [get, echo, list] = outcomes(await logOf(server.alpha, threadId, ended(turn))).slice(-3)
    assert.property(get, "thread")
    assert.deepStrictEqual([echo, list], ["still", "tool_not_found"])
  }

  it("is in force for the rest of the thread, also after it has left memory, and in no other thread", async () => {
    const threadId = await revealed()
    await callsBoth(threadId, 2)
    await leavesMemory(server, threadId)
    await callsBoth(threadId, 3)
    const other = await turnOf(server.alpha, await worker(), call("thread.get"))
    assert.deepStrictEqual(outcomes(other), ["tool_not_found"])
  })

  it("is in force after a crash, between turns and in the middle of one", async () => {
    const threadId = await revealed()
    const running = await begin(server.alpha, await worker(), search("thread"), "/then", "/wait 2s", call("thread.get"))
    await logOf(server.alpha, running, (log) => only(log, "tool_result").length === 1)
    await loseLease(server)
    await callsBoth(threadId, 2)
    const [, get] = outcomes(await logOf(server.alpha, running, ended(1)))
    assert.property(get, "thread")
  }, 30_000)

  it("is nothing when a hook denies the result; one that rewrites it changes what the model reads of it", async () => {
    const hook = (reply: Parameters<HookServer["endpoint"]>[0]) => ({
      name: fresh("hook"),
      point: "after_tool_result",
      match: { tools: ["tool_search"] },
      processor: { type: "url", url: hooks.endpoint(reply).url }
    })
    const denied = await turnOf(
      server.alpha,
      await worker({ hooks: [hook(deny("no"))] }),
      search("thread"),
      "/then",
      call("thread.get")
    )
    assert.deepStrictEqual(outcomes(denied), ["hook_denied", "tool_not_found"])
    const rewritten = await turnOf(
      server.alpha,
      await worker({ hooks: [hook(rewrite({ toolOutput: "hush" }))] }),
      search("thread"),
      "/then",
      call("thread.get")
    )
    assert.strictEqual(outcomes(rewritten)[0], "hush")
    assert.property(outcomes(rewritten)[1], "thread")
  })
})
