/** What the timeline draws of a log (console/src/threads/lanes.ts, scale.ts, placed.ts). */
import { assert, describe, it } from "@effect/vitest"
import { type Bar, barsOf } from "../../console/src/threads/lanes.ts"
import { drawnBars, placedLanes } from "../../console/src/threads/placed.ts"
import { scaleOf } from "../../console/src/threads/scale.ts"
import { logEvents } from "./events.ts"

const log = logEvents()
const start = Date.UTC(2026, 0, 1)
const told = (bars: ReadonlyArray<Bar>) =>
  bars.map(({ from, isBad, lane, seq, to }) => [lane, from - start, to === undefined ? "open" : to - start, seq, isBad])

describe("the lanes", () => {
  it("have an input from when it was sent, and each work from its cause to its end", () => {
    assert.deepStrictEqual(told(barsOf(log.slice(0, 10), true)), [
      ["inputs", 40, 100, 1, false],
      ["model", 100, 300, 2, false],
      ["asked", 300, 700, 3, true],
      ["hooks", 340, 400, 4, false],
      ["tools", 410, 500, 2, false],
      ["waits", 410, 600, 5, false],
      ["model", 700, 900, 9, false]
    ])
  })

  it("leave open what has not ended, at the end of the log alone", () => {
    const open = (isEnd: boolean) => told(barsOf(log.slice(0, 5), isEnd)).filter(([, , to]) => to === "open")
    assert.deepStrictEqual(open(true), [
      ["tools", 300, "open", 2, false],
      ["asked", 300, "open", 3, false],
      ["waits", 410, "open", 5, false]
    ])
    assert.deepStrictEqual(open(false), [])
  })

  it("end with their turn", () => {
    const failed = log
      .filter(({ seq, type }) => seq <= 5 || type === "turn_failed")
      .map((event) => ({ ...event, turnId: "trn_1" }))
    assert.lengthOf(failed, 6)
    assert.isTrue(barsOf(failed, true).every(({ to }) => to !== undefined))
  })
})

describe("the scale", () => {
  const bars = barsOf(log, true)
  const scale = scaleOf(bars, start)

  it("keeps the order of times, and cuts a day without an event", () => {
    const times = [...new Set(bars.flatMap(({ from, to = from }) => [from, to]))].sort((a, b) => a - b)
    const places = times.map(scale.at)
    assert.deepStrictEqual(
      places,
      [...places].sort((a, b) => a - b)
    )
    assert.strictEqual(places[0], 0)
    assert.strictEqual(places.at(-1), scale.length)
    assert.lengthOf(scale.cuts, 1)
    assert.isBelow(scale.length, 5_000)
  })

  it("is in proportion where nothing is cut", () => {
    assert.strictEqual(scale.at(start + 300) - scale.at(start + 100), 200)
    assert.strictEqual(scale.at(start + 350) - scale.at(start + 300), 50)
  })

  it("of nothing at all is a scale still", () => {
    assert.strictEqual(scaleOf([], 5).at(5), 0)
  })
})

describe("the places", () => {
  const bar = (from: number, to: number, seq: number): Bar => ({
    lane: "tools",
    seq,
    label: "",
    from,
    to,
    isBad: false
  })
  const laneOf = (bars: ReadonlyArray<Bar>) => {
    const lane = placedLanes(bars, scaleOf(bars, 0), 0).find(({ lane }) => lane === "tools")
    assert.isDefined(lane)
    return lane
  }

  it("are below each other where bars overlap", () => {
    const lane = laneOf([bar(0, 100, 1), bar(50, 150, 2), bar(100, 200, 3)])
    assert.deepStrictEqual(
      lane.bars.map(({ line }) => line),
      [0, 1, 0]
    )
    assert.strictEqual(lane.lines, 2)
  })

  it("of many small bars are one, but for what is chosen; of what is not seen there is none", () => {
    const bars = Array.from({ length: 1_000 }, (_, i) => bar(i, i + 1, i))
    const lane = laneOf(bars)
    const all = { from: 0, to: 1, least: 0.01 }
    const drawn = drawnBars(lane, all)
    assert.isAtMost(drawn.length, 120)
    assert.strictEqual(
      drawn.reduce((sum, { count }) => sum + count, 0),
      1_000
    )
    assert.isTrue(drawnBars(lane, all, bars[5]).some(({ placed }) => placed.bar === bars[5]))
    assert.isTrue(drawnBars(lane, { ...all, from: 0.9 }).every(({ placed }) => placed.left + placed.width >= 0.9))
  })
})
