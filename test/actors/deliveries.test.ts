/**
 * Ids of deliveries: nodes of different versions that ask the same question call it the same, and receivers tell
 * questions apart by them.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Delivered, deliveryIdOf } from "../../actors/thread/tools/derivedIds.ts"

const turnId = "trn_01m81jv9va3rg1nenahaw25000"
const ofCall = {
  turnId,
  step: 2,
  point: "before_tool_call",
  index: 1,
  toolCallId: "call_01m81jv9va3rg1nenahaw25002"
} as const

describe("the id of a delivery", () => {
  it.each<readonly [string, Delivered, string]>([
    ["a call", ofCall, "dlv_01m81jv9va0stb30d9jrj5n000"],
    [
      "a message",
      { turnId, step: 1, point: "before_turn_start", index: 0, message: 3 },
      "dlv_01m81jv9vaeex0hkytbfzcd000"
    ],
    ["a response", { turnId, step: 1, point: "after_model_response", index: 0 }, "dlv_01m81jv9va0qf810bc1ezjk000"]
  ])("of the first question about %s is what it was before there were rounds", (_, asked, id) => {
    assert.strictEqual(deliveryIdOf(asked), id)
  })

  it("is another one in each round", () => {
    assert.strictEqual(new Set([ofCall, { ...ofCall, round: 1 }, { ...ofCall, round: 2 }].map(deliveryIdOf)).size, 3)
  })
})
