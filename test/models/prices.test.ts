/** What a call is foreseen to cost. */
import { assert, describe, it } from "@effect/vitest"
import type { ModelEntry, PromptMessage } from "../../src/models/Model.ts"
import { pricesOf } from "../../src/models/prices.ts"
import { promptOf, result, said, user } from "./prompts.ts"

const model: ModelEntry = {
  id: "m/one",
  displayName: "One",
  maxOutputTokens: 1_000,
  inputFormats: ["png"],
  features: ["images"],
  pricing: { input: 1, output: 2 },
  status: "available",
  targets: [],
  createdAt: "2026-01-01T00:00:00.000Z"
}
const prices = pricesOf([model])
/** Tokens of the prompt that a call is reserved for. */
const reserved = (...messages: ReadonlyArray<PromptMessage>) =>
  Math.round(prices.foreseen(model.id, promptOf(messages)).prompt * 1e6)

describe("the prompt of a call", () => {
  const look: PromptMessage = {
    role: "user",
    turnId: "turn_1",
    content: [
      { type: "text", text: "Look." },
      { type: "image", imageId: `img_${"0".repeat(64)}` }
    ]
  }

  it("is reserved for with a token for 4 bytes, and a thousand for an image, wherever it stands", () => {
    assert.strictEqual(reserved(user("12345678")), 2)
    assert.isAtLeast(reserved(look), 1_000)
    const shown = { ...result("a", "screen", "seen"), images: [{ format: "png" as const, data: "AAAA" }] }
    assert.isAtLeast(reserved(look, shown), 2_000)
  })

  it("is reserved for with what its provider has counted before, where that is more than its bytes say", () => {
    const counted = (tokens: number): PromptMessage => Object.assign({}, said("Yes."), { tokens })
    assert.strictEqual(reserved(user("12345678"), counted(50), user("1234")), 51)
    assert.strictEqual(reserved(user("12345678"), counted(1), user("1234")), 4)
  })

  it("costs its price, and the call what it may write beside it", () => {
    const { amount, prompt } = prices.foreseen(model.id, promptOf([user("12345678")]))
    assert.deepStrictEqual([prompt, amount], [2e-6, 2e-6 + 2_000e-6])
    assert.strictEqual(prices.foreseen(model.id, promptOf([user("12345678")]), 10).amount, 2e-6 + 20e-6)
  })
})
