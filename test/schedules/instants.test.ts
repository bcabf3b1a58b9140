/** Instants of a schedule, and the moments at which they come. */
import { assert, describe, it } from "@effect/vitest"
import { countInstants, jitterOf, newestInstant } from "../../src/schedules/instants.ts"

const minutely = { trigger: { type: "interval" as const, seconds: 60 }, anchor: 0 }
const minute = 60_000

describe("jitter", () => {
  it("is of the schedule and the instant, so the same wherever it is asked for, and within its seconds", () => {
    const instants = Array.from({ length: 1_000 }, (_, i) => i * minute)
    const drawn = instants.map((instant) => jitterOf("sch_1", instant, 30))
    assert.deepStrictEqual(
      instants.map((instant) => jitterOf("sch_1", instant, 30)),
      drawn
    )
    assert.isAtLeast(Math.min(...drawn), 0)
    assert.isAtMost(Math.max(...drawn), 30_000)
    assert.isAbove(new Set(drawn).size, 900)
    assert.notDeepEqual(
      instants.map((instant) => jitterOf("sch_2", instant, 30)),
      drawn
    )
    assert.strictEqual(jitterOf("sch_1", minute, 0), 0)
  })
})

describe("missed instants", () => {
  it("are counted up to 10,000", () => {
    const of = (count: number) => countInstants(minutely, minute, count * minute)
    assert.deepStrictEqual(
      [of(1), of(9_999), of(10_000), of(10_001), of(1_000_000)],
      [1, 9_999, 10_000, 10_000, 10_000]
    )
  })

  it("have a newest, which is the last that has come", () => {
    for (const now of [minute, 90 * minute + 1, 91 * minute - 1, 1_000_000 * minute])
      assert.strictEqual(newestInstant(minutely, minute, now), Math.floor(now / minute) * minute)
    const day = { trigger: { type: "cron" as const, expression: "@daily", timezone: "UTC" }, anchor: 0 }
    assert.strictEqual(newestInstant(day, 86_400_000, 400 * 86_400_000 - 1), 399 * 86_400_000)
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
