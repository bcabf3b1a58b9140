import { assert, describe, it } from "@effect/vitest"
import { FairQueue } from "../../src/judging/FairQueue.ts"

const made = () => new FairQueue<string>({ ms: 200, windowMs: 5_000 })

describe("a fair queue", () => {
  it("serves a workspace in order, one piece of work at a time", () => {
    const queue = made()
    for (const work of ["a1", "a2"]) queue.add("a", work)
    assert.strictEqual(queue.next(0), "a1")
    assert.isUndefined(queue.next(0))
    queue.done("a", 0, 0)
    assert.strictEqual(queue.next(0), "a2")
    assert.strictEqual(queue.size, 0)
  })

  it("serves workspaces by turns, however much one has brought", () => {
    const queue = made()
    for (let i = 1; i <= 50; i++) queue.add("a", `a${i}`)
    queue.add("b", "b1")
    const served: Array<string | undefined> = []
    for (let i = 0; i < 4; i++) {
      served.push(queue.next(0))
      queue.done(i === 1 ? "b" : "a", 0, 0)
    }
    assert.deepStrictEqual(served, ["a1", "b1", "a2", "a3"])
  })

  it("makes a workspace wait once its budget is used up, and nobody else", () => {
    const queue = made()
    for (const work of ["a1", "a2"]) queue.add("a", work)
    queue.next(0)
    queue.done("a", 200, 200)
    queue.add("b", "b1")
    assert.strictEqual(queue.next(200), "b1")
    assert.isUndefined(queue.next(200))
    queue.done("b", 0, 200)
    // 8 ms of the 200 came back while it ran.
    assert.strictEqual(queue.next(201), "a2")
  })

  it("gives the budget back over the window, and says when work may start again", () => {
    const queue = made()
    queue.add("a", "a1")
    queue.next(0)
    queue.done("a", 300, 0)
    queue.add("a", "a2")
    assert.strictEqual(queue.pauseMs(0), 2_501)
    assert.isUndefined(queue.next(2_500))
    assert.strictEqual(queue.next(2_501), "a2")
  })

  it("never holds more than the budget, however long nothing was asked", () => {
    const queue = made()
    queue.add("a", "a1")
    queue.next(0)
    queue.done("a", 10, 0)
    queue.add("a", "a2")
    queue.next(1_000_000)
    queue.done("a", 200, 1_000_000)
    queue.add("a", "a3")
    assert.isUndefined(queue.next(1_000_000))
  })

  it("has nothing to wait for where nothing waits, or where all that waits has work under way", () => {
    const queue = made()
    assert.isUndefined(queue.pauseMs(0))
    for (const work of ["a1", "a2"]) queue.add("a", work)
    assert.strictEqual(queue.pauseMs(0), 0)
    queue.next(0)
    assert.isUndefined(queue.pauseMs(0))
  })

  it("takes work out again, and puts what has to be done again before the rest of its workspace", () => {
    const queue = made()
    for (const work of ["a1", "a2", "a3"]) queue.add("a", work)
    assert.isTrue(queue.remove("a", "a2"))
    assert.isFalse(queue.remove("a", "a2"))
    const first = queue.next(0)
    queue.done("a", 0, 0)
    queue.addAgain("a", first!)
    assert.strictEqual(queue.size, 2)
    assert.deepStrictEqual(queue.clear(), ["a1", "a3"])
    assert.strictEqual(queue.size, 0)
  })
})
