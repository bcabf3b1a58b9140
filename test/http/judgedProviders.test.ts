/**
 * Judged turns of real models: whatever hooks, people, clients and the clock do to a turn, its history is one that
 * every provider takes. The local providers refuse a call without a result, a result without a call, a lost piece of
 * reasoning, and tools that they could not read.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { toProviderName } from "../../src/models/toolNames.ts"
import { allow, ask, deny, type HookServer, type Reply, rewrite, startHookServer } from "../hooks/hookServer.ts"
import { png } from "../images.ts"
import type { Answer, Behaviour } from "../models/servers/server.ts"
import { startWays, type Way, type Ways, ways } from "../models/servers/ways.ts"
import { startServer, type TestServer } from "../setup/server.ts"
import { type McpServer, startMcpServer, type TestTool, usualTools } from "../tools/mcpServer.ts"
import { ended, logOf, submit, text } from "./threadFixture.ts"
import {
  addRole,
  addToolset,
  assertSound,
  begin,
  eventually,
  fresh,
  Gate,
  leavesMemory,
  makeWorker,
  only,
  outcomes,
  resolveWait,
  told,
  waitsOf
} from "./toolFixture.ts"

/** A tool whose schema no provider would take as it is. */
const either: TestTool = {
  name: "either.or",
  description: "Takes one of two",
  inputSchema: {
    oneOf: [
      { properties: { a: { type: "string" } }, required: ["a"] },
      { properties: { b: { type: "string" } }, required: ["b"] }
    ]
  },
  run: () => "either"
}

/** What gives a picture. */
const picture: TestTool = {
  name: "picture",
  description: "Shows a picture",
  run: () => ({ content: [{ type: "image", data: png(2, 2).toString("base64"), mimeType: "image/png" }] })
}

/** A server and a model for each test of each way. */
const places = 25

let server: TestServer
let providers: Ways
let mcp: McpServer
let hooks: HookServer
let gate: Gate
/** Of the tools, as the toolset has them. */
let ns: string
let toolsetId: string
let desk: { readonly id: string; readonly namespace: string }
beforeAll(async () => {
  gate = new Gate()
  providers = await startWays(places, 30_000, ["png"])
  ;[server, hooks, mcp] = await Promise.all([
    startServer({ idleMs: 50, leaseTtlMs: 20_000, models: providers.settings }),
    startHookServer(),
    startMcpServer({
      tools: [...usualTools, either, picture, { name: "gate", run: (_, { signal }) => gate.pass(signal) }]
    })
  ])
  const made = await addToolset(server.alpha, { kind: "mcp", url: mcp.url })
  ns = made.namespace
  toolsetId = made.id
  desk = await addToolset(server.alpha, {
    kind: "client",
    tools: [{ name: "ask.me", inputSchema: { type: "object" } }]
  })
})
afterAll(async () => {
  await assertSound(server)
  await Promise.all([server.stop(), hooks.stop(), mcp.close(), providers.stop()])
})

const hook = (point: string, reply: Reply, more: object = {}) => ({
  name: fresh("hook"),
  point,
  processor: { type: "url", url: hooks.endpoint(reply).url },
  ...more
})
const toText = { match: { conditions: [{ path: "/content/0", op: "exists" }] } }
const echo = (words: string) => ({ name: toProviderName(`${ns}.echo`), input: { text: words } })
const says = (...words: ReadonlyArray<string>): Behaviour => ({ kind: "answer", answer: { text: words } })

/** What a test has of one way: responses with calls, and a thread whose model gives them. */
const stageOf = ({ signs, title }: Way) => {
  /** With reasoning where the provider wants it back. */
  const calls = (...made: NonNullable<Answer["calls"]>): Behaviour => ({
    kind: "answer",
    answer: { ...(signs ? { reasoning: "Let me see." } : {}), text: ["I look."], calls: made }
  })

  /** `spare`: the model that is asked where the way's own cannot be had. */
  const start = async (
    { spare, ...profile }: { readonly spare?: string; readonly [field: string]: unknown },
    ...responses: ReadonlyArray<Behaviour>
  ) => {
    const provider = providers.next(title)
    provider.enqueue(...responses)
    const agentId = await makeWorker(server.alpha, {
      models: [provider.modelId, ...(spare === undefined ? [] : [spare])],
      toolsetIds: [toolsetId, desk.id],
      ...profile
    })
    const threadId = await begin(server.alpha, agentId, "go")
    const log = (turns = 1) => logOf(server.alpha, threadId, ended(turns))
    /** The turn is over; what it leaves is a history that the next one can go on from, read from the journal. */
    const goesOn = async (turns = 1) => {
      await log(turns)
      await leavesMemory(server, threadId)
      await submit(server.alpha, threadId, "and now?")
      const whole = await log(turns + 1)
      assert.strictEqual(whole.at(-1)!.type, "turn_completed", JSON.stringify(whole.at(-1)))
      return whole
    }
    const sent = (index: number) => JSON.stringify(provider.requests.at(index))
    return { goesOn, log, provider, sent, threadId }
  }
  return { calls, start }
}

/** The same with every provider, all at once. */
const withEach = (work: (stage: ReturnType<typeof stageOf>) => Promise<void>) => async () => {
  await Promise.all(
    ways.map((way) =>
      work(stageOf(way)).catch((cause: unknown) => {
        throw new Error(`with a model of ${way.title}: ${cause instanceof Error ? cause.message : String(cause)}`, {
          cause
        })
      })
    )
  )
}

describe.concurrent("a judged turn of every provider's models", () => {
  it(
    "shows the tools by names and schemas that it takes, and only those that a call could reach",
    withEach(async ({ calls, start }) => {
      const roleIds = [
        await addRole(server.alpha, {
          allow: [{ tools: "*" }],
          deny: [{ tools: "*.put" }, { tools: "*.echo", conditions: [{ path: "/text", op: "eq", value: "no" }] }]
        })
      ]
      const { log, provider, sent } = await start(
        { roleIds },
        calls(
          { name: toProviderName(`${ns}.delete.all`), input: {} },
          { name: toProviderName(`${ns}.either.or`), input: { a: "x" } }
        ),
        says("done")
      )
      assert.deepStrictEqual(outcomes(await log()), ["deleted", "either"])
      assert.lengthOf(provider.requests, 2)
      const shown = sent(0)
      for (const name of ["echo", "delete.all", "either.or"])
        assert.include(shown, `"${toProviderName(`${ns}.${name}`)}"`)
      assert.include(shown, `"${toProviderName(`${desk.namespace}.ask.me`)}"`)
      assert.notInclude(shown, toProviderName(`${ns}.put`))
      assert.include(shown, "Gives back its text")
    })
  )

  it(
    "goes on after calls that hooks have denied",
    withEach(async ({ calls, start }) => {
      const reply: Reply = (response, received) =>
        (JSON.stringify(received.body.data).includes("bad") ? deny("no") : allow())(response, received)
      const { goesOn, sent } = await start(
        { hooks: [hook("before_tool_call", reply)] },
        calls(echo("good"), echo("bad")),
        says("done")
      )
      assert.deepStrictEqual(outcomes(await goesOn()), ["good", "hook_denied"])
      assert.include(sent(1), "hook_denied: no")
    })
  )

  it(
    "goes on after an ask that was allowed with another input, read from the journal",
    withEach(async ({ calls, start }) => {
      const { goesOn, sent, threadId } = await start(
        { hooks: [hook("before_tool_call", ask())] },
        calls(echo("raw")),
        says("done")
      )
      const [wait] = await waitsOf(server.alpha, threadId)
      await leavesMemory(server, threadId)
      await resolveWait(server.alpha, threadId, wait!.id, {
        type: "decision",
        decision: "allow",
        rewrite: { toolInput: { text: "better" } }
      })
      assert.deepStrictEqual(outcomes(await goesOn()), ["better"])
      // The call goes back as the model made it.
      assert.include(sent(1), "raw")
      assert.include(sent(1), "better")
    })
  )

  it(
    "goes on after asks that were denied, and that nobody answered",
    withEach(async ({ calls, start }) => {
      const expiring = hook("before_tool_call", ask(), {
        asyncTimeoutMs: 3_000,
        match: { conditions: [{ path: "/text", op: "eq", value: "late" }] }
      })
      const asking = hook("before_tool_call", ask(), {
        match: { conditions: [{ path: "/text", op: "eq", value: "never" }] }
      })
      const { goesOn, sent, threadId } = await start(
        { hooks: [expiring, asking] },
        calls(echo("late"), echo("never"), echo("now")),
        says("done")
      )
      const waits = await waitsOf(server.alpha, threadId, 2)
      const never = waits.find(({ toolInput }) => JSON.stringify(toolInput).includes("never"))
      await resolveWait(server.alpha, threadId, never!.id, { type: "decision", decision: "deny" })
      assert.deepStrictEqual(outcomes(await goesOn()), ["wait_expired", "hook_denied", "now"])
      for (const words of ["wait_expired", "hook_denied"]) assert.include(sent(1), words)
    })
  )

  it(
    "leaves a whole history when it is interrupted or cancelled while it awaits",
    withEach(async ({ calls, start }) => {
      for (const how of ["interrupt", "cancel"] as const) {
        const { goesOn, log, sent, threadId } = await start(
          { hooks: [hook("before_tool_call", ask())] },
          calls(echo("a"), echo("b")),
          ...(how === "interrupt" ? [says("stopped")] : [])
        )
        await waitsOf(server.alpha, threadId, 2)
        await leavesMemory(server, threadId)
        if (how === "interrupt") await submit(server.alpha, threadId, "stop", { mode: "interrupt" })
        else await server.alpha.post(`/v1/threads/${threadId}/cancel`)
        const turns = how === "interrupt" ? 2 : 1
        assert.deepStrictEqual(outcomes(await log(turns)), ["turn_interrupted", "turn_interrupted"])
        await goesOn(turns)
        assert.include(sent(1), "turn_interrupted")
      }
    })
  )

  it(
    "leaves a whole history when it is cancelled while tools run",
    withEach(async ({ calls, start }) => {
      const { goesOn, sent, threadId } = await start(
        {},
        calls({ name: toProviderName(`${ns}.gate`), input: {} }, echo("done before"))
      )
      await logOf(server.alpha, threadId, (log) => only(log, "tool_result").length === 1)
      await server.alpha.post(`/v1/threads/${threadId}/cancel`)
      assert.deepStrictEqual(outcomes(await goesOn()), ["turn_interrupted", "done before"])
      assert.include(sent(1), "turn_interrupted")
    })
  )

  it(
    "takes a client's result beside those of tools, and a steer behind them",
    withEach(async ({ calls, start }) => {
      const { goesOn, sent, threadId } = await start(
        {},
        calls({ name: toProviderName(`${desk.namespace}.ask.me`), input: {} }, echo("a")),
        says("done")
      )
      const [wait] = await waitsOf(server.alpha, threadId)
      await submit(server.alpha, threadId, "rather left", { mode: "steer" })
      await leavesMemory(server, threadId)
      await resolveWait(server.alpha, threadId, wait!.id, { type: "tool_result", output: { said: "by a client" } })
      assert.deepStrictEqual(outcomes(await goesOn()), [{ said: "by a client" }, "a"])
      assert.isBelow(sent(1).indexOf("by a client"), sent(1).indexOf("rather left"))
    })
  )

  it(
    "shows the model its response as it was rewritten, with the reasoning that belongs to it",
    withEach(async ({ calls, start }) => {
      const rewriting = hook("after_model_response", rewrite({ content: text("A milder word.") }), toText)
      const { goesOn, provider, sent } = await start(
        { hooks: [rewriting] },
        calls(echo("a")),
        says("Something ", "worse.")
      )
      const log = await goesOn()
      assert.deepStrictEqual(
        only(log, "assistant_message").map(({ content }) => content),
        Array.from({ length: 3 }, () => text("A milder word."))
      )
      assert.lengthOf(provider.requests, 3)
      for (const request of [1, 2]) {
        assert.include(sent(request), "A milder word.")
        for (const words of ["I look.", "worse."]) assert.notInclude(sent(request), words)
      }
    })
  )

  it(
    "is asked about its response, with calls behind it, and goes on from the journal",
    withEach(async ({ calls, start }) => {
      const { goesOn, threadId } = await start(
        {
          hooks: [
            hook("after_model_response", ask(), {
              match: { conditions: [{ path: "/content/0/text", op: "eq", value: "I look." }] }
            })
          ]
        },
        calls(echo("a")),
        says("done")
      )
      const [wait] = await waitsOf(server.alpha, threadId)
      await leavesMemory(server, threadId)
      await resolveWait(server.alpha, threadId, wait!.id, { type: "decision", decision: "allow" })
      assert.deepStrictEqual(outcomes(await goesOn()), ["a"])
    })
  )

  it(
    "that failed over a denied response or message is left out of its retry, or left whole",
    withEach(async ({ calls, start }) => {
      const reply: Reply = (response, received) =>
        (JSON.stringify(received.body.data).includes("worse") ? deny() : allow())(response, received)
      const { goesOn, log, sent, threadId } = await start(
        { hooks: [hook("after_model_response", reply, toText)] },
        calls(echo("first try")),
        says("worse"),
        calls(echo("second try")),
        says("fine")
      )
      assert.strictEqual((await log()).at(-1)!.failureCode, "hook_denied")
      await leavesMemory(server, threadId)
      assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/retry`)).status, 201)
      assert.strictEqual((await log(2)).at(-1)!.type, "turn_completed", JSON.stringify((await log(2)).at(-1)))
      await goesOn(2)
      assert.notInclude(sent(3), "first try")
      assert.notInclude(sent(-1), "worse")

      const whole = await start(
        { hooks: [hook("after_model_response", reply, toText)] },
        calls(echo("a")),
        says("worse")
      )
      assert.strictEqual((await whole.log()).at(-1)!.failureCode, "hook_denied")
      await whole.goesOn()
      assert.notInclude(whole.sent(-1), "worse")
    })
  )

  it(
    "shows the model results as they were rewritten, and not those that were denied",
    withEach(async ({ calls, start }) => {
      const reply: Reply = (response, received) =>
        (JSON.stringify(received.body.data).includes("one")
          ? rewrite({ toolOutput: { redacted: true } })
          : deny("not that"))(response, received)
      const { goesOn, sent } = await start(
        { hooks: [hook("after_tool_result", reply)] },
        calls(echo("secret one"), echo("secret two")),
        says("done")
      )
      assert.deepStrictEqual(outcomes(await goesOn()), [{ redacted: true }, "hook_denied"])
      assert.include(sent(1), "redacted")
      assert.include(sent(1), "hook_denied: not that")
    })
  )

  it(
    "keeps apart calls to which the provider has given one id, and says what is wrong with what is no JSON",
    withEach(async ({ calls, start }) => {
      const twice = { ...echo("one"), id: "call_same" }
      const { goesOn, log } = await start(
        {},
        calls(twice, { ...echo("two"), id: "call_same" }, { name: toProviderName(`${ns}.echo`), raw: '{"text": ' }),
        calls({ ...echo("three"), id: "call_same" }),
        says("done")
      )
      await goesOn()
      const first = await log()
      assert.deepStrictEqual(outcomes(first), ["one", "two", "tool_input_invalid", "three"])
      assert.lengthOf(new Set(only(first, "tool_intent").map(({ toolCallId }) => toolCallId)), 4)
    })
  )

  it(
    "goes on from a summary of its calls, and so does its retry",
    withEach(async ({ calls, start }) => {
      const { goesOn, log, provider, sent, threadId } = await start(
        { compaction: { keepTurns: 1 } },
        calls(echo("first words")),
        says("done")
      )
      await goesOn()
      assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/compact`)).status, 200)
      // Who makes a summary may say what it likes: calls are nobody's to make there.
      provider.enqueue(calls(echo("nobody's")), { kind: "status", status: 400 })
      await submit(server.alpha, threadId, "and then?")
      const failed = await log(3)
      assert.strictEqual(only(failed, "compacted")[0]?.failureCode, undefined, sent(-2))
      assert.strictEqual(failed.at(-1)?.failureCode, "model_error")
      assert.include(sent(-2), "first words")
      assert.include(sent(-1), "I look.")
      await leavesMemory(server, threadId)
      assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/retry`)).status, 201)
      const whole = await log(4)
      assert.strictEqual(whole.at(-1)?.type, "turn_completed", JSON.stringify(whole.at(-1)))
      assert.deepStrictEqual(outcomes(whole), ["first words"])
      assert.include(sent(-1), "I look.")
      assert.notInclude(sent(-1), "first words")
    })
  )

  it(
    "ends the summary that is being made when it is interrupted, and goes on",
    withEach(async ({ calls, start }) => {
      const { goesOn, log, provider, sent, threadId } = await start(
        { compaction: { keepTurns: 1 } },
        calls(echo("first words")),
        says("done")
      )
      await goesOn()
      assert.strictEqual((await server.alpha.post(`/v1/threads/${threadId}/compact`)).status, 200)
      // It lives, and does not answer before it is given up.
      provider.enqueue({ kind: "answer", answer: { text: ["late"] }, pings: { count: 600, pauseMs: 50 } })
      await submit(server.alpha, threadId, "and then?")
      await logOf(server.alpha, threadId, (events) => only(events, "compacting").length === 1)
      await submit(server.alpha, threadId, "stop", { mode: "interrupt" })
      assert.deepStrictEqual(
        only(await log(4), "compacted").map(({ failureCode }) => failureCode),
        ["turn_interrupted"]
      )
      assert.include(sent(-1), "first words")
      assert.strictEqual((await log(4)).at(-1)?.type, "turn_completed")
    })
  )

  it(
    "goes on from a summary of the calls that made it too long itself",
    withEach(async ({ calls, start }) => {
      const { goesOn, log, sent } = await start(
        {},
        ...Array.from({ length: 5 }, (_, i) => calls(echo(`words ${i}`))),
        { kind: "status", status: 413, message: "prompt is too long" },
        says("Words were echoed."),
        says("done")
      )
      const [over] = only(await log(), "compacted")
      assert.strictEqual(over?.failureCode, undefined, JSON.stringify(over))
      assert.include(sent(-2), "words 0")
      for (const words of ["Words were echoed.", "words 2", "go"]) assert.include(sent(-1), words)
      assert.notInclude(sent(-1), "words 0")
      await goesOn()
      assert.include(sent(-1), "Words were echoed.")
    })
  )

  it("goes on from images of messages and of results: at the next turn, at another provider, and from the journal", async () => {
    const titles = ways.map(({ title }) => title)
    await Promise.all(
      ways.map(async (way, i) => {
        const { calls, start } = stageOf(way)
        // Another way's model, which has no signature of this one's.
        const spare = providers.next(titles[(i + 1) % titles.length]!)
        const { goesOn, log, provider, sent, threadId } = await start({ spare: spare.modelId }, says("Hello."))
        await log()
        const { agentId } = (await server.alpha.get(`/v1/threads/${threadId}`)).body.thread
        const upload = { format: "png", data: png(3, 3).toString("base64") }
        const { image } = (await server.alpha.post(`/v1/agents/${agentId}/images`, upload)).body
        const content = [...text("Look."), { type: "image", imageId: image.id }]
        const look = () => server.alpha.post(`/v1/threads/${threadId}/messages`, { content })
        const shown = [upload.data, png(2, 2).toString("base64")]
        const seen = (request: string) => shown.map((data) => request.split(data).length - 1)

        provider.enqueue(calls({ name: toProviderName(`${ns}.picture`), input: {} }), says("A dot."))
        assert.strictEqual((await look()).status, 201)
        assert.strictEqual((await log(2)).at(-1)!.type, "turn_completed", JSON.stringify((await log(2)).at(-1)))
        assert.deepStrictEqual(
          [seen(sent(-2)), seen(sent(-1))],
          [
            [1, 0],
            [1, 1]
          ]
        )

        // Its own model cannot be had, so the other one is asked.
        provider.enqueue({ kind: "status", status: 401 })
        assert.strictEqual((await look()).status, 201)
        const over = await log(3)
        assert.strictEqual(over.at(-1)!.type, "turn_completed", JSON.stringify(over.at(-1)))
        assert.strictEqual(over.at(-2)!.modelId, spare.modelId)
        assert.deepStrictEqual(seen(JSON.stringify(spare.requests.at(-1))), [2, 1])

        await goesOn(3)
        assert.deepStrictEqual(seen(sent(-1)), [2, 1])
        assert.notInclude(sent(-1), image.id)
      })
    )
  })

  it(
    "reads a message as it was rewritten, and a denied one ends the turn before it is asked",
    withEach(async ({ start }) => {
      const reply: Reply = (response, received) =>
        (JSON.stringify(received.body.data).includes("now") ? deny() : rewrite({ content: text("say hello") }))(
          response,
          received
        )
      const { log, provider, sent, threadId } = await start(
        { hooks: [hook("before_turn_start", reply)] },
        says("hello")
      )
      await log()
      assert.include(sent(0), "say hello")
      await submit(server.alpha, threadId, "and now?")
      assert.deepStrictEqual(told(await log(2)).slice(-3), [
        "user_message",
        "hook_decision: deny",
        "turn_failed: hook_denied"
      ])
      assert.lengthOf(provider.requests, 1)
      await eventually(() => gate.inside === 0, "nothing runs any more")
    })
  )
})
