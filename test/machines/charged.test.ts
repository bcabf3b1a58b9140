/** What a turn is charged for, and what its usage says of the cost. */
import { assert, describe, it } from "@effect/vitest"
import { chargedIn } from "../../machines/thread/charged.ts"
import type { ModelUsage } from "../../src/domain/usage.ts"
import { Walk } from "./Walk.ts"
import { call } from "./WalkCommands.ts"

const tokens = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
const paid = (estimatedCost: number): ModelUsage => ({ ...tokens, estimatedCost })
const unpriced: ModelUsage = tokens

/** A turn of responses that each call a tool but the last, with what models inside of the tools used. */
const turnOf = (
  walk: Walk,
  name: string,
  responses: ReadonlyArray<ModelUsage>,
  inside: ReadonlyArray<ModelUsage> = []
) => {
  walk.queue(name)
  responses.forEach((usage, i) => {
    const isLast = i === responses.length - 1
    walk.do({ ...walk.response(isLast ? "done" : "", isLast ? [] : [call()]), usage })
    const used = inside[i]
    if (!isLast) walk.do({ ...walk.returned(walk.call().toolCallId), ...(used !== undefined && { usage: used }) })
  })
  return walk
}
const costs = (walk: Walk) =>
  walk.log
    .filter(({ type }) => type === "turn_completed")
    .map(({ event }) => ("usage" in event ? event.usage?.estimatedCost : undefined))

describe("a turn", () => {
  it("is charged what its responses cost, and its usage says as much", () => {
    const walk = turnOf(new Walk(), "A", [paid(0.1), paid(0.2)])
    assert.deepStrictEqual([costs(walk), chargedIn(null, walk.log)], [[0.3], 0.3])
  })

  it("is charged what is known where one response has no price, and its usage says no cost", () => {
    for (const responses of [
      [paid(0.1), unpriced],
      [unpriced, paid(0.1)],
      [unpriced, paid(0.04), unpriced, paid(0.06)]
    ]) {
      const walk = turnOf(new Walk(), "A", responses)
      assert.deepStrictEqual([costs(walk), chargedIn(null, walk.log)], [[undefined], 0.1])
      assert.isUndefined(walk.context.carry.usage.estimatedCost)
    }
  })

  it("is not charged for models inside of its tools, whose cost its usage says", () => {
    const walk = turnOf(new Walk(), "A", [paid(0.1), paid(0.2)], [paid(7)])
    assert.deepStrictEqual([costs(walk), chargedIn(null, walk.log)], [[7.3], 0.3])
    const untold = turnOf(new Walk(), "A", [paid(0.1), paid(0.2)], [unpriced])
    assert.deepStrictEqual([costs(untold), chargedIn(null, untold.log)], [[undefined], 0.3])
  })

  it("is charged once, in the step that ends it", () => {
    const walk = turnOf(turnOf(new Walk(), "A", [paid(0.1), paid(0.2)]), "B", [paid(0.5)])
    assert.strictEqual(chargedIn(null, walk.log), 0.8)
    const ends = walk.log.map(({ type }, i) => (type === "turn_completed" ? i : -1)).filter((i) => i >= 0)
    assert.strictEqual(chargedIn(null, walk.log.slice(0, ends[0])), 0)
    assert.strictEqual(chargedIn(null, walk.log.slice(ends[0]! + 1)), 0.5)
  })
})
