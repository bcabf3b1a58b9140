/** Timestamps: RFC 3339 in UTC with milliseconds on the wire, milliseconds since 1970 inside. */
import { Schema } from "effect"

export const Timestamp = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u, {
    expected: "an RFC 3339 time in UTC with milliseconds"
  })
).annotate({ format: "date-time" })

/** Date.parse takes February 31 for March 3. */
const isDay = (text: string) => {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

const clock = "(?:[01]\\d|2[0-3]):[0-5]\\d"
const date = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])"
const time = `(?:${clock}:[0-5]\\d(?:\\.\\d{1,9})?|24:00:00(?:\\.0{1,9})?)`
const anyTime = `^${date}T${time}(?:Z|[+-]${clock})$`
const isAnyTime = new RegExp(anyTime)

/** The years that a timestamp has digits for: an offset may lead out of them. */
const first = Date.parse("0000-01-01T00:00:00Z")
const last = Date.parse("9999-12-31T23:59:59.999Z")

/** Any RFC 3339 time that is in the years 0 to 9999 of UTC, for what clients send. */
export const AnyTime = Schema.String.check(
  Schema.makeFilter<string>(
    (text) => {
      if (!isAnyTime.test(text) || !isDay(text.slice(0, 10))) return "an RFC 3339 time"
      const ms = Date.parse(text)
      if (Number.isNaN(ms)) return "an RFC 3339 time"
      return (ms >= first && ms <= last) || "a time in the years 0 to 9999"
    },
    {
      toJsonSchema: () => [
        { format: "date-time", pattern: anyTime, description: "In the years 0 to 9999 of UTC." },
        true
      ]
    }
  )
)

const anyDate = `^${date}$`
const isAnyDate = new RegExp(anyDate)

/** A date, or any time, which stands for its day in UTC. */
export const AnyDay = Schema.String.check(
  Schema.makeFilter<string>(
    (text) => {
      if (isAnyDate.test(text) ? isDay(text) : isAnyTime.test(text) && isDay(text.slice(0, 10))) {
        const ms = Date.parse(text)
        if (!Number.isNaN(ms)) return (ms >= first && ms <= last) || "a time in the years 0 to 9999"
      }
      return "a date or an RFC 3339 time"
    },
    {
      toJsonSchema: () => [
        {
          anyOf: [
            { format: "date", pattern: anyDate },
            { format: "date-time", pattern: anyTime }
          ],
          description: "In the years 0 to 9999 of UTC."
        },
        true
      ]
    }
  )
)

const dayMs = 86_400_000

/** Days since 1970 of an `AnyDay`. */
export const dayOf = (text: string) => Math.floor(Date.parse(text) / dayMs)
/** The date of a day since 1970. */
export const dayText = (day: number) => new Date(day * dayMs).toISOString().slice(0, 10)

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
