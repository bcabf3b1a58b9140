/** When the console asks again (console/src/live/looking.ts). */
import { assert, describe, it } from "@effect/vitest"
import { looking } from "../../console/src/live/looking.ts"
import { eventually } from "../http/toolFixture.ts"

const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

describe("looking again", () => {
  it("happens under steady news, and not for each piece of it", async () => {
    let looks = 0
    let inFlight = 0
    const tell = looking(async () => {
      inFlight++
      assert.strictEqual(inFlight, 1)
      looks++
      await tick()
      inFlight--
    }, 20)
    let told = 0
    // News comes without a pause as long as a rest: put off by each, no look would ever be made.
    await eventually(() => {
      told++
      tell()
      return looks >= 3
    }, "three looks")
    assert.isAbove(told, looks)
  })

  it("happens once more for news that comes during a look", async () => {
    const seen: Array<number> = []
    let news = 1
    let letGo = () => {}
    const tell = looking(async () => {
      const what = news
      if (seen.length === 0)
        await new Promise<void>((resolve) => {
          letGo = resolve
        })
      seen.push(what)
    }, 1)
    tell()
    news = 2
    tell()
    letGo()
    await eventually(() => seen.length === 2, "a second look")
    assert.deepStrictEqual(seen, [1, 2])
  })
})
