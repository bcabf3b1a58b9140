import { assert, describe, it } from "@effect/vitest"
import { Tally } from "../../src/quotas/Tally.ts"

const w = "wsp_1"
const amount = (amount: number, resource: "threads" | "stored_bytes" = "threads") => ({
  workspace: w,
  resource,
  amount
})

describe("what a node knows of a workspace's sums", () => {
  it("counts an amount once, wherever it is on its way to the database and back", () => {
    const tally = new Tally()
    const used = () => tally.used(w, "threads")
    tally.add(w, "threads", 2)
    assert.strictEqual(used(), 2)
    const written = tally.unwritten()
    assert.deepStrictEqual(written, [amount(2)])
    tally.add(w, "threads", 1)
    tally.written(written)
    assert.strictEqual(used(), 3)
    tally.closed([{ workspace: w, until: 100, amounts: [{ ...amount(10), hour: 0 }] }])
    assert.strictEqual(used(), 13)
    tally.opened([w], [amount(2 + 5)])
    assert.strictEqual(used(), 10 + 7 + 1)
    assert.deepStrictEqual(tally.unwritten(), [amount(1)])
  })

  it("keeps what could not be written, for the next round", () => {
    const tally = new Tally()
    tally.add(w, "stored_bytes", 5)
    tally.unwritten()
    tally.add(w, "stored_bytes", 1)
    assert.deepStrictEqual(tally.unwritten(), [amount(6, "stored_bytes")])
  })

  it("tells by the hour when bytes have left the window, never too early", () => {
    const tally = new Tally()
    tally.add(w, "threads", 0)
    tally.closed([
      {
        workspace: w,
        until: 100,
        amounts: [
          { ...amount(10, "stored_bytes"), hour: 2 },
          { ...amount(10, "stored_bytes"), hour: 20 }
        ]
      }
    ])
    assert.deepStrictEqual(
      [1, 10, 11, 20, 21].map((bytes) => tally.freeAfter(w, bytes)),
      [3, 3, 21, 21, 24].map((hours) => hours * 3_600)
    )
  })

  it("forgets a workspace that nobody asks about, but for what it owes the database", () => {
    const tally = new Tally()
    tally.used("wsp_idle", "threads")
    tally.add(w, "threads", 1)
    for (let round = 0; round <= 600; round++) tally.turn()
    assert.deepStrictEqual([tally.unwritten(), tally.stale()], [[amount(1)], []])
  })

  it("is read again by those who ask, the closed sums once a minute", () => {
    const tally = new Tally()
    tally.used(w, "threads")
    assert.deepStrictEqual([tally.stale(), tally.watched()], [[w], []])
    tally.closed([{ workspace: w, until: 7, amounts: [] }])
    assert.deepStrictEqual([tally.stale(), tally.watched()], [[], [{ workspace: w, since: 7 }]])
    for (let round = 0; round < 60; round++) {
      tally.used(w, "threads")
      tally.turn()
    }
    assert.deepStrictEqual(tally.stale(), [w])
    for (let round = 0; round < 20; round++) tally.turn()
    assert.deepStrictEqual([tally.stale(), tally.watched()], [[], []])
  })
})
