/**
 * Whole turns of real models: HTTP in, a journal in PostgreSQL, and a local server that speaks the provider's protocol.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Behaviour, ProviderServer } from "../models/servers/server.ts"
import { startWays, ways } from "../models/servers/ways.ts"
import { during } from "../setup/during.ts"
import { startServer } from "../setup/server.ts"
import { eventually } from "../waiting.ts"
import { Watcher } from "./sse.ts"
import { ended, type Event, logOf, makeAgent, makeThread, submit } from "./threadFixture.ts"
import { factsOf, leavesMemory } from "./toolFixture.ts"

/** A server and a model for each test of each way: tests run at the same time. */
const places = 11

const providers = await during(startWays(places))
const server = await during(startServer({ idleMs: 50, models: providers.settings }))

const answer = (...text: ReadonlyArray<string>): Behaviour => ({ kind: "answer", answer: { text } })
const types = (log: ReadonlyArray<Event>) => log.map(({ type }) => type)
const watch = (threadId: string) =>
  Watcher.open(server.base, `/v1/threads/${threadId}/events/stream?deltas=text`, server.alpha.token!)

const asked = (provider: ProviderServer, times: number) =>
  eventually(() => provider.requests.length >= times, `it is asked ${times} times`)

describe.concurrent.each(ways)("a thread with a model of $title", ({ signs, title }) => {
  /** A thread of an agent whose models these are, in this order. */
  const beginWith = async (...models: ReadonlyArray<string>) =>
    makeThread(server.alpha, await makeAgent(server.alpha, models))
  /** A thread with a model of the way that no other has. */
  const begin = async () => {
    const provider = providers.next(title)
    return { threadId: await beginWith(provider.modelId), provider }
  }

  it("streams a turn, and remembers it in the next", async () => {
    const { provider, threadId } = await begin()
    provider.enqueue(answer("Hel", "lo ", "there"), answer("again"))
    const watcher = await watch(threadId)
    await submit(server.alpha, threadId, "first question")
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(types(log), ["user_message", "assistant_message", "turn_completed"])
    assert.deepStrictEqual(log[1]!.content, [{ type: "text", text: "Hello there" }])
    await watcher.until(({ frames }) =>
      frames.some(({ data, event }) => event === "event" && data.type === "turn_completed")
    )
    const deltas = watcher.events("delta").map(({ data }) => data)
    assert.deepStrictEqual(
      deltas.map(({ index, text }) => [index, text]),
      [
        [0, "Hel"],
        [1, "lo "],
        [2, "there"]
      ]
    )
    for (const { eventId } of deltas) assert.strictEqual(eventId, log[1]!.eventId)
    watcher.close()

    await submit(server.alpha, threadId, "second question")
    await logOf(server.alpha, threadId, ended(2))
    const sent = JSON.stringify(provider.requests[1])
    for (const words of ["first question", "Hello there", "second question"]) assert.include(sent, words)
  })

  it("goes on after calls of tools that do not exist, from memory and from the journal", async () => {
    const { provider, threadId } = await begin()
    provider.enqueue(
      {
        kind: "answer",
        answer: {
          ...(signs ? { reasoning: "Let me see." } : {}),
          text: ["I look."],
          calls: [
            { name: "search", input: { q: "a" } },
            { name: "read", input: {} }
          ]
        }
      },
      {
        kind: "answer",
        answer: { ...(signs ? { reasoning: "Once more." } : {}), calls: [{ name: "search", input: { q: "b" } }] }
      },
      answer("Nothing found.")
    )
    await submit(server.alpha, threadId, "look")
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(
      types(log),
      [
        "user_message",
        "assistant_message",
        "tool_intent",
        "tool_intent",
        "tool_result",
        "tool_result",
        "tool_intent",
        "tool_result",
        "assistant_message",
        "turn_completed"
      ],
      JSON.stringify(log.at(-1))
    )
    for (const result of log.filter(({ type }) => type === "tool_result"))
      assert.strictEqual(result.failureCode, "tool_not_found")
    assert.lengthOf(provider.requests, 3)

    await leavesMemory(server, threadId)
    await submit(server.alpha, threadId, "and now?")
    const more = await logOf(server.alpha, threadId, ended(2))
    // The provider refuses a history without its reasoning.
    assert.strictEqual(more.at(-1)!.type, "turn_completed", JSON.stringify(more.at(-1)))
    const sent = JSON.stringify(provider.requests[3])
    for (const words of ["I look.", "tool_not_found", "Nothing found."]) assert.include(sent, words)
  })

  it("waits as long as the provider asks, in a pause that only the journal sees", async () => {
    const { provider, threadId } = await begin()
    provider.enqueue({ kind: "status", status: 429, headers: { "retry-after": "1" } }, answer("now"))
    await submit(server.alpha, threadId, "hi")
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(types(log), ["user_message", "assistant_message", "turn_completed"])
    const journal = await factsOf(server, threadId)
    assert.deepStrictEqual(
      journal.map(({ type }) => type),
      ["user_message", "attempt_failed", "attempt_started", "assistant_message", "turn_completed"]
    )
    assert.isAtLeast(journal[2]!.at - journal[1]!.at, 1000)
    assert.lengthOf(provider.requests, 2)
  })

  it("falls back to the next selector when a provider fails every time", async () => {
    const [provider, spare] = [providers.next(title), providers.next(title)]
    const threadId = await beginWith(provider.modelId, spare.modelId)
    provider.enqueue(...[1, 2, 3].map((): Behaviour => ({ kind: "status", status: 500 })))
    await submit(server.alpha, threadId, "hi")
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(types(log), ["user_message", "assistant_message", "turn_completed"])
    assert.strictEqual(log[1]!.modelId, spare.modelId)
    assert.lengthOf(provider.requests, 3)
    assert.lengthOf(spare.requests, 1)
  })

  it("fails as overloaded when the provider hangs", async () => {
    const { provider, threadId } = await begin()
    provider.enqueue(...[1, 2, 3].map((): Behaviour => ({ kind: "hang" })))
    await submit(server.alpha, threadId, "hi")
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(types(log), ["user_message", "turn_failed"])
    assert.strictEqual(log[1]!.failureCode, "model_overloaded")
    assert.lengthOf(provider.requests, 3)
  })

  it("takes back what it showed when the stream breaks, and is tried again", async () => {
    const { provider, threadId } = await begin()
    provider.enqueue({ kind: "cut", text: ["Hel"] }, answer("Hello."))
    const watcher = await watch(threadId)
    await submit(server.alpha, threadId, "hi")
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(types(log), ["user_message", "assistant_message", "turn_completed"])
    await watcher.until(({ frames }) =>
      frames.some(({ data, event }) => event === "event" && data.type === "turn_completed")
    )
    const streamed = watcher.frames.filter(({ event }) => event === "delta" || event === "discard")
    const at = streamed.findIndex(({ event }) => event === "discard")
    const eventId = log[1]!.eventId
    assert.deepStrictEqual(new Set(streamed.map(({ data }) => data.eventId)), new Set([eventId]))
    const text = (frames: typeof streamed) => frames.map(({ data }) => data.text).join("")
    assert.deepStrictEqual([text(streamed.slice(0, at)), text(streamed.slice(at + 1))], ["Hel", "Hello."])
    assert.strictEqual(streamed[at + 1]?.data.index, 0)
    assert.lengthOf(provider.requests, 2)
    const [, failed] = await factsOf(server, threadId)
    assert.include(failed?.detail, "the answer broke off after 3 characters: the connection was lost")
    watcher.close()
  })

  it("says that an answer was cut, on the message and on the thread, also from the journal", async () => {
    const { provider, threadId } = await begin()
    provider.enqueue(
      { kind: "answer", answer: { text: ["Once upon a ti"], end: "length" } },
      { kind: "answer", answer: { text: ["I will n"], end: "refused" } },
      answer("Whole.")
    )
    const lastTurn = async () => (await server.alpha.get(`/v1/threads/${threadId}`)).body.lastTurn
    for (const [turns, finishReason] of [
      [1, "length"],
      [2, "content_filter"]
    ] as const) {
      await submit(server.alpha, threadId, "tell")
      const { turnId, ...message } = (await logOf(server.alpha, threadId, ended(turns))).at(-2)!
      assert.deepInclude(message, { type: "assistant_message", finishReason })
      assert.deepStrictEqual(await lastTurn(), { turnId, finishReason })
    }
    await leavesMemory(server, threadId)
    assert.strictEqual((await lastTurn()).finishReason, "content_filter")
    await submit(server.alpha, threadId, "tell")
    assert.notProperty((await logOf(server.alpha, threadId, ended(3))).at(-2), "finishReason")
    assert.isUndefined(await lastTurn())
  })

  it("completes a turn whose tools have worked without a message where the model has nothing to add, and asks once more elsewhere", async () => {
    const { provider, threadId } = await begin()
    const usage = { input: 20, output: 3 }
    const nothing: Behaviour = { kind: "answer", answer: { usage } }
    provider.enqueue({ kind: "answer", answer: { calls: [{ name: "search", input: {} }], usage } }, nothing)
    await submit(server.alpha, threadId, "work")
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(types(log), ["user_message", "tool_intent", "tool_result", "turn_completed"])
    assert.deepInclude(log.at(-1)!.usage, { inputTokens: 40, outputTokens: 6 })

    provider.enqueue(nothing, nothing)
    await submit(server.alpha, threadId, "say something")
    const failed = (await logOf(server.alpha, threadId, ended(2))).at(-1)!
    assert.deepInclude(failed, {
      type: "turn_failed",
      failureCode: "model_error",
      failureText: "The model answered with neither text nor calls."
    })
    assert.deepInclude(failed.usage, { inputTokens: 40, outputTokens: 6 })
    assert.deepInclude((await server.alpha.get(`/v1/threads/${threadId}`)).body.usage, {
      inputTokens: 80,
      outputTokens: 12
    })
    assert.lengthOf(provider.requests, 4)
  })

  it("gives a steer that comes during a response to the next one", async () => {
    const { provider, threadId } = await begin()
    provider.enqueue(
      { kind: "answer", answer: { text: ["First."] }, pings: { count: 10, pauseMs: 50 } },
      answer("Second.")
    )
    await submit(server.alpha, threadId, "go")
    await asked(provider, 1)
    const steer = await submit(server.alpha, threadId, "rather left", { mode: "steer" })
    assert.strictEqual(steer.state, "steered")
    const log = await logOf(server.alpha, threadId, ended(1))
    assert.deepStrictEqual(types(log), [
      "user_message",
      "assistant_message",
      "user_message",
      "assistant_message",
      "turn_completed"
    ])
    assert.include(JSON.stringify(provider.requests[1]), "rather left")
  })

  it("aborts the request when it is interrupted", async () => {
    const { provider, threadId } = await begin()
    provider.enqueue({ kind: "silent", text: ["Hel"] }, answer("Here."))
    const watcher = await watch(threadId)
    await submit(server.alpha, threadId, "go")
    await watcher.until(({ frames }) => frames.some(({ event }) => event === "delta"))
    await submit(server.alpha, threadId, "stop that", { mode: "interrupt" })
    await provider.abandoned
    const log = await logOf(server.alpha, threadId, ended(2))
    assert.deepStrictEqual(types(log), [
      "user_message",
      "turn_cancelled",
      "user_message",
      "assistant_message",
      "turn_completed"
    ])
    assert.lengthOf(provider.requests, 2)
    await watcher.until(({ frames }) => frames.some(({ event }) => event === "discard"))
    watcher.close()
  })
})
