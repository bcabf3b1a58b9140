/** What models of every provider are shown of a conversation: calls, results, images, and what others began. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { PromptMessage } from "../../src/models/Model.ts"
import { gif, png } from "../images.ts"
import { called, failed, promptOf, result, sampled, turnId, user } from "./prompts.ts"
import { assistant, readName, resultOf, tools, twoCalls, ways, withProvider } from "./providerFixture.ts"

/** What a provider reads as words: texts that stand under `text`, `content` or `output`. */
const textsOf = (value: unknown, under = ""): ReadonlyArray<string> => {
  if (typeof value === "string") return ["text", "content", "output"].includes(under) ? [value] : []
  if (Array.isArray(value)) return value.flatMap((item) => textsOf(item, under))
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => textsOf(inner, name))
    : []
}

describe.each(ways)("a model of $title", (way) => {
  const { id } = way.model

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
})
