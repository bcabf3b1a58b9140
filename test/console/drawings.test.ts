/** The pictures of charts that the build makes, held against the machines that run. */
import { assert, describe, it } from "@effect/vitest"
import { anyState, drawings } from "../../console/chartLayouts.ts"
import type { Drawing } from "../../console/src/actors/drawn.ts"
import { versionOf } from "../../http/charts/version.ts"
import { charts } from "../../machines/charts.ts"
import { definitionOf } from "../../machines/definition.ts"
import { chartKinds } from "../../src/domain/chartKinds.ts"

const drawn = await drawings()

/** Where a point lies against a box: on its rim, as the ends of lines do. */
const isOnRim = ([x, y]: readonly [number, number], { height, width, ...at }: Drawing["states"][number]) => {
  const [right, bottom] = [at.x + width, at.y + height]
  const near = (a: number, b: number) => Math.abs(a - b) < 1
  const isBetween = (a: number, from: number, to: number) => a > from - 1 && a < to + 1
  return (
    ((near(x, at.x) || near(x, right)) && isBetween(y, at.y, bottom)) ||
    ((near(y, at.y) || near(y, bottom)) && isBetween(x, at.x, right))
  )
}

describe.each(chartKinds)("the picture of the chart of %s", (kind) => {
  const { lines, states, version } = drawn[kind]
  const definition = definitionOf(charts[kind])
  const boxes = new Map(states.map((state) => [state.id, state]))

  it("has each of its states once, with its words, and the frame around them", () => {
    assert.sameDeepMembers(
      states.map(({ description, id }) => ({ id, description })),
      [{ id: anyState, description: "" }, ...definition.states.map(({ description, id }) => ({ id, description }))]
    )
  })

  it("has each of its transitions once: on the line from its source to its target, or in the state that it stays in", () => {
    assert.sameDeepMembers(
      [
        ...lines.flatMap(({ source, target, transitions }) => transitions.map((id) => ({ id, source, target }))),
        ...states.flatMap(({ id: source, stays }) => stays.map((id) => ({ id, source, target: source })))
      ],
      definition.transitions.map(({ id, source, target }) => {
        const from = source === "" ? anyState : source
        return { id, source: from, target: source === "" ? from : (target ?? from) }
      })
    )
  })

  it("draws every line from the rim of its source to the rim of its target", () => {
    for (const { points, source, target } of lines) {
      const [first] = points
      const last = points.at(-1)
      const [from, to] = [boxes.get(source), boxes.get(target)]
      assert(first !== undefined && last !== undefined && from !== undefined && to !== undefined, source)
      assert.isTrue(isOnRim(first, from), `${source} to ${target} begins at ${first}`)
      assert.isTrue(isOnRim(last, to), `${source} to ${target} ends at ${last}`)
    }
  })

  it("has the version of the chart that the interface tells of", () => {
    assert.strictEqual(version, versionOf(definition))
  })
})
