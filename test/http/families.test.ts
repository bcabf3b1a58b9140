/** Tools of the runtime itself: the thread, the agents and the connections of the workspace, as a model calls them. */
import { assert, describe, it } from "@effect/vitest"
import { allow, type HookServer, rewrite, startHookServer } from "../hooks/hookServer.ts"
import { during } from "../setup/during.ts"
import { ended, type Event, logOf, submit } from "./threadFixture.ts"
import {
  addToolset,
  begin,
  call,
  makeWorker,
  only,
  outcomes,
  resolveWait,
  turnOf,
  waitsOf,
  fresh
} from "./toolFixture.ts"
import { all, found, familyStand } from "./familyFixture.ts"

const { server, worker } = await familyStand()
const hooks = await during(startHookServer())

type Fields = Readonly<Record<string, unknown>>
/** The outcome of the calls after the search: outputs, or codes of failures. */
const use = async (agentId: string, ...lines: ReadonlyArray<string>) => {
  const log = await turnOf(server.alpha, agentId, found, "/then", ...lines)
  return outcomes(log).slice(1) as ReadonlyArray<any>
}

describe.concurrent("thread", () => {
  it("get tells of its own thread, and no other", async () => {
    const agentId = await worker()
    const threadId = await begin(server.alpha, agentId, found, "/then", call("thread.get"))
    const log = await logOf(server.alpha, threadId, ended(1))
    const [, output] = outcomes(log) as [unknown, Fields]
    assert.deepInclude(output, { status: "running", openWaits: 0, queued: 0 })
    assert.deepInclude(output.thread, { id: threadId, agentId, workspaceId: server.workspaces.alpha })
    assert.sameMembers(Object.keys(output), [
      "lastSeq",
      "model",
      "status",
      "updatedAt",
      "thread",
      "budgetSpend",
      "usage",
      "openWaits",
      "queued"
    ])
  })

  it("rename sets title and metadata, as a merge patch, in the agent's name", async () => {
    const agentId = await worker()
    const threadId = await begin(
      server.alpha,
      agentId,
      found,
      "/then",
      call("thread.rename", { title: "Refund 7", metadata: { order: "7", kind: "refund" } })
    )
    await logOf(server.alpha, threadId, ended(1))
    const get = async () => (await server.alpha.get(`/v1/threads/${threadId}`)).body.thread
    assert.deepInclude(await get(), {
      title: "Refund 7",
      metadata: { order: "7", kind: "refund" },
      updatedBy: { type: "agent", id: agentId }
    })
    await submit(server.alpha, threadId, call("thread.rename", { title: null, metadata: { kind: null, done: "yes" } }))
    const log = await logOf(server.alpha, threadId, ended(2))
    assert.deepStrictEqual(only(log, "tool_result").at(-1)!.toolOutput, { metadata: { order: "7", done: "yes" } })
    assert.notProperty(await get(), "title")
    // The live thread knows it too, and keeps what was fixed at its birth.
    await submit(server.alpha, threadId, call("thread.get"))
    const last = only(await logOf(server.alpha, threadId, ended(3)), "tool_result").at(-1)!.toolOutput as Fields
    assert.deepInclude(last.thread, { metadata: { order: "7", done: "yes" }, agentId })
  })

  it("rename holds to the limits of titles and metadata", async () => {
    const agentId = await worker()
    const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]))
    assert.deepStrictEqual(await use(agentId, call("thread.rename", { title: "t".repeat(201) })), [
      "tool_input_invalid"
    ])
    assert.deepStrictEqual(await use(agentId, call("thread.rename", { title: "two\nlines" })), ["tool_input_invalid"])
    assert.deepStrictEqual(await use(agentId, call("thread.rename", { maxCost: 100 })), ["tool_input_invalid"])
    assert.deepStrictEqual(await use(agentId, call("thread.rename", { metadata: { a: 1 } })), ["tool_input_invalid"])
    assert.deepStrictEqual(await use(agentId, call("thread.rename", { title: "t".repeat(200), metadata: pairs(16) })), [
      { title: "t".repeat(200), metadata: pairs(16) }
    ])
    assert.deepStrictEqual(await use(agentId, call("thread.rename", { metadata: pairs(17) })), ["tool_input_invalid"])
    // Sixteen, and one more later.
    assert.deepStrictEqual(
      (
        await use(
          agentId,
          call("thread.rename", { metadata: pairs(16) }),
          "/then",
          call("thread.rename", { metadata: { more: "v" } })
        )
      ).at(-1),
      "tool_input_invalid"
    )
  })

  it("events reads its log from a seq on, or its newest", async () => {
    const agentId = await worker()
    const [from, newest] = await use(
      agentId,
      call("thread.events", { afterSeq: 1, limit: 2 }),
      "/then",
      call("thread.events", { limit: 3 })
    )
    assert.deepStrictEqual(
      from.events.map(({ seq, type }: Event) => [seq, type]),
      [
        [2, "tool_intent"],
        [3, "tool_result"]
      ]
    )
    assert.strictEqual(from.lastSeq, 4)
    assert.deepStrictEqual(
      newest.events.map(({ seq, type }: Event) => [seq, type]),
      [
        [4, "tool_intent"],
        [5, "tool_result"],
        [6, "tool_intent"]
      ]
    )
    for (const bad of [{ limit: 0 }, { limit: 51 }, { afterSeq: -1 }, { afterSeq: 0.5 }, { threadId: "thr_x" }]) {
      assert.deepStrictEqual(
        await use(agentId, call("thread.events", bad)),
        ["tool_input_invalid"],
        JSON.stringify(bad)
      )
    }
    assert.lengthOf(await use(agentId, call("thread.events", { limit: 50 })), 1)
  })

  it("events tells nothing that hooks have kept from the model", async () => {
    const toolset = await addToolset(server.alpha, {
      kind: "client",
      tools: [{ name: "ask", inputSchema: { type: "object" } }]
    })
    const endpoint = (reply: Parameters<HookServer["endpoint"]>[0]) => ({ type: "url", url: hooks.endpoint(reply).url })
    const lines = [found, "/then", call(`${toolset.namespace}.ask`), "/then", call("thread.events", { limit: 50 })]
    const agentId = await worker({
      toolsetIds: [toolset.id],
      hooks: [
        {
          name: "redact",
          point: "before_turn_start",
          processor: endpoint(rewrite({ content: [{ type: "text", text: lines.join("\n") }] }))
        },
        {
          name: "redact",
          point: "after_tool_result",
          match: { tools: [`${toolset.namespace}.*`] },
          processor: endpoint(rewrite({ toolOutput: "gone" }))
        },
        {
          name: "reason",
          point: "before_tool_call",
          match: { tools: [`${toolset.namespace}.*`] },
          processor: endpoint(allow({ reason: "canary" }))
        }
      ]
    })
    const threadId = await begin(server.alpha, agentId, "canary", ...lines)
    const [wait] = await waitsOf(server.alpha, threadId)
    await resolveWait(server.alpha, threadId, wait!.id, { type: "tool_result", output: "canary" })
    const [, asked, output] = outcomes(await logOf(server.alpha, threadId, ended(1)))
    assert.strictEqual(asked, "gone")
    assert.deepInclude(JSON.stringify(output), "user_message")
    assert.notInclude(JSON.stringify(output), "canary")
  })

  it("events is bounded, whatever the log holds", async () => {
    const agentId = await worker()
    const threadId = await begin(server.alpha, agentId, `/say ${"x".repeat(7_000)}`)
    for (let i = 2; i < 13; i++) {
      await submit(server.alpha, threadId, `/say ${"x".repeat(8_000)}`)
      await logOf(server.alpha, threadId, ended(i))
    }
    await submit(
      server.alpha,
      threadId,
      [
        found,
        "/then",
        call("thread.events", { afterSeq: 0, limit: 50 }),
        "/then",
        call("thread.events", { limit: 50 })
      ].join("\n")
    )
    const outputs = outcomes(await logOf(server.alpha, threadId, ended(13))).slice(1) as ReadonlyArray<any>
    for (const output of outputs) {
      assert.isAtMost(JSON.stringify(output).length, 66 * 1024)
      assert.isAbove(output.events.length, 5)
    }
    assert.strictEqual(outputs[0].events[0].seq, 1)
    assert.strictEqual(outputs[1].events.at(-1).type, "tool_intent")
  })
})

describe.concurrent("agents and connections", () => {
  it("list what the workspace has, page by page, newest first", async () => {
    const names = ["One", "Two", "Three"]
    const gamma = await server.client(await server.workspace(fresh("gamma")))
    const profile = (await gamma.post("/v1/profiles", { name: "P", models: ["troupe/scripted"], families: all })).body
      .profile.id
    for (const name of names)
      await gamma.post("/v1/agents", { name, profileId: profile, description: "d".repeat(600), tags: ["a"] })
    const gone = (await gamma.post("/v1/agents", { name: "Gone", profileId: profile })).body.agent.id
    await gamma.delete(`/v1/agents/${gone}`)
    for (const name of names) {
      assert.strictEqual(
        (
          await gamma.post("/v1/connections", {
            name,
            provider: "github",
            secret: { token: "very-secret-token-1234" },
            baseUrl: "https://api.example.com"
          })
        ).status,
        201
      )
    }
    const agentId = (await gamma.post("/v1/agents", { name: "Worker", profileId: profile })).body.agent.id
    const run = async (...lines: ReadonlyArray<string>) =>
      outcomes(await turnOf(gamma, agentId, found, "/then", ...lines)).slice(1) as ReadonlyArray<any>

    const [first] = await run(call("agents.list", { limit: 2 }))
    assert.deepStrictEqual(
      first.agents.map(({ name }: Fields) => name),
      ["Worker", "Three"]
    )
    assert.deepStrictEqual(Object.keys(first.agents[1]), ["id", "name", "description", "tags", "createdAt"])
    assert.strictEqual(first.agents[1].description, `${"d".repeat(500)}…`)
    const [second, whole] = await run(call("agents.list", { limit: 2, cursor: first.nextCursor }), call("agents.list"))
    assert.deepStrictEqual(
      second.agents.map(({ name }: Fields) => name),
      ["Two", "One"]
    )
    assert.notProperty(second, "nextCursor")
    assert.lengthOf(whole.agents, 4)

    const [some] = await run(call("connections.list", { limit: 2 }))
    assert.deepStrictEqual(
      some.connections.map(({ name }: Fields) => name),
      ["Three", "Two"]
    )
    const [rest] = await run(call("connections.list", { limit: 2, cursor: some.nextCursor }))
    assert.deepStrictEqual(
      rest.connections.map(({ createdAt, id, ...shown }: Fields) => shown),
      [{ name: "One", provider: "github", kind: "token", status: "active", baseUrl: "https://api.example.com" }]
    )
    assert.notInclude(JSON.stringify([some, rest]), "1234")
    for (const bad of [{ limit: 0 }, { limit: 51 }, { cursor: "x" }, { cursor: "1-agt_1" }]) {
      assert.deepStrictEqual(
        await run(call("agents.list", bad), call("connections.list", bad)),
        ["tool_input_invalid", "tool_input_invalid"],
        JSON.stringify(bad)
      )
    }
  })

  it("get tells all of one agent, of this workspace only", async () => {
    const agentId = await worker()
    const theirs = await makeWorker(server.beta)
    const [own, none] = await use(agentId, call("agents.get", { agentId }), call("agents.get", { agentId: theirs }))
    assert.deepInclude(own, { id: agentId, name: "Worker", tags: [] })
    assert.strictEqual(none, "tool_error")
    assert.deepStrictEqual(await use(agentId, call("agents.get", { agentId: "me" })), ["tool_input_invalid"])
  })
})
