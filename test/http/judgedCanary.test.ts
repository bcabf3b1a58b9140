/**
 * What hooks take away is nowhere to be seen: a word that a model or a tool has said is in no delta, event, hint,
 * answer or log line once a hook has replaced or denied it. It stands in the private facts of the journal, and nowhere
 * else.
 */
import { randomBytes } from "node:crypto"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { Api } from "../../http/Api.ts"
import { deny, hang, ask, type Reply, rewrite, startHookServer } from "../hooks/hookServer.ts"
import { startWays } from "../models/servers/ways.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { startMcpServer } from "../tools/mcpServer.ts"
import { eventually } from "../waiting.ts"
import { Watcher } from "./sse.ts"
import { ended, type Event, logOf, submit, text } from "./threadFixture.ts"
import {
  addToolset,
  assertSound,
  call,
  factsOf,
  fresh,
  makeWorker,
  only,
  resolveWait,
  told,
  waitsOf
} from "./toolFixture.ts"

/** In two halves, each of which would be known again: it streams in pieces. */
const makeCanary = () => [randomBytes(8).toString("hex"), randomBytes(8).toString("hex")] as const
type Canary = ReturnType<typeof makeCanary>
const whole = (canary: Canary) => canary.join("")
const holds = (text: string, canary: Canary) => canary.some((half) => text.includes(half))

let logged = ""
/** With the scope read alone. */
/** What the tools say. */
let said: Canary
const providers = await during(startWays(12))
const server = await during(
  startServer({
    idleMs: 50,
    leaseTtlMs: 20_000,
    models: providers.settings,
    lines: {
      write: (line) => {
        logged += `${line}\n`
      },
      flush: () => {}
    }
  })
)
const hooks = await during(startHookServer())
const mcp = await during(
  startMcpServer({
    tools: [
      {
        name: "tell",
        run: () => ({ content: [{ type: "text", text: whole(said) }], structuredContent: { said: whole(said) } })
      },
      {
        name: "fail",
        run: () => ({ isError: true, content: [{ type: "text", text: `it went wrong: ${whole(said)}` }] })
      }
    ]
  })
)
const toolset = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
const desk = await addToolset(server.alpha, {
  kind: "client",
  tools: [{ name: "ask", inputSchema: { type: "object" } }]
})
const reader = await server.client(server.workspaces.alpha, { scopes: ["read"] })
const workspaceStream = await during(Watcher.open(server.base, "/v1/events/stream?deltas=text", server.alpha.token!))
afterAll(() => assertSound(server))

const { paths } = OpenApi.fromApi(Api)
/** Every path that can be read, filled with what belongs to the thread. */
const readable = (ids: Readonly<Record<string, string>>) =>
  Object.entries(paths).flatMap(([path, operations]) => {
    if (operations.get === undefined || path.endsWith("/stream")) return []
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
    return names.every((name) => ids[name] !== undefined)
      ? [names.reduce((path, name) => path.replace(`{${name}}`, ids[name]!), path)]
      : []
  })

const tables = async () => {
  const { rows } = await server.runtime.runPromise(
    server.database.run("test.tables", async (db) => ({
      rows: await db.introspection.getTables()
    }))
  )
  return rows.map(({ name }) => name)
}

interface Played {
  readonly canary: Canary
  readonly threadId: string
  readonly agentId: string
  readonly streams: ReadonlyArray<Watcher>
  readonly log: (turns?: number) => Promise<ReadonlyArray<Event>>
}

/** A thread under the eyes of all three streams. */
const play = async (profile: object, words: string): Promise<Played> => {
  const canary = makeCanary()
  said = canary
  const agentId = await makeWorker(server.alpha, profile)
  const threadId = (await server.alpha.post("/v1/threads", { agentId })).body.thread.id
  const open = (path: string) => Watcher.open(server.base, path, reader.token!)
  const streams = [
    await open(`/v1/threads/${threadId}/events/stream?deltas=text&types=event,delta,discard,status,queue,wait,step`),
    await open(`/v1/agents/${agentId}/events/stream?deltas=text`),
    workspaceStream
  ]
  await Promise.all(
    streams.map((stream) => stream.until(({ frames }) => frames.some(({ event }) => event === "ready")))
  )
  await submit(server.alpha, threadId, words)
  return { canary, threadId, agentId, streams, log: (turns = 1) => logOf(server.alpha, threadId, ended(turns)) }
}

/** A thread on its chart, now and after each of its steps, and these in pages. */
const inspect = async (threadId: string) => {
  const answers: Array<{ readonly path: string; readonly text: string }> = []
  const read = async (query: string) => {
    const path = `/v1/actors/${threadId}/${query}`
    const answer = await reader.get(path)
    assert.strictEqual(answer.status, 200, answer.text)
    answers.push({ path, text: answer.text })
    return answer.body
  }
  const positions: Array<number> = []
  for (let query = "steps?limit=2"; ; ) {
    const { nextCursor, steps } = await read(query)
    for (const { pos } of steps) positions.push(pos)
    if (nextCursor === undefined) break
    query = `steps?limit=2&cursor=${nextCursor}`
  }
  for (const pos of positions) await read(`chart?pos=${pos}`)
  await read("chart")
  return { answers, steps: positions.length }
}

/** The word is in private facts of these kinds, and nowhere else. */
const assertHidden = async (
  { agentId, canary, log, streams, threadId }: Played,
  privately: ReadonlyArray<string>,
  turns = 1
) => {
  const events = await log(turns)
  const last = events.at(-1)!
  await Promise.all(
    streams.map((stream) =>
      stream.until(({ frames }) =>
        frames.some(({ data, event }) => event === "event" && data.turnId === last.turnId && data.type === last.type)
      )
    )
  )
  const inspected = await inspect(threadId)
  await streams[0]!.until((stream) => stream.events("step").length === inspected.steps)
  streams[0]!.close()
  streams[1]!.close()
  const [turn] = events
  const wait = only(events, "wait_created")[0]
  const { profileId } = (await server.alpha.get(`/v1/agents/${agentId}`)).body.agent
  const asked = readable({
    agentId,
    threadId,
    profileId,
    inputId: String(turn!.inputId),
    turnId: turn!.turnId,
    toolsetId: toolset.id,
    version: "1",
    ...(wait !== undefined && { waitId: String(wait.waitId) })
  })
  assert.includeMembers(asked, [
    `/v1/threads/${threadId}/events`,
    `/v1/threads/${threadId}`,
    "/v1/threads",
    "/v1/hooks/decisions"
  ])
  const answers = await Promise.all(asked.map(async (path) => ({ path, text: (await server.alpha.get(path)).text })))
  const metrics = await server.anonymous.get("/metrics")
  for (const { path, text } of [...answers, ...inspected.answers, { path: "/metrics", text: metrics.text }])
    assert.isFalse(holds(text, canary), `${path}: ${text}`)
  for (const [i, stream] of streams.entries()) assert.isFalse(holds(stream.text, canary), `stream ${i}`)
  assert.isFalse(holds(logged, canary), "log lines")
  // What is looked through is what there was.
  assert.include(answers.find(({ path }) => path.endsWith("/events"))?.text, last.eventId)
  assert.include(logged, "/v1/threads/:id/events")

  const facts = await factsOf(server, threadId)
  for (const fact of facts) assert.isFalse(holds(fact.event, canary), fact.type)
  assert.deepStrictEqual(
    facts.filter(({ detail }) => holds(detail ?? "", canary)).map(({ type }) => type),
    [...privately]
  )
  for (const table of await tables()) {
    const rows = await server.runtime.runPromise(
      server.database.read<{ readonly row: string }>({
        name: `dump_${table}`,
        text: `select t::text as row from "${table}" t`,
        values: []
      })
    )
    if (table !== "facts") for (const { row } of rows) assert.isFalse(holds(row, canary), `${table}: ${row}`)
  }
}

const hook = (point: string, reply: Reply, more: object = {}) => ({
  name: fresh("hook"),
  point,
  processor: { type: "url", url: hooks.endpoint(reply).url },
  ...more
})
const toText = { match: { conditions: [{ path: "/content/0", op: "exists" }] } }

describe("what a model said", () => {
  /** A turn whose response holds the word, in pieces; its reasoning holds it as well. */
  const turn = async (hookMade: object) => {
    const provider = providers.next("anthropic")
    const canary = makeCanary()
    provider.enqueue({
      kind: "answer",
      answer: { reasoning: `I think of ${whole(canary)}.`, text: ["It is ", canary[0], canary[1], "."] }
    })
    const played = { ...(await play({ models: [provider.modelId], hooks: [hookMade] }, "tell me")), canary }
    return { provider, played }
  }

  it("and a hook has rewritten is shown to nobody, nor to the model again", async () => {
    const { played, provider } = await turn(
      hook("after_model_response", rewrite({ content: text("It is nothing.") }), toText)
    )
    const log = await played.log()
    assert.deepStrictEqual(told(log), ["user_message", "hook_decision: allow", "assistant_message", "turn_completed"])
    for (const stream of played.streams)
      assert.deepStrictEqual(
        stream.events("delta").filter(({ data }) => data.turnId === log[0]!.turnId),
        []
      )
    await submit(server.alpha, played.threadId, "and again?")
    await played.log(2)
    // The reasoning belongs to the provider, and goes back to it with the response as it is now.
    await assertHidden(played, ["response_received", "assistant_message"], 2)
    assert.notInclude(JSON.stringify(provider.requests[1]), `It is ${whole(played.canary)}`)
    assert.include(JSON.stringify(provider.requests[1]), "It is nothing.")
  })

  it("and a hook has denied is shown to nobody", async () => {
    const { played, provider } = await turn(hook("after_model_response", deny("not that"), toText))
    assert.deepStrictEqual(told(await played.log()), [
      "user_message",
      "hook_decision: deny",
      "turn_failed: hook_denied"
    ])
    await submit(server.alpha, played.threadId, "and again?")
    await played.log(2)
    await assertHidden(played, ["response_received"], 2)
    assert.isFalse(holds(JSON.stringify(provider.requests[1]), played.canary))
  })

  it("and nobody has judged before the turn was cancelled is shown to nobody", async () => {
    const { played } = await turn(hook("after_model_response", hang(), toText))
    await eventually(() => hooks.received.some(({ text }) => holds(text, played.canary)), "the hook is asked")
    await server.alpha.post(`/v1/threads/${played.threadId}/cancel`)
    assert.deepStrictEqual(told(await played.log()), ["user_message", "turn_cancelled"])
    await assertHidden(played, ["response_received"])
  })

  it("and a person is asked about is shown to those who may decide, for as long as they are asked", async () => {
    for (const answer of [{ decision: "deny" }, { decision: "allow", rewrite: { content: text("It is nothing.") } }]) {
      const { played } = await turn(hook("after_model_response", ask(), toText))
      const [wait] = await waitsOf(server.alpha, played.threadId)
      const path = `/v1/threads/${played.threadId}/waits/${wait!.id}`
      const reader = await server.client(server.workspaces.alpha, { scopes: ["read", "run"] })
      assert.isTrue(holds((await server.alpha.get(path)).text, played.canary))
      for (const shown of [
        await reader.get(path),
        await reader.get(`/v1/threads/${played.threadId}`),
        await server.alpha.get("/v1/threads?state=waiting")
      ]) {
        assert.strictEqual(shown.status, 200, shown.text)
        assert.isFalse(holds(shown.text, played.canary), shown.text)
      }
      await resolveWait(server.alpha, played.threadId, wait!.id, { type: "decision", ...answer })
      await assertHidden(
        played,
        answer.decision === "deny" ? ["response_received"] : ["response_received", "assistant_message"]
      )
    }
  })

  it("in a turn whose hooks do not match is not streamed before that is known", async () => {
    const { played } = await turn(
      hook("after_model_response", deny(), {
        match: { conditions: [{ path: "/content/0/text", op: "eq", value: "nothing" }] }
      })
    )
    const log = await played.log()
    assert.deepStrictEqual(told(log), ["user_message", "assistant_message", "turn_completed"])
    await played.streams[0]!.until(({ frames }) => frames.some(({ data }) => data.type === "turn_completed"))
    assert.deepStrictEqual(played.streams[0]!.events("delta"), [])
    for (const stream of played.streams.slice(0, 2)) stream.close()
  })
})

describe("what a tool said", () => {
  const redacted = { toolOutput: { redacted: true } }
  const turn = (reply: Reply, ...lines: ReadonlyArray<string>) =>
    play({ toolsetIds: [toolset.id, desk.id], hooks: [hook("after_tool_result", reply)] }, lines.join("\n"))

  it("and a hook has rewritten is shown to nobody, nor to the model", async () => {
    const played = await turn(rewrite(redacted), call(`${toolset.namespace}.tell`))
    assert.deepStrictEqual((await played.log()).at(-2)!.content, text(`Done: [{"redacted":true}]`))
    await assertHidden(played, ["result_received"])
  })

  it("and a hook has denied is shown to nobody", async () => {
    const played = await turn(deny(), call(`${toolset.namespace}.tell`))
    await assertHidden(played, ["result_received"])
  })

  it("of its failure is judged like an output", async () => {
    for (const reply of [rewrite(redacted), deny()]) {
      const played = await turn(reply, call(`${toolset.namespace}.fail`))
      await assertHidden(played, ["result_received"])
    }
  })

  it("by the hand of a client is judged as well", async () => {
    for (const [reply, answer] of [
      [rewrite(redacted), (word: string) => ({ output: { said: word } })],
      [deny(), (word: string) => ({ output: word })],
      [rewrite(redacted), (word: string) => ({ error: { code: "no", message: word } })]
    ] as const) {
      const played = await turn(reply, call(`${desk.namespace}.ask`))
      const [wait] = await waitsOf(server.alpha, played.threadId)
      await resolveWait(server.alpha, played.threadId, wait!.id, {
        type: "tool_result",
        ...answer(whole(played.canary))
      })
      await assertHidden(played, ["result_received"])
    }
  })
})
