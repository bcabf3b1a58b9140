/** When the console asks again (console/src/live/looking.ts). */
import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach, vi } from "vitest"
import { looking } from "../../console/src/live/looking.ts"

describe("looks because of news", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("are not put off by steady news: one at once, then one after each rest, and one behind the last news", async () => {
    const looked: Array<number> = []
    const begun = Date.now()
    const looks = looking(() => Promise.resolve(looked.push(Date.now() - begun)), 200)
    for (let i = 0; i < 20; i++) {
      looks.tell()
      await vi.advanceTimersByTimeAsync(50)
    }
    await vi.advanceTimersByTimeAsync(1_000)
    assert.deepStrictEqual(looked, [0, 200, 400, 600, 800, 1_000])
  })

  it("are one at a time, however long one takes, and none follows without news", async () => {
    let running = 0
    let most = 0
    let count = 0
    const looks = looking(async () => {
      most = Math.max(most, ++running)
      count++
      await new Promise((resolve) => setTimeout(resolve, 700))
      running--
    }, 200)
    for (let i = 0; i < 10; i++) {
      looks.tell()
      await vi.advanceTimersByTimeAsync(100)
    }
    await vi.advanceTimersByTimeAsync(5_000)
    assert.deepStrictEqual([most, count], [1, 3])
  })

  it("are made once more for news that comes during one", async () => {
    const seen: Array<number> = []
    let news = 1
    const looks = looking(async () => {
      const what = news
      await new Promise((resolve) => setTimeout(resolve, 50))
      seen.push(what)
    }, 200)
    looks.tell()
    news = 2
    looks.tell()
    await vi.advanceTimersByTimeAsync(1_000)
    assert.deepStrictEqual(seen, [1, 2])
  })

  it("end when nobody wants them any more, whatever news there is", async () => {
    let count = 0
    const looks = looking(() => Promise.resolve(count++), 200)
    looks.tell()
    looks.tell()
    looks.stop()
    looks.tell()
    await vi.advanceTimersByTimeAsync(1_000)
    assert.strictEqual(count, 1)
  })
})
