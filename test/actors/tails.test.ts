import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { Tails } from "../../actors/thread/replies/tails.ts"

const text = (thread: string, seq: number, size: number) => `${thread}:${seq}:${"x".repeat(size)}`

describe("the kept ends of logs", () => {
  it("answer as the whole log would, or not at all", () => {
    const commit = fc.record({
      thread: fc.constantFrom("a", "b", "c"),
      sizes: fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 4 })
    })
    const ask = fc.record({ after: fc.integer({ min: 0, max: 40 }), limit: fc.integer({ min: 1, max: 20 }) })
    let answered = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(commit, ask), { maxLength: 60 }),
        fc.integer({ min: 0, max: 60_000 }),
        (steps, cap) => {
          const tails = new Tails(cap)
          const logs = new Map<string, Array<string>>()
          for (const [{ sizes, thread }, { after, limit }] of steps) {
            const log = logs.get(thread) ?? []
            logs.set(thread, log)
            const texts = sizes.map((size, i) => text(thread, log.length + i + 1, size))
            if (texts.length > 0) tails.committed(thread, log.length + 1, texts)
            log.push(...texts)
            const found = tails.since(thread, after, log.length, limit)
            if (found === undefined) continue
            answered++
            assert.deepStrictEqual(found, log.slice(after))
            assert.isAtMost(found.length, limit)
          }
        }
      ),
      { numRuns: 300 }
    )
    assert.isAbove(answered, 500)
  })

  it("say nothing of a thread whose log goes on elsewhere", () => {
    const tails = new Tails(1000)
    tails.committed("a", 1, ["one"])
    assert.isUndefined(tails.since("a", 0, 2, 10))
    tails.committed("a", 5, ["five"])
    assert.isUndefined(tails.since("a", 0, 5, 10))
    assert.deepStrictEqual(tails.since("a", 4, 5, 10), ["five"])
  })

  it("are given up by the cap alone, those first that were written least recently", () => {
    // Each takes 330 characters beside its text.
    const tails = new Tails(1_000)
    const kept = () => ["a", "b", "c"].filter((thread) => tails.since(thread, 0, 1, 10) !== undefined)
    tails.committed("a", 1, ["x"])
    tails.committed("b", 1, ["x"])
    tails.committed("c", 1, ["x".repeat(8)])
    assert.deepStrictEqual(kept(), ["a", "b", "c"])
    // A new log of that id takes the place of what was kept, and is the last one from now on.
    tails.committed("a", 1, ["y"])
    tails.committed("c", 1, ["x".repeat(9)])
    assert.deepStrictEqual(kept(), ["a", "c"])
  })

  it("are not kept where one alone is above the cap, and push nobody out", () => {
    const tails = new Tails(400)
    tails.committed("a", 1, ["x"])
    tails.committed("b", 1, ["x".repeat(71)])
    assert.deepStrictEqual(tails.since("a", 0, 1, 10), ["x"])
    assert.isUndefined(tails.since("b", 0, 1, 10))
    tails.committed("a", 2, ["x".repeat(40)])
    assert.isUndefined(tails.since("a", 1, 2, 10))
  })
})
