/** How often something broke, and how long it is left alone for that. */
import { assert, describe, it } from "@effect/vitest"
import { Crashes } from "../../actors/Crashes.ts"

const key = "wsp_1/thr_1"

describe("what breaks in one place", () => {
  it("is left alone for twice as long each time, for five minutes at most", () => {
    let now = 0
    const crashes = new Crashes(() => now)
    const pauses = Array.from({ length: 11 }, () => {
      crashes.add(key, 7)
      const pause = (crashes.until(key) ?? 0) - now
      now += pause
      assert.isUndefined(crashes.until(key))
      return pause / 1_000
    })
    assert.deepStrictEqual(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  })

  it("begins anew in another place, and not because time passes", () => {
    let now = 0
    const crashes = new Crashes(() => now)
    assert.deepStrictEqual([crashes.add(key, 7), crashes.add(key, 7), crashes.add(key, 8)], [1, 2, 1])
    now = 24 * 3_600_000
    assert.deepStrictEqual([crashes.times(key, 8), crashes.times(key, 7), crashes.add(key, 8)], [1, 0, 2])
  })

  it("is forgotten when so many others broke since", () => {
    const crashes = new Crashes(() => 0)
    for (let i = 0; i < 20_000; i++) crashes.add(`wsp_1/thr_${i}`, 0)
    assert.strictEqual(crashes.size, 10_000)
    assert.deepStrictEqual([crashes.times("wsp_1/thr_9999", 0), crashes.times("wsp_1/thr_10000", 0)], [0, 1])
  })
})
