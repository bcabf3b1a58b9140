/** Times that clients send: RFC 3339, and such that the answer can say them again. */
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
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
