import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { layerScripted } from "../../src/models/layer.ts"
import { Models, type PromptMessage } from "../../src/models/Model.ts"
import { called, failed, promptOf, refused, result, said, sampled, turnId, user } from "./prompts.ts"

const model = "troupe/scripted"

describe("the scripted models", () => {
  it.effect("write no more than the settings allow", () =>
    Effect.gen(function* () {
      const models = yield* Models
      const sample = (maxOutputTokens: number) =>
        models.sample({
          modelId: "troupe/scripted-paid",
          prompt: promptOf([user("/say 1234567890ä")]),
          onText: () => {},
          settings: { maxOutputTokens }
        })
      const { finishReason, text, usage } = yield* sample(2)
      expect([text, finishReason, usage.outputTokens]).toEqual(["12345678", "length", 2])
      expect((yield* sample(3)).text).toBe("1234567890ä")
    }).pipe(Effect.provide(layerScripted))
  )

  it.layer(layerScripted)((it) => {
    it.effect.each<[string, ReadonlyArray<PromptMessage>, string]>([
      ["echoes plain text", [user("hello")], "You said: hello"],
      ["echoes plain text without its steps", [user("/usage 1 2\nhello\nyou")], "You said: hello\nyou"],
      ["says what it is told", [user("hello\n/say good day")], "good day"],
      ["can say nothing", [user("/say")], ""],
      [
        "answers with outputs in call order",
        [user("/call a\n/call b"), called(["1", "a"], ["2", "b"]), result("2", "b", [2]), result("1", "a", { one: 1 })],
        `Done: [{"one":1},[2]]`
      ],
      [
        "counts outputs of all rounds",
        [
          user("/call a\n/then\n/call b"),
          called(["1", "a"]),
          result("1", "a", 1),
          called(["2", "b"]),
          result("2", "b", "two")
        ],
        `Done: [1,"two"]`
      ],
      [
        "shows why a call has no output",
        [user("/call a"), called(["1", "a"]), refused("1", "a", "tool_not_found", "no tool a")],
        `Done: [{"code":"tool_not_found","text":"no tool a"}]`
      ],
      ["says its text after calls", [user("/call a\n/say there"), called(["1", "a"]), result("1", "a", 1)], "there"],
      [
        "takes the newest message of the turn as the script",
        [user("/call a"), called(["1", "a"]), result("1", "a", 1), user("never mind")],
        "You said: never mind"
      ],
      [
        "counts only from the script",
        [user("old", "turn_0"), said("You said: old", "turn_0"), user("new")],
        "You said: new"
      ],
      ["does not read another turn's message", [user("mine"), user("/say other", "turn_2")], "You said: mine"]
    ])("%s", ([, messages, text]) =>
      Effect.gen(function* () {
        const reply = yield* sampled(model, promptOf(messages))
        expect(reply.text).toBe(text)
        expect(reply.calls).toEqual([])
        expect(reply.deltas).toEqual(text === "" ? [] : [text])
      })
    )

    it.effect("asks for the calls of a round in parallel, and for the next round's once results are in", () =>
      Effect.gen(function* () {
        const script = user(`/call a {"x":1}\n/call b\n/then\n/call c {oops`)
        const first = yield* sampled(model, promptOf([script]))
        expect(first.text).toBe("")
        expect(first.calls.map(({ name, input }) => [name, input])).toEqual([
          ["a", { x: 1 }],
          ["b", {}]
        ])
        expect(new Set(first.calls.map(({ providerToolCallId }) => providerToolCallId)).size).toBe(2)
        const second = yield* sampled(
          model,
          promptOf([script, called(["1", "a"], ["2", "b"]), result("1", "a", 1), result("2", "b", 2)])
        )
        expect(second.calls.map(({ name, invalidInput }) => [name, invalidInput])).toEqual([["c", "{oops"]])
      })
    )

    it.effect("is a pure function of the prompt", () =>
      Effect.gen(function* () {
        const prompt = promptOf([user("/call a\n/usage 3 4")])
        expect(yield* sampled(model, prompt)).toEqual(yield* sampled(model, prompt))
      })
    )

    it.effect("counts a token for 4 bytes, rounded up", () =>
      Effect.gen(function* () {
        const reply = yield* sampled(model, promptOf([user("héllo")], { system: "be" }))
        expect(reply.usage).toEqual({ inputTokens: 2, outputTokens: 4, totalTokens: 6, estimatedCost: 0 })
      })
    )

    it.effect("reports the usage it is told, priced where the model has a price", () =>
      Effect.gen(function* () {
        const reply = yield* sampled("troupe/scripted-paid", promptOf([user("/usage 1000000 500000")]))
        expect(reply.usage).toEqual({
          inputTokens: 1_000_000,
          outputTokens: 500_000,
          totalTokens: 1_500_000,
          estimatedCost: 2
        })
      })
    )

    it.effect.each([
      ["model_rate_limited", true, false],
      ["model_overloaded", true, false],
      ["model_unavailable", false, true],
      ["model_error", false, false],
      ["content_refused", false, false],
      ["context_overflow", false, false],
      ["internal", false, false]
    ] as const)("fails with %s, transient %s, unavailable %s", ([code, transient, unavailable]) =>
      Effect.gen(function* () {
        const failure = yield* failed(model, promptOf([user(`/fail ${code} because of it`)]))
        expect(failure).toMatchObject({ code, text: "because of it", transient, unavailable })
        expect(failure.details).toBeUndefined()
      })
    )

    it.effect("fails with details when the code is about image formats", () =>
      Effect.gen(function* () {
        const failure = yield* failed(model, promptOf([user("/fail model_image_format_unsupported no")]))
        expect(failure.details).toEqual({ targetId: model, formats: ["gif", "webp"] })
      })
    )

    it.effect("says why its answer is cut, where it is told to", () =>
      Effect.gen(function* () {
        expect(yield* sampled(model, promptOf([user("/finish length\n/say once upon")]))).toMatchObject({
          text: "once upon",
          finishReason: "length"
        })
        expect(yield* sampled(model, promptOf([user("/say once upon")]))).not.toHaveProperty("finishReason")
      })
    )

    it.effect.each<[string, string, string]>([
      ["/break 4\n/say a😀bcd", "a😀bc", "after 4 characters"],
      ["/break 1\n/chunks 2\n/say ab", "a", "after 1 character"],
      ["/break 0\n/say ab", "", "before its first character"]
    ])("breaks off where it is told to: %j", ([script, said, after]) =>
      Effect.gen(function* () {
        const models = yield* Models
        let text = ""
        const failure = yield* Effect.flip(
          models.sample({ modelId: model, prompt: promptOf([user(script)]), onText: (piece) => (text += piece) })
        )
        expect(text).toBe(said)
        expect(failure).toMatchObject({
          code: "model_error",
          transient: true,
          unavailable: false,
          text: `the answer broke off ${after}: the script says so`
        })
        expect(failure.usage?.inputTokens).toBeGreaterThan(0)
      })
    )

    it.effect("has used for a failure what the script says, and nothing otherwise", () =>
      Effect.gen(function* () {
        expect(
          (yield* failed("troupe/scripted-paid", promptOf([user("/usage 1000000 0\n/fail model_error")]))).usage
        ).toEqual({ inputTokens: 1_000_000, outputTokens: 0, totalTokens: 1_000_000, estimatedCost: 1 })
        expect((yield* failed(model, promptOf([user("/fail model_error")]))).usage).toBeUndefined()
      })
    )

    it.effect("fails on the named model only, and in the named round only", () =>
      Effect.gen(function* () {
        const script = user("/call a\n/then\n/fail@troupe/scripted model_overloaded busy")
        const later = promptOf([script, called(["1", "a"]), result("1", "a", 1)])
        expect((yield* sampled(model, promptOf([script]))).calls).toHaveLength(1)
        expect((yield* failed(model, later)).code).toBe("model_overloaded")
        expect((yield* sampled("troupe/scripted-paid", later)).text).toBe("Done: [1]")
      })
    )

    it.effect("overflows beyond its window, and not at it", () =>
      Effect.gen(function* () {
        const small = "troupe/scripted-small"
        expect((yield* sampled(small, promptOf([user("x".repeat(8000))]))).usage.inputTokens).toBe(2000)
        expect(yield* failed(small, promptOf([user("x".repeat(8001))]))).toMatchObject({
          code: "context_overflow",
          transient: false,
          unavailable: false
        })
        expect((yield* failed(small, promptOf([user("x".repeat(8001))], { purpose: "summary" }))).code).toBe(
          "context_overflow"
        )
      })
    )

    it.effect("summarizes by counting events, whatever the script says", () =>
      Effect.gen(function* () {
        const reply = yield* sampled(
          model,
          promptOf(
            [
              user("/fail model_error"),
              called(["1", "a"], ["2", "b"]),
              result("1", "a", 1),
              result("2", "b", 1),
              said("well")
            ],
            { purpose: "summary" }
          )
        )
        expect(reply.text).toBe("Summary of 6 events.")
      })
    )

    it.effect("does not know other models", () =>
      Effect.gen(function* () {
        expect(yield* failed("troupe/other", promptOf([user("hi")]))).toMatchObject({
          code: "model_unavailable",
          unavailable: true
        })
      })
    )

    it.effect("answers after its wait, and not before", () =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(sampled(model, promptOf([user("/wait 3s\nhello")])))
        yield* TestClock.adjust("2999 millis")
        expect(fiber.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust("1 millis")
        expect(yield* Fiber.join(fiber)).toMatchObject({ text: "You said: hello", durationMs: 3000, firstTextMs: 3000 })
      })
    )

    it.effect("ends at once when interrupted, and says nothing after that", () =>
      Effect.gen(function* () {
        const models = yield* Models
        const deltas: Array<string> = []
        const fiber = yield* Effect.forkChild(
          models.sample({
            modelId: model,
            prompt: promptOf([user("/chunks 4 1s\n/say abcd")]),
            onText: (text) => deltas.push(text)
          })
        )
        yield* TestClock.adjust("1 seconds")
        yield* Fiber.interrupt(fiber)
        yield* TestClock.adjust("10 seconds")
        expect(deltas).toEqual(["a", "b"])
      })
    )

    it.effect("streams in as many deltas as asked, whole code points each", () =>
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(sampled(model, promptOf([user("/chunks 3 10ms\n/say a😀b😀c")])))
        yield* TestClock.adjust("20 millis")
        const reply = yield* Fiber.join(fiber)
        expect(reply.deltas).toEqual(["a", "😀b", "😀c"])
        expect(reply).toMatchObject({ durationMs: 20, firstTextMs: 0 })
        expect((yield* sampled(model, promptOf([user("/chunks 20\n/say abc")]))).deltas).toEqual(["a", "b", "c"])
      })
    )

    it.effect("counts a message once, in however many prompts it is", () =>
      Effect.gen(function* () {
        let reads = 0
        const messages = Array.from(
          { length: 1_000 },
          (_, index): PromptMessage => ({
            role: "user",
            turnId: `t${index}`,
            get content() {
              reads++
              return [{ type: "text" as const, text: "x".repeat(40) }]
            }
          })
        )
        const prompt = () => promptOf([...messages, user("/usage 1 1")], { turnId })
        yield* sampled(model, prompt())
        const first = reads
        expect(first).toBeGreaterThanOrEqual(messages.length)
        for (let round = 0; round < 10; round++) yield* sampled(model, prompt())
        expect(reads - first).toBeLessThan(messages.length)
      })
    )
  })
})
