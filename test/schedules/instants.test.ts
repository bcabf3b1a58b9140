/** Instants of a schedule, and the moments at which they come. */
import { assert, describe, it } from "@effect/vitest"
import { countInstants, momentOf, newestInstant } from "../../src/schedules/instants.ts"

const minutely = { trigger: { type: "interval" as const, seconds: 60 }, anchor: 0 }
const minute = 60_000

const daily = { trigger: { type: "cron" as const, expression: "@daily", timezone: "UTC" }, anchor: 0 }
const day = 86_400_000

describe("jitter", () => {
  it("is of the schedule and the instant, so the same wherever it is asked for, and within its seconds", () => {
    const instants = Array.from({ length: 1_000 }, (_, i) => i * day)
    const of = (id: string) => instants.map((instant) => momentOf(daily, id, 30, instant) - instant)
    const drawn = of("sch_1")
    assert.deepStrictEqual(of("sch_1"), drawn)
    assert.isAtLeast(Math.min(...drawn), 0)
    assert.isAtMost(Math.max(...drawn), 30_000)
    assert.isAbove(new Set(drawn).size, 900)
    assert.notDeepEqual(of("sch_2"), drawn)
    assert.strictEqual(momentOf(daily, "sch_1", 0, day), day)
  })

  it("ends before the instant that follows, so that each has its own moment, in order", () => {
    const moments = Array.from({ length: 1_000 }, (_, i) => momentOf(minutely, "sch_1", 3_600, i * minute))
    for (const [i, moment] of moments.entries()) {
      assert.isAtLeast(moment, i * minute)
      assert.isBelow(moment, (i + 1) * minute)
    }
    assert.isAbove(new Set(moments.map((moment) => moment % minute)).size, 900)
    const last = { ...minutely, endAt: minute }
    assert.isAbove(
      Math.max(...Array.from({ length: 20 }, (_, i) => momentOf(last, `sch_${i}`, 3_600, minute))),
      2 * minute
    )
  })
})

describe("missed instants", () => {
  it("are counted up to 10,000, so many at a time", () => {
    const of = (count: number) => {
      const counted = countInstants(minutely, minute, count * minute, 100)
      for (let stops = 0; ; stops++) {
        const { done, value } = counted.next()
        if (done) return [value, stops]
      }
    }
    assert.deepStrictEqual(
      [of(1), of(99), of(100), of(9_999), of(10_000), of(10_001), of(1_000_000)],
      [
        [1, 0],
        [99, 0],
        [100, 1],
        [9_999, 99],
        [10_000, 100],
        [10_000, 100],
        [10_000, 100]
      ]
    )
  })

  it("have a newest, which is the last that has come", () => {
    for (const now of [minute, 90 * minute + 1, 91 * minute - 1, 1_000_000 * minute])
      assert.strictEqual(newestInstant(minutely, minute, now), Math.floor(now / minute) * minute)
    assert.strictEqual(newestInstant(daily, day, 400 * day - 1), 399 * day)
  })

  it("are the first alone where the trigger has had none since", () => {
    const now = Date.parse("2026-01-01T00:00:00.000Z")
    const later = new Date(now + minute).toISOString()
    for (const clockwork of [
      { trigger: { type: "once" as const, at: later }, anchor: now },
      { trigger: { type: "once" as const, at: new Date(now - 10 * minute).toISOString() }, anchor: now },
      { trigger: { type: "interval" as const, seconds: 120 }, anchor: now },
      { trigger: { type: "interval" as const, seconds: 60, startAt: later }, anchor: now },
      { trigger: { type: "cron" as const, expression: "0 9 * * *", timezone: "UTC" }, anchor: now },
      { ...minutely, endAt: now - 5 * minute }
    ])
      assert.strictEqual(newestInstant(clockwork, now - 3 * minute, now), now - 3 * minute)
  })
})
