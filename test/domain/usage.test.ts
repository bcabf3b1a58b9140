/** Sums of usage: free and unknown are not the same. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { addUsage, type ModelUsage, noUsage } from "../../src/domain/usage.ts"

const of = (tokens: number, estimatedCost?: number): ModelUsage => ({
  inputTokens: tokens,
  outputTokens: 0,
  totalTokens: tokens,
  ...(estimatedCost !== undefined && { estimatedCost })
})
const sum = (parts: ReadonlyArray<ModelUsage>) => parts.reduce(addUsage, noUsage)

describe("a sum of usage", () => {
  it("leaves estimatedCost out when a part had tokens and no known price", () => {
    assert.notProperty(addUsage(of(1_000_000), of(10, 0.00001)), "estimatedCost")
    assert.notProperty(addUsage(of(10, 0.00001), of(1_000_000)), "estimatedCost")
    assert.notProperty(sum([of(1, 1), of(1), of(1, 1)]), "estimatedCost")
  })

  it("has the cost of its parts where each price is known, be it 0, and where a part had no tokens", () => {
    assert.strictEqual(sum([of(10, 0.1), of(10, 0.2)]).estimatedCost, 0.3)
    assert.strictEqual(sum([of(10, 0), of(10, 0)]).estimatedCost, 0)
    assert.strictEqual(sum([noUsage, of(10, 0.1), noUsage]).estimatedCost, 0.1)
    assert.notProperty(sum([noUsage, noUsage]), "estimatedCost")
  })

  it("is the same in any order", () => {
    const part = fc
      .record({ tokens: fc.nat(3), cost: fc.option(fc.constantFrom(0, 0.25, 1), { nil: undefined }) })
      .map(({ cost, tokens }) => of(tokens, cost))
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const unknown = parts.some(({ estimatedCost, totalTokens }) => estimatedCost === undefined && totalTokens > 0)
        for (const all of [sum(parts), sum([...parts].reverse())]) {
          assert.strictEqual(
            all.totalTokens,
            parts.reduce((total, { totalTokens }) => total + totalTokens, 0)
          )
          assert.strictEqual(
            all.estimatedCost,
            unknown || parts.every(({ estimatedCost }) => estimatedCost === undefined)
              ? undefined
              : parts.reduce((total, { estimatedCost = 0 }) => total + estimatedCost, 0)
          )
        }
      })
    )
  })
})
