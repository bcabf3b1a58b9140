/** Timestamps: RFC 3339 in UTC with milliseconds on the wire, milliseconds since 1970 inside. */
import { Schema } from "effect"

export const Timestamp = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, { expected: "an RFC 3339 time in UTC with milliseconds" })
).annotate({ format: "date-time" })

/** Date.parse takes February 31 for March 3. */
const isDay = (text: string) => {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

/** Any RFC 3339 time, for what clients send. */
export const AnyTime = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/, { expected: "an RFC 3339 time" }),
  Schema.makeFilter((text) => isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)) || "an RFC 3339 time")
).annotate({ format: "date-time" })

/** Texts of late: of each 64th millisecond the last one. Many events share a moment, and many threads a few. */
const kept = Array.from({ length: 64 }, () => ({ ms: Number.NaN, text: "" }))

export const toTimestamp = (ms: number) => {
  const slot = kept[ms & 63]
  if (slot === undefined) return new Date(ms).toISOString()
  if (slot.ms !== ms) {
    slot.text = new Date(ms).toISOString()
    slot.ms = ms
  }
  return slot.text
}
export const fromTimestamp = (text: string) => Date.parse(text)
