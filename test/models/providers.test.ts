/** Models of every provider: what they are asked, and how their answers are read. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ModelSettings } from "../../src/domain/modelSettings.ts"
import { Models, type Prompt } from "../../src/models/Model.ts"
import { promptOf, sampled, user } from "./prompts.ts"
import type { Behaviour } from "./servers/server.ts"
import { tools, ways, withProvider } from "./providerFixture.ts"

describe.each(ways)("a model of $title", (way) => {
  const { id } = way.model
  const hi: Prompt = promptOf([user("hi")], { system: "Be brief." })

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
