/** The steps that a page holds: what they tell of a position, and which are to be asked for. */
import { assert, describe, it } from "@effect/vitest"
import {
  type ActorStep,
  merged,
  missing,
  momentAt,
  portion,
  stepAt,
  type Steps
} from "../../console/src/actors/steps.ts"

const step = (fromPos: number, pos: number): ActorStep => ({
  fromPos,
  pos,
  at: "2026-01-01T00:00:00.000Z",
  cause: "submit",
  from: `before ${fromPos}`,
  to: `after ${pos}`,
  path: [],
  facts: []
})

/** A log of so many steps, of one to three facts each. */
const logOf = (count: number): Steps => {
  const steps: Array<ActorStep> = []
  for (let i = 0, pos = 0; i < count; i++) {
    const to = pos + 1 + (i % 3)
    steps.push(step(pos + 1, to))
    pos = to
  }
  return steps
}

/** What a server answers. */
const pageBehind = (log: Steps, afterPos: number) => log.filter(({ pos }) => pos > afterPos).slice(0, portion)

describe("steps that are here", () => {
  const held = [step(1, 3), step(4, 4), step(9, 11)]

  it("tell of the position that they hold, be it in their middle", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 4, 9, 10, 11].map((pos) => momentAt(held, pos)?.state),
      ["after 3", "after 3", "after 3", "after 4", "after 11", "after 11", "after 11"]
    )
  })

  it("tell of the birth where the first one is here", () => {
    assert.deepStrictEqual(momentAt(held, 0), { state: "before 1", step: undefined, details: undefined })
    assert.isUndefined(momentAt(held.slice(1), 0))
  })

  it("tell nothing of a position that none of them holds, neither by the one before nor by the one behind", () => {
    for (const pos of [5, 8, 12, 9_000]) assert.isUndefined(momentAt(held, pos), String(pos))
    assert.isUndefined(momentAt([], 1))
  })

  it("take a page in where it belongs, each step once, and the page holds where both tell of a position", () => {
    const grown = merged(held, [step(4, 6), step(7, 8)])
    assert.deepStrictEqual(
      grown.map(({ fromPos, pos }) => [fromPos, pos]),
      [
        [1, 3],
        [4, 6],
        [7, 8],
        [9, 11]
      ]
    )
    assert.deepStrictEqual(merged(grown, grown.slice(1, 3)), grown)
    assert.strictEqual(merged(held, []), held)
  })

  it("are not held without end", () => {
    const log = logOf(25_000)
    let steps: Steps = []
    for (let i = 0; i < log.length; i += 5_000) steps = merged(steps, log.slice(i, i + 5_000))
    assert.isAtMost(steps.length, 20_000)
    assert.strictEqual(steps.at(-1), log.at(-1))
  })
})

describe("steps that are missing", () => {
  const log = logOf(3_000)
  const end = log.at(-1)?.pos ?? 0

  it("are asked for around a place, in few requests, until fifty are there on both sides", () => {
    for (const at of [0, 1, 2, 77, 2_500, end - 3, end]) {
      let steps: Steps = []
      let requests = 0
      for (let place = missing(steps, at, end); place !== undefined; place = missing(steps, at, end)) {
        steps = merged(steps, pageBehind(log, place))
        assert.isAtMost(++requests, 3, `at ${at}`)
      }
      const here = log.findIndex(({ pos }) => pos >= at)
      for (const each of log.slice(Math.max(0, here - 50), here + 51)) assert.strictEqual(stepAt(steps, each.pos), each)
    }
  })

  it("are asked for behind those at the end when the log has grown, and not again from further back", () => {
    const steps = pageBehind(log.slice(0, 150), 0)
    const last = steps.at(-1)?.pos ?? 0
    assert.strictEqual(missing(steps, last + 4, last + 4), last)
  })

  it("are none of a log without facts", () => {
    assert.isUndefined(missing([], 0, 0))
  })
})
