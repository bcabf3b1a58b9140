/** Times that clients send: RFC 3339, and such that the answer can say them again. */
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import fc from "fast-check"
import { AnyTime, fromTimestamp, Timestamp, toTimestamp } from "../../src/domain/time.ts"

const isTime = Schema.is(AnyTime)

it("a time is taken as far as a timestamp has digits for it", () => {
  for (const time of [
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59.999Z",
    "9999-12-31T22:59:59-01:00",
    "0000-01-01T00:00:00Z",
    "2026-02-28T24:00:00Z",
    "2026-01-01T00:00:00.123456789+14:00"
  ]) {
    assert.isTrue(isTime(time), time)
    assert.isTrue(Schema.is(Timestamp)(toTimestamp(fromTimestamp(time))), time)
  }
  for (const time of [
    "9999-12-31T23:59:59-23:59",
    "9999-12-31T23:59:59.999-00:01",
    "9999-12-31T24:00:00Z",
    "0000-01-01T00:00:00+00:01"
  ])
    assert.isFalse(isTime(time), time)
})

it("a timestamp is the text of its moment, whichever came before it", () => {
  const moment = fc.oneof(
    fc.integer({ min: 1_790_000_000_000, max: 1_790_000_003_000 }),
    fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }),
    fc.double({ min: 0, max: 1e12, noNaN: true })
  )
  fc.assert(
    fc.property(fc.array(moment), (moments) => {
      assert.deepStrictEqual(
        moments.map(toTimestamp),
        moments.map((ms) => new Date(ms).toISOString())
      )
    })
  )
})

it("what is no day, no time or not RFC 3339 is refused", () => {
  for (const time of [
    "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-01T25:00:00Z",
    "2026-01-01",
    "2026-01-01T00:00:00",
    "10000-01-01T00:00:00Z",
    "+010000-01-01T00:00:00Z",
    "2026-01-01T00:00Z",
    "now",
    ""
  ]) {
    assert.isFalse(isTime(time), time)
  }
})
