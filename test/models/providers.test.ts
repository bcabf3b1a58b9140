import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { ModelSettings } from "../../src/domain/modelSettings.ts"
import { layer } from "../../src/models/layer.ts"
import { Models, type ModelReply, type Prompt, type PromptMessage } from "../../src/models/Model.ts"
import { toProviderName } from "../../src/models/toolNames.ts"
import { gif, png } from "../images.ts"
import { called, failed, promptOf, result, sampled, turnId, user } from "./prompts.ts"
import { anthropicMessages } from "./servers/anthropicMessages.ts"
import { chatCompletions } from "./servers/chatCompletions.ts"
import { googleGenerate } from "./servers/googleGenerate.ts"
import { openaiResponses } from "./servers/openaiResponses.ts"
import { type Behaviour, type Protocol, type ProviderServer, startServer } from "./servers/server.ts"

interface Way {
  readonly title: string
  readonly protocol: Protocol
  readonly base: string
  readonly model: Readonly<Record<string, unknown>> & { readonly id: string }
  /** Reasoning that the provider wants back. */
  readonly signs: boolean
  /** Whether a call's input can be broken JSON on this wire. */
  readonly rawInput: boolean
  /** How at most 4,321 tokens, a temperature of 1.5 and little reasoning look in its requests. */
  readonly settings: Readonly<Record<string, unknown>>
  /** What it does not know of them: no property of its requests has that name. */
  readonly unknown: ReadonlyArray<string>
}

const ways: ReadonlyArray<Way> = [
  {
    title: "openai",
    protocol: openaiResponses,
    base: "/v1",
    model: { id: "openai/gpt-5" },
    signs: true,
    rawInput: true,
    settings: { max_output_tokens: 4_321, reasoning: { effort: "low" } },
    unknown: ["temperature"]
  },
  {
    title: "openai chat",
    protocol: chatCompletions,
    base: "/v1",
    model: { id: "openai/gpt-4o", api: "chat" },
    signs: false,
    rawInput: true,
    settings: { max_tokens: 4_321, temperature: 1.5 },
    unknown: ["reasoning_effort"]
  },
  {
    title: "anthropic",
    protocol: anthropicMessages,
    base: "/v1",
    model: { id: "anthropic/claude-sonnet-4-5" },
    signs: true,
    rawInput: true,
    settings: { max_tokens: 4_321, thinking: { type: "enabled", budget_tokens: 2_160 } },
    unknown: ["temperature"]
  },
  {
    title: "google",
    protocol: googleGenerate,
    base: "/v1beta",
    model: { id: "google/gemini-3-pro-preview" },
    signs: true,
    rawInput: false,
    settings: {
      generationConfig: { maxOutputTokens: 4_321, temperature: 1.5, thinkingConfig: { thinkingLevel: "low" } }
    },
    unknown: []
  },
  {
    title: "openai-compatible",
    protocol: chatCompletions,
    base: "/v1",
    model: { id: "local/llama", provider: "openai-compatible" },
    signs: true,
    rawInput: true,
    settings: { max_tokens: 4_321, temperature: 1.5 },
    unknown: ["reasoning_effort"]
  }
]

/** A loaded machine may take a while to begin an answer. */
const idleMs = 1_000

const pricing = { input: 1, output: 10, cacheRead: 0.1 }

/** A server that behaves as told, and `Models` that know it. */
const withProvider = <A, E>(
  way: Way,
  behaviours: ReadonlyArray<Behaviour>,
  use: (server: ProviderServer) => Effect.Effect<A, E, Models>,
  key = "test-key"
) =>
  Effect.acquireUseRelease(
    Effect.promise(() => startServer(way.protocol)),
    (server) => {
      server.enqueue(...behaviours)
      const model = { ...way.model, baseUrl: server.url + way.base, apiKeyEnv: "SOME_KEY", pricing }
      return use(server).pipe(
        Effect.provide(layer({ env: { SOME_KEY: key }, modelsFile: { models: [model] }, idleTimeoutMs: idleMs }))
      )
    },
    (server) => Effect.promise(() => server.stop())
  )

/** What a provider reads as words: texts that stand under `text`, `content` or `output`. */
const textsOf = (value: unknown, under = ""): ReadonlyArray<string> => {
  if (typeof value === "string") return ["text", "content", "output"].includes(under) ? [value] : []
  if (Array.isArray(value)) return value.flatMap((item) => textsOf(item, under))
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => textsOf(inner, name))
    : []
}

const readName = "mcp:files/read file"

const tools = [
  {
    name: "search",
    description: "Finds things",
    inputSchema: { type: "object", properties: { q: { type: "string" } } }
  },
  { name: readName, inputSchema: { type: "object" } }
]

const assistant = (modelId: string, { text, calls, parts }: ModelReply, ids: ReadonlyArray<string>): PromptMessage => ({
  role: "assistant",
  turnId,
  modelId,
  text,
  calls: calls.map(({ providerToolCallId, name, input }, index) => ({
    toolCallId: ids[index] ?? "",
    providerToolCallId,
    name,
    input
  })),
  // As it comes back out of the log.
  ...(parts === undefined ? {} : { parts: JSON.parse(JSON.stringify(parts)) })
})

const resultOf = (
  reply: ModelReply,
  index: number,
  toolCallId: string,
  outcome: Partial<PromptMessage & { role: "tool" }>
): PromptMessage => ({
  role: "tool",
  turnId,
  toolCallId,
  providerToolCallId: reply.calls[index]?.providerToolCallId ?? "",
  name: reply.calls[index]?.name ?? "",
  output: undefined,
  ...outcome
})

const twoCalls = (way: Way): Behaviour => ({
  kind: "answer",
  answer: {
    ...(way.signs ? { reasoning: "Let me see." } : {}),
    text: ["I look."],
    calls: [
      { name: "search", input: { q: "a" } },
      { name: toProviderName(readName), input: {} }
    ]
  }
})

describe.each(ways)("a model of $title", (way) => {
  const { id } = way.model
  const hi: Prompt = promptOf([user("hi")], { system: "Be brief." })

  it.live("is shown the images of messages and of results as images, and never their base64 as text", () =>
    withProvider(
      { ...way, model: { ...way.model, inputFormats: ["png", "jpeg"] } },
      [{ kind: "answer", answer: { text: ["A dot."] } }],
      (server) =>
        Effect.gen(function* () {
          const [shown, returned, hidden] = [png(3, 1), png(4, 1), gif()]
          const look: PromptMessage = {
            role: "user",
            turnId,
            content: [
              { type: "text", text: "Look." },
              { type: "image", imageId: "img_1" }
            ]
          }
          const images = [
            { format: "png" as const, data: returned.toString("base64") },
            { format: "gif" as const, data: hidden.toString("base64") }
          ]
          const prompt = promptOf(
            [
              look,
              called(["call_1", "search"]),
              { ...result("call_1", "search", "[image, image/png]"), images } as PromptMessage,
              user("And now?")
            ],
            { tools, images: new Map([["img_1", { format: "png", bytes: shown }]]) }
          )
          expect((yield* sampled(id, prompt)).text).toBe("A dot.")
          const sent = JSON.stringify(server.requests)
          expect(sent).toContain(shown.toString("base64"))
          expect(sent).toContain(returned.toString("base64"))
          expect(sent).not.toContain(hidden.toString("base64"))
          expect(textsOf(server.requests).join(" ")).not.toContain(returned.toString("base64"))
        })
    )
  )

  it.live("is not asked about an image of another format", () =>
    withProvider({ ...way, model: { ...way.model, inputFormats: ["png", "jpeg"] } }, [], (server) =>
      Effect.gen(function* () {
        const look: PromptMessage = { role: "user", turnId, content: [{ type: "image", imageId: "img_1" }] }
        const images = new Map([["img_1", { format: "gif" as const, bytes: gif() }]])
        expect(yield* failed(id, promptOf([look], { images }))).toMatchObject({
          code: "model_image_format_unsupported",
          details: { targetId: id, formats: ["gif"] },
          unavailable: true
        })
        expect(server.requests).toEqual([])
      })
    )
  )

  it.live("streams text, and reports usage with its cost", () =>
    withProvider(
      way,
      [
        {
          kind: "answer",
          answer: { text: ["Hel", "lo", "!"], usage: { input: 1000, cached: 400, output: 50, reasoning: 10 } }
        }
      ],
      () =>
        Effect.gen(function* () {
          const reply = yield* sampled(id, hi)
          expect(reply.text).toBe("Hello!")
          expect(reply.deltas).toEqual(["Hel", "lo", "!"])
          expect(reply.calls).toEqual([])
          expect(reply.usage).toMatchObject({
            inputTokens: 1000,
            outputTokens: 50,
            totalTokens: 1050,
            cacheReadTokens: 400
          })
          // Anthropic counts its thinking as output and does not say how much of it.
          if (way.title !== "anthropic") expect(reply.usage.reasoningTokens).toBe(10)
          expect(reply.usage.estimatedCost).toBeCloseTo((600 * 1 + 400 * 0.1 + 50 * 10) / 1e6, 12)
          expect(reply.durationMs).toBeGreaterThanOrEqual(reply.firstTextMs ?? Infinity)
        })
    )
  )

  it.live.each<[string, Behaviour, string | undefined]>([
    ["is whole", { kind: "answer", answer: { text: ["One", " two"] } }, undefined],
    ["reached a limit of tokens", { kind: "answer", answer: { text: ["One", " two"], end: "length" } }, "length"],
    ["was stopped by a filter", { kind: "answer", answer: { text: ["One", " two"], end: "refused" } }, "content_filter"]
  ])("says whether an answer %s", ([, behaviour, finishReason]) =>
    withProvider(way, [behaviour], () =>
      Effect.gen(function* () {
        const reply = yield* sampled(id, hi)
        expect([reply.text, reply.finishReason]).toEqual(["One two", finishReason])
      })
    )
  )

  it.live.each<[string, Behaviour, string | undefined]>([
    ["nothing at all", { kind: "answer", answer: { usage: { input: 20, output: 3 } } }, undefined],
    ["blanks", { kind: "answer", answer: { text: [" \n"], usage: { input: 20, output: 3 } } }, undefined],
    [
      "nothing before its limit",
      { kind: "answer", answer: { end: "length", usage: { input: 20, output: 3 } } },
      "length"
    ]
  ])("hands on an answer of %s, with its usage", ([, behaviour, finishReason]) =>
    withProvider(way, [behaviour], () =>
      Effect.gen(function* () {
        const reply = yield* sampled(id, hi)
        expect(reply.text.trim()).toBe("")
        expect(reply).toMatchObject({ calls: [], usage: { inputTokens: 20, outputTokens: 3 } })
        expect(reply.finishReason).toBe(finishReason)
      })
    )
  )

  it.live.each<[string, Behaviour, string, object]>([
    [
      "the connection is lost",
      { kind: "cut", text: ["Hel", "lo"] },
      "the connection was lost",
      { code: "model_error" }
    ],
    [
      "the stream just ends",
      { kind: "unfinished", text: ["Hel", "lo"] },
      "the stream ended without completion",
      { code: "model_error" }
    ],
    [
      "the stream ends in the middle of a word",
      { kind: "torn", text: ["Hel", "lo"] },
      "the stream ended without completion",
      { code: "model_error" }
    ],
    [
      "the provider falls silent",
      { kind: "silent", text: ["Hel", "lo"] },
      `the provider sent nothing for ${idleMs} ms`,
      { code: "model_overloaded" }
    ],
    [
      "the provider reports an error",
      { kind: "error", text: ["Hel", "lo"] },
      "overloaded",
      { code: "model_overloaded" }
    ]
  ])("says after how much its answer broke off, where %s", ([, behaviour, why, expected]) =>
    withProvider(way, [behaviour], () =>
      Effect.gen(function* () {
        const failure = yield* failed(id, hi)
        expect(failure).toMatchObject({ ...expected, transient: true, unavailable: false, begun: true })
        expect(failure.text.toLowerCase()).toMatch(new RegExp(`^the answer broke off after 5 characters: .*${why}`))
      })
    )
  )

  it.live("reports what a broken answer has used, as far as the provider has told", () =>
    withProvider(
      way,
      [
        { kind: "cut", text: ["Hel"], usage: { input: 20, output: 3 } },
        { kind: "answer", answer: { end: "refused", usage: { input: 20, output: 3 } } }
      ],
      () =>
        Effect.gen(function* () {
          const broken = yield* failed(id, hi)
          // OpenAI's Responses tell at the end, and there was none.
          if (way.title === "openai") expect(broken.usage).toBeUndefined()
          else {
            expect(broken.usage).toMatchObject({ inputTokens: 20 })
            expect(broken.usage?.estimatedCost).toBeGreaterThan(0)
          }
          expect((yield* failed(id, hi)).usage).toMatchObject({ inputTokens: 20, outputTokens: 3, totalTokens: 23 })
        })
    )
  )

  it.live("asks for parallel calls, and gets its history back as the provider wants it", () =>
    withProvider(
      way,
      [twoCalls(way), { kind: "answer", answer: { text: ["done"] } }, { kind: "answer", answer: { text: ["again"] } }],
      (server) =>
        Effect.gen(function* () {
          const first = yield* sampled(id, promptOf([user("look")], { tools }))
          expect(first.text).toBe("I look.")
          expect(first.calls.map(({ name, input }) => [name, input])).toEqual([
            ["search", { q: "a" }],
            [readName, {}]
          ])
          const history = [
            user("look"),
            assistant(id, first, ["tc_1", "tc_2"]),
            resultOf(first, 1, "tc_2", { failure: { code: "tool_error", text: "it broke" } }),
            user("hurry up"),
            resultOf(first, 0, "tc_1", { output: { found: ["x"] } })
          ]
          const second = yield* sampled(id, promptOf(history, { tools }))
          expect(second.text).toBe("done")
          const sent = JSON.stringify(server.requests[1])
          for (const words of ["it broke", "hurry up", "found", "I look."]) expect(sent).toContain(words)
          const third = yield* sampled(id, promptOf([...history, assistant(id, second, []), user("and?")]))
          expect(third.text).toBe("again")
        })
    )
  )

  it.live("keeps the history valid where a result is missing, and where one has no call", () =>
    withProvider(way, [twoCalls(way)], () =>
      Effect.gen(function* () {
        const first = yield* sampled(id, promptOf([user("look")], { tools }))
        const stray = resultOf(first, 0, "tc_unknown", { output: "stray" })
        const reply = yield* sampled(
          id,
          promptOf(
            [
              user("look"),
              assistant(id, first, ["tc_1", "tc_2"]),
              resultOf(first, 0, "tc_1", { output: "text" }),
              stray,
              user("next")
            ],
            { tools }
          )
        )
        expect(reply.text).toBe("ok")
      })
    )
  )

  it.live("takes up a conversation that another provider began, without its parts", () =>
    withProvider(way, [], (server) =>
      Effect.gen(function* () {
        const foreign: PromptMessage = {
          role: "assistant",
          turnId,
          modelId: "other/model",
          text: "hm",
          calls: [1, 2].map((index) => ({
            toolCallId: `tc_${index}`,
            providerToolCallId: "functions.search:0",
            name: "search",
            input: { q: index }
          })),
          parts: {
            provider: "other",
            content: [{ type: "reasoning", text: "secret", meta: { other: { signature: "s" } } }]
          }
        }
        const results = [1, 2].map(
          (index): PromptMessage => ({
            role: "tool",
            turnId,
            toolCallId: `tc_${index}`,
            providerToolCallId: "functions.search:0",
            name: "search",
            output: index
          })
        )
        expect((yield* sampled(id, promptOf([user("go"), foreign, ...results], { tools }))).text).toBe("ok")
        expect(JSON.stringify(server.requests[0])).not.toContain("secret")
      })
    )
  )

  it("is asked with the settings of the profile, as its provider names them, and without what it does not know", () =>
    Effect.runPromise(
      withProvider(way, [{ kind: "answer", answer: { text: ["ok"] } }], (server) =>
        Effect.gen(function* () {
          const models = yield* Models
          const settings = { maxOutputTokens: 4_321, temperature: 1.5, reasoning: "low" } as const
          yield* models.sample({ modelId: id, prompt: promptOf([user("go")]), onText: () => {}, settings })
          yield* models.sample({ modelId: id, prompt: promptOf([user("go")]), onText: () => {} })
          const [asked, plain] = server.requests
          expect(asked).toMatchObject(way.settings)
          for (const name of way.unknown) expect(JSON.stringify(asked)).not.toContain(`"${name}"`)
          expect(JSON.stringify(plain)).not.toMatch(/temperature|effort|thinking/)
        })
      )
    ))

  if (way.signs)
    it("is refused by the provider when its reasoning is lost", () =>
      Effect.runPromise(
        withProvider(way, [twoCalls(way)], () =>
          Effect.gen(function* () {
            const first = yield* sampled(id, promptOf([user("look")], { tools }))
            const { parts: _lost, ...without } = first
            const failure = yield* failed(
              id,
              promptOf(
                [
                  user("look"),
                  assistant(id, without, ["tc_1", "tc_2"]),
                  resultOf(first, 0, "tc_1", { output: 1 }),
                  resultOf(first, 1, "tc_2", { output: 1 })
                ],
                { tools }
              )
            )
            expect(failure).toMatchObject({ code: "model_error", transient: false, unavailable: false })
            expect(failure.text).toContain("reasoning")
          })
        )
      ))

  if (way.rawInput)
    it("hands on an input that is not JSON", () =>
      Effect.runPromise(
        withProvider(way, [{ kind: "answer", answer: { calls: [{ name: "search", raw: `{"q": ` }] } }], () =>
          Effect.gen(function* () {
            const reply = yield* sampled(id, promptOf([user("look")], { tools }))
            expect(reply.calls[0]).toMatchObject({ name: "search", input: {}, invalidInput: `{"q": ` })
          })
        )
      ))

  it.live.each<[string, Behaviour, object]>([
    [
      "429 with Retry-After",
      { kind: "status", status: 429, headers: { "retry-after": "7" } },
      { code: "model_rate_limited", transient: true, unavailable: false, retryAfterMs: 7000 }
    ],
    [
      "429 without quota",
      { kind: "status", status: 429, code: "insufficient_quota", message: "insufficient_quota" },
      { code: "model_rate_limited", transient: false, unavailable: true }
    ],
    ["500", { kind: "status", status: 500 }, { code: "model_error", transient: true, unavailable: false }],
    ["503", { kind: "status", status: 503 }, { code: "model_overloaded", transient: true, unavailable: false }],
    ["529", { kind: "status", status: 529 }, { code: "model_overloaded", transient: true }],
    ["403", { kind: "status", status: 403 }, { code: "model_unavailable", transient: false, unavailable: true }],
    ["404", { kind: "status", status: 404 }, { code: "model_unavailable", transient: false, unavailable: true }],
    ["400", { kind: "status", status: 400 }, { code: "model_error", transient: false, unavailable: false }],
    [
      "a prompt that is too long",
      { kind: "status", status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
      { code: "context_overflow", transient: false }
    ],
    ["a refusal", { kind: "answer", answer: { end: "refused" } }, { code: "content_refused", transient: false }],
    ["silence from the start", { kind: "hang" }, { code: "model_overloaded", transient: true }],
    ["silence in the middle", { kind: "silent", text: ["Hel"] }, { code: "model_overloaded", transient: true }],
    ["a connection that breaks", { kind: "cut", text: ["Hel"] }, { code: "model_error", transient: true }],
    ["a stream without completion", { kind: "unfinished", text: ["Hel"] }, { code: "model_error", transient: true }],
    ["an error in the stream", { kind: "error", text: ["Hel"] }, { code: "model_overloaded", transient: true }]
  ])("fails on %s", ([, behaviour, expected]) =>
    withProvider(way, [behaviour], (server) =>
      Effect.gen(function* () {
        expect(yield* failed(id, hi)).toMatchObject(expected)
        expect(server.requests).toHaveLength(1)
      })
    )
  )

  it.live("fails with a wrong key", () =>
    withProvider(
      way,
      [],
      () =>
        Effect.gen(function* () {
          expect(yield* failed(id, hi)).toMatchObject({ code: "model_unavailable", unavailable: true })
        }),
      "wrong"
    )
  )

  it.live.each([301, 307, 308])(
    "fails where it is sent elsewhere by a %s: nothing arrives there, no key and no prompt",
    (status) =>
      Effect.acquireUseRelease(
        Effect.promise(() => startServer(way.protocol)),
        (elsewhere) =>
          withProvider(
            way,
            [{ kind: "status", status, headers: { location: `${elsewhere.url}${way.base}/canary` } }],
            (server) =>
              Effect.gen(function* () {
                const failure = yield* failed(id, hi)
                expect(failure).toMatchObject({ code: "model_unavailable", transient: false, unavailable: true })
                expect(failure.text).toBe(`the provider answered with a redirect (${status}), which is not followed`)
                expect([server.requests.length, elsewhere.connections()]).toEqual([1, 0])
              })
          ),
        (elsewhere) => Effect.promise(() => elsewhere.stop())
      )
  )

  it.live("may be tried again when nobody listens", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.promise(() => startServer(way.protocol))
      yield* Effect.promise(() => gone.stop())
      const model = { ...way.model, baseUrl: gone.url + way.base }
      const failure = yield* failed(id, hi).pipe(Effect.provide(layer({ env: {}, modelsFile: { models: [model] } })))
      expect(failure).toMatchObject({ code: "model_unavailable", transient: true, unavailable: false })
    })
  )

  it.live("is not given up while the provider shows that it lives", () =>
    withProvider(way, [{ kind: "answer", answer: { text: ["late"] }, pings: { count: 6, pauseMs: 50 } }], () =>
      Effect.gen(function* () {
        expect((yield* sampled(id, hi)).text).toBe("late")
      })
    )
  )

  it.live.each<[string, Behaviour]>([
    ["before the first byte", { kind: "hang" }],
    ["in the middle", { kind: "silent", text: ["Hel"] }]
  ])("closes its connection when interrupted %s", ([, behaviour]) =>
    withProvider(way, [behaviour], (server) =>
      Effect.gen(function* () {
        const models = yield* Models
        const fiber = yield* Effect.forkChild(models.sample({ modelId: id, prompt: hi, onText: () => {} }))
        while (server.requests.length === 0) yield* Effect.sleep(2)
        if (behaviour.kind === "silent") yield* Effect.sleep(30)
        yield* Fiber.interrupt(fiber)
        yield* Effect.promise(() => server.abandoned)
      })
    )
  )
})

describe("a model of anthropic that thinks so many tokens", () => {
  const way = ways.find(({ title }) => title === "anthropic") ?? expect.fail("no such way")
  /** What it is asked, for these settings. */
  const asked = (settings: ModelSettings) =>
    Effect.runPromise(
      withProvider(way, [{ kind: "answer", answer: { text: ["ok"] } }], (server) =>
        Effect.gen(function* () {
          const models = yield* Models
          const prompt = promptOf([user("go")])
          yield* models.sample({ modelId: way.model.id, prompt, onText: () => {}, settings })
          return server.requests[0]
        })
      )
    )

  it.each<[number, "low" | "high", number | undefined]>([
    [1, "high", undefined],
    [2_047, "low", undefined],
    [2_048, "low", 1_024],
    [5_000, "high", 2_500],
    [60_000, "low", 6_400],
    [64_000, "high", 32_000],
    // More than the model writes.
    [1_000_000, "high", 32_000]
  ])("of %d tokens in all, thinking %s, writes no more of both", async (maxOutputTokens, reasoning, budget) => {
    const request = await asked({ maxOutputTokens, reasoning })
    expect(request).toMatchObject({ max_tokens: Math.min(maxOutputTokens, 64_000) })
    if (budget === undefined) expect(request).not.toHaveProperty("thinking")
    else expect(request).toMatchObject({ thinking: { type: "enabled", budget_tokens: budget } })
  })

  it("is as free in its choice of words as its provider allows", async () => {
    expect(await asked({ temperature: 1.5 })).toMatchObject({ temperature: 1 })
  })
})
