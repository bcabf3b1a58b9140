/** Tools of the runtime itself: the thread, the agents and the connections of the workspace, as a model calls them. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { begunBy } from "../../actors/thread/tools/derivedIds.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { ensureWorkspace } from "../../src/workspaces/ensure.ts"
import { allow, rewrite, type HookServer, startHookServer } from "../hooks/hookServer.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { ended, type Event, logOf, submit } from "./threadFixture.ts"
import {
  addRole,
  addToolset,
  assertSound,
  begin,
  call,
  eventually,
  leavesMemory,
  loseLease,
  makeWorker,
  only,
  outcomes,
  resolveWait,
  told,
  turnOf,
  waitsOf
} from "./toolFixture.ts"

let server: TestServer
let hooks: HookServer
beforeAll(async () => {
  ;[server, hooks] = await Promise.all([startServer({ idleMs: 50, leaseTtlMs: 2_000 }), startHookServer()])
})
afterAll(async () => {
  await assertSound(server)
  await Promise.all([server.stop(), hooks.stop()])
})

type Fields = Readonly<Record<string, unknown>>
const all = ["thread", "agents", "connections"]
const worker = (profile: object = {}) => makeWorker(server.alpha, { families: all, ...profile })
/** First the families are looked for, then what they hold is called. */
const found = call("tool_search", { query: "thread agents connections" })
/** The outcome of the calls after the search: outputs, or codes of failures. */
const use = async (agentId: string, ...lines: ReadonlyArray<string>) => {
  const log = await turnOf(server.alpha, agentId, found, "/then", ...lines)
  return outcomes(log).slice(1) as ReadonlyArray<any>
}
const failureOf = (log: ReadonlyArray<Event>) =>
  only(log, "tool_result").map(({ failureCode, failureText }) => [failureCode, failureText])

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
    const gamma = await server.client(
      await server.runtime.runPromise(
        server.database.atomically("test.workspace", (tx) => ensureWorkspace(tx, "gamma"))
      )
    )
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

/** An agent that asks, and the log of its thread. */
const asking = async (message: string, answerer: object = {}, asker: object = {}) => {
  const other = await makeWorker(server.alpha, answerer)
  const agentId = await worker(asker)
  const threadId = await begin(server.alpha, agentId, found, "/then", call("agents.ask", { agentId: other, message }))
  return { other, agentId, threadId, log: () => logOf(server.alpha, threadId, ended(1)) }
}
const threadsOf = async (agentId: string): Promise<ReadonlyArray<string>> =>
  (await server.alpha.get(`/v1/threads?agentId=${agentId}`)).body.threads.map(
    ({ thread }: { thread: { id: string } }) => thread.id
  )
const spentBy = async (agentId: string) => {
  const rows = await server.runtime.runPromise(
    server.database.run("test", (db) =>
      db.selectFrom("spent").select("amount").where("subject", "=", toUuid(agentId)).execute()
    )
  )
  return rows.reduce((sum, { amount }) => sum + Number(amount), 0)
}
const costOf = (event: Event | undefined) =>
  (event?.usage as { readonly estimatedCost?: number } | undefined)?.estimatedCost ?? 0

describe.concurrent("agents.ask", () => {
  it("answers what the other agent says in the end, in a thread of its own", async () => {
    const { agentId, log, other } = await asking("/say forty-two")
    const told = await log()
    const intent = only(told, "tool_intent")[1]!
    const [threadId] = await threadsOf(other)
    assert.deepStrictEqual(outcomes(told)[1], { threadId, text: "forty-two" })
    assert.strictEqual(threadId, begunBy("thread", String(intent.toolCallId)))
    const [question] = await logOf(server.alpha, threadId!, ended(1))
    assert.deepInclude(question, {
      type: "user_message",
      principal: { type: "agent", id: agentId },
      content: [{ type: "text", text: "/say forty-two" }]
    })
  })

  it("is told where the other's answer was cut", async () => {
    const { log } = await asking("/finish length\n/say forty-t")
    assert.deepInclude(outcomes(await log())[1], { text: "forty-t", finishReason: "length" })
  })

  it("has the other's usage in its own, and nobody pays twice", async () => {
    const paid = { models: ["troupe/scripted-paid"] }
    const { agentId, log, other } = await asking("/usage 1000 100\n/say yes", paid, paid)
    const told = await log()
    const [theirs] = await threadsOf(other)
    const end = (await logOf(server.alpha, theirs!, ended(1))).at(-1)
    const result = only(told, "tool_result")[1]!
    assert.deepStrictEqual(result.usage, end?.usage)
    assert.closeTo(costOf(result), 0.0012, 1e-12)
    assert.isAbove(costOf(told.at(-1)), costOf(result), "the turn's usage holds that of its tools")
    assert.closeTo(await spentBy(other), costOf(result), 1e-9)
    assert.closeTo(await spentBy(agentId), costOf(told.at(-1)) - costOf(result), 1e-9)
  })

  it("fails as the other's turn does, and still says what it used", async () => {
    const { log } = await asking("/usage 10 1\n/call nothing.here\n/then\n/fail content_refused no", {})
    const result = only(await log(), "tool_result")[1]!
    assert.strictEqual(result.failureCode, "tool_error")
    assert.match(String(result.failureText), /^The agent's turn in thr_\w+ failed: content_refused: no$/)
    assert.isAbove((result.usage as { inputTokens: number }).inputTokens, 0)
  })

  it("refuses agents that are not there, or do not run", async () => {
    const archived = await makeWorker(server.alpha)
    await server.alpha.delete(`/v1/agents/${archived}`)
    const modelless = await makeWorker(server.alpha, { models: ["nobody/has-it"] })
    const log = await turnOf(
      server.alpha,
      await worker(),
      found,
      "/then",
      ...[archived, modelless, await makeWorker(server.beta)].map((agentId) =>
        call("agents.ask", { agentId, message: "hello" })
      )
    )
    const results = new Map(only(log, "tool_result").map((event) => [event.toolCallId, event.failureText]))
    const texts = only(log, "tool_intent")
      .slice(1)
      .map(({ toolCallId }) => String(results.get(toolCallId)))
    assert.match(texts[0]!, /cannot begin: The agent was archived\.$/)
    assert.match(texts[1]!, /cannot begin: No model is available for nobody\/has-it\.$/)
    assert.match(texts[2]!, /^There is no agent agt_/)
  })

  it("takes messages of 8 KiB, not empty ones", async () => {
    const agentId = await worker()
    const other = await makeWorker(server.alpha)
    const ask = async (message: string) =>
      outcomes(
        await turnOf(server.alpha, agentId, found, "/then", call("agents.ask", { agentId: other, message }))
      )[1] as any
    assert.strictEqual((await ask("x".repeat(7_000))).text, `You said: ${"x".repeat(7_000)}`)
    assert.strictEqual(await ask(" \n"), "tool_input_invalid")
    assert.strictEqual(await ask(""), "tool_input_invalid")
  })

  it("stops the other's turn when its own is stopped", async () => {
    const { agentId, other, threadId } = await asking("/wait 60s")
    await eventually(async () => (await threadsOf(other)).length === 1, "the other is asked")
    await server.alpha.post(`/v1/threads/${threadId}/cancel`)
    const [theirs] = await threadsOf(other)
    assert.deepInclude((await logOf(server.alpha, theirs!, ended(1))).at(-1), {
      type: "turn_cancelled",
      principal: { type: "agent", id: agentId }
    })
    assert.deepStrictEqual(told(await logOf(server.alpha, threadId, ended(1))).slice(-2), [
      "tool_result: turn_interrupted",
      "turn_cancelled"
    ])
  })

  it("waits for whom the other's turn waits for: a person, whom the asking agent cannot stand in for", async () => {
    const guard = await addRole(server.alpha, { allow: [{ tools: "*", approval: "required" }] })
    const { log, other } = await asking(call("tool_search", { query: "thread" }) + "\n/say done", {
      families: ["thread"],
      roleIds: [guard]
    })
    await eventually(async () => (await threadsOf(other)).length === 1, "the other is asked")
    const [theirs = ""] = await threadsOf(other)
    const [wait] = await waitsOf(server.alpha, theirs)
    assert.deepInclude(wait, { type: "role_approval", toolName: "tool_search" })
    await resolveWait(server.alpha, theirs, wait!.id, { type: "decision", decision: "allow" })
    assert.deepInclude(outcomes(await log())[1], { text: "done" })
  })

  it("leads at most four agents far", async () => {
    // Each asks the next, in the words that it was given: the message holds the rest of the way.
    const chain: Array<string> = [await makeWorker(server.alpha, { families: ["agents"] })]
    for (let i = 0; i < 5; i++) chain.push(await makeWorker(server.alpha, { families: ["agents"] }))
    const from = (at: number): string =>
      at === chain.length - 1
        ? "/say the end"
        : [
            call("tool_search", { query: "agents" }),
            "/then",
            call("agents.ask", { agentId: chain[at + 1], message: from(at + 1) })
          ].join("\n")
    const log = await turnOf(server.alpha, chain[0]!, from(0))
    let text = JSON.stringify(outcomes(log)[1])
    for (const inner of chain.slice(1, 5)) {
      const [threadId = ""] = await threadsOf(inner)
      text = JSON.stringify(failureOf(await logOf(server.alpha, threadId, ended(1)))[1])
    }
    assert.match(text, /came through 4 other agents already/)
    assert.deepStrictEqual(await threadsOf(chain[5]!), [])
  })

  it("is nothing for reviewers", async () => {
    const other = await makeWorker(server.alpha)
    const reviewer = await makeWorker(server.alpha, { families: ["agents"] })
    const instructions = [
      call("tool_search", { query: "agents" }),
      "/then",
      call("agents.ask", { agentId: other, message: "/say yes" }),
      `/say {"decision":"allow"}`
    ].join("\n")
    const agentId = await worker({
      hooks: [
        { name: "review", point: "before_turn_start", processor: { type: "agent", agentId: reviewer, instructions } }
      ]
    })
    await turnOf(server.alpha, agentId, "hello")
    const [review = ""] = await threadsOf(reviewer)
    assert.deepStrictEqual(failureOf(await logOf(server.alpha, review, ended(1)))[1], [
      "tool_error",
      "A thread that reviews another agent's work asks no other agents."
    ])
    assert.deepStrictEqual(await threadsOf(other), [])
  })

  it("keeps the name under which it works: who is disabled meanwhile can ask nobody", async () => {
    const other = await makeWorker(server.alpha)
    const agentId = await worker()
    const hedy = await server.client(server.workspaces.alpha, { identity: "hedy" })
    const threadId = (
      await hedy.post("/v1/threads", {
        agentId,
        identity: "hedy-thread",
        message: {
          content: [
            { type: "text", text: [found, "/then", call("agents.ask", { agentId: other, message: "hi" })].join("\n") }
          ]
        }
      })
    ).body.thread.id
    await logOf(server.alpha, threadId, ended(1))
    const [theirs = ""] = await threadsOf(other)
    assert.strictEqual((await server.alpha.get(`/v1/threads/${theirs}`)).body.thread.identity, "hedy-thread")
    assert.deepInclude((await logOf(server.alpha, theirs, ended(1)))[0]!.principal, {
      type: "agent",
      id: agentId,
      identity: "hedy"
    })
  })
})

describe("after a crash", () => {
  it("a question is found where it has got to, and asked once", async () => {
    const { agentId, log, other } = await asking("/wait 3s\n/say late")
    await eventually(async () => (await threadsOf(other)).length === 1, "the other is asked")
    await loseLease(server)
    const claims = () =>
      server.runtime.runPromise(
        server.database.run("test.claims", (db) =>
          db
            .selectFrom("heads")
            .select("epoch")
            .where("parent", "in", [toUuid(agentId), toUuid(other)])
            .execute()
        )
      )
    await eventually(async () => (await claims()).every(({ epoch }) => epoch > 1), "both threads are taken over")
    const told = await log()
    assert.deepInclude(outcomes(told)[1], { text: "late" })
    const threads = await threadsOf(other)
    assert.lengthOf(threads, 1)
    assert.lengthOf(only(await logOf(server.alpha, threads[0]!, ended(1)), "user_message"), 1)
  }, 30_000)

  it("an answer that came meanwhile is found", async () => {
    const { log, other, threadId } = await asking("/wait 700ms\n/say meanwhile")
    await eventually(async () => (await threadsOf(other)).length === 1, "the other is asked")
    await loseLease(server)
    const [theirs = ""] = await threadsOf(other)
    await logOf(server.alpha, theirs, ended(1))
    assert.deepInclude(outcomes(await log())[1], { text: "meanwhile" })
    await leavesMemory(server, threadId)
  }, 30_000)
})
