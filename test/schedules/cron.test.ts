/** Instants of cron expressions, held against a reference that looks at every minute of two years. */
import { assert, describe, it } from "@effect/vitest"
import { cronProblem, nextCron } from "../../src/schedules/cron.ts"

const minute = 60_000

interface Local {
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly hour: number
  readonly minute: number
}

/** What the wall shows, as if it were UTC. */
const localOf = (wall: number): Local => {
  const date = new Date(wall)
  return {
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes()
  }
}

/** Milliseconds that the wall is ahead of UTC. No zone changes its clock but at a quarter of an hour. */
const aheadIn = (timezone: string) => {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    hourCycle: "h23"
  })
  let known = { quarter: Number.NaN, ahead: 0 }
  return (ms: number) => {
    const quarter = Math.floor(ms / (15 * minute))
    if (known.quarter !== quarter) {
      const at = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
      const { day = 0, hour = 0, minute: minutes = 0, month = 0, year = 0 } = at
      known = { quarter, ahead: Date.UTC(year, month - 1, day, hour, minutes) - ms }
    }
    return known.ahead
  }
}

/** The values of 0 to 59 that a field takes. */
const fits = (field: string) => {
  const taken = (value: number) =>
    field.split(",").some((part) => {
      const [range = "*", step] = part.split("/")
      const [from, to] = range === "*" ? [0, 99] : range.split("-").map(Number)
      if (from === undefined || value < from || value > (to ?? (step === undefined ? from : 99))) return false
      return step === undefined || (value - from) % Number(step) === 0
    })
  const values = Array.from({ length: 60 }, (_, value) => taken(value))
  return (value: number) => values[value] === true
}

const matcher = (expression: string) => {
  const [minutes = "", hours = "", monthDays = "", months = "", weekDays = ""] = expression.split(" ")
  const [ofMinute, ofHour, ofDay, ofMonth, ofWeekDay] = [minutes, hours, monthDays, months, weekDays].map(fits)
  const isEither = monthDays !== "*" && weekDays !== "*"
  return (at: Local) => {
    if (!ofMinute?.(at.minute) || !ofHour?.(at.hour) || !ofMonth?.(at.month)) return false
    const [byDay, byWeekDay] = [ofDay?.(at.day) === true, ofWeekDay?.(at.weekday) === true]
    return isEither ? byDay || byWeekDay : byDay && byWeekDay
  }
}

interface Minute {
  readonly ms: number
  readonly now: Local
  /** The same time stood on the wall before. */
  readonly isRepeated: boolean
  /** Times that were left out right before it, by a clock that was put forward. */
  readonly leftOut: ReadonlyArray<Local>
}

/** Every minute of a stretch as the wall shows it. */
const walk = (timezone: string, from: number, to: number): ReadonlyArray<Minute> => {
  const ahead = aheadIn(timezone)
  const walked: Array<Minute> = []
  // The latest time that has stood on the wall.
  let latest = from - minute + ahead(from - minute)
  for (let ms = from; ms < to; ms += minute) {
    const wall = ms + ahead(ms)
    const leftOut: Array<Local> = []
    for (let missing = latest + minute; missing < wall; missing += minute) leftOut.push(localOf(missing))
    walked.push({ ms, now: localOf(wall), isRepeated: wall <= latest, leftOut })
    latest = Math.max(latest, wall)
  }
  return walked
}

/** C1 to C3, minute by minute. */
const reference = (expression: string, minutes: ReadonlyArray<Minute>) => {
  const everyHour = expression.split(" ")[1] === "*"
  const matches = matcher(expression)
  return minutes
    .filter(
      ({ isRepeated, leftOut, now }) =>
        (matches(now) && (everyHour || !isRepeated)) || (!everyHour && leftOut.some(matches))
    )
    .map(({ ms }) => ms)
}

const from = Date.parse("2026-01-01T00:00:00Z")
const to = Date.parse("2028-01-01T00:00:00Z")
/** Of both years. */
const cases = [
  "0 2 * * *",
  "30 2 * * *",
  "0 2,3 * * *",
  "0,30 2 * * *",
  "15 1 * * *",
  "0 0 29 2 *",
  "0 0 1 * 1",
  "5 0-3 * * *",
  "45 23 28-31 * *",
  "0 12 * 3,10 0"
]
/** Of the weeks around changes of the clock: they have instants in each hour. */
const dense = ["0 * * * *", "*/20 * * * *"]
const changes = [
  ["2026-03-01", "2026-04-10"],
  ["2026-09-25", "2026-11-05"],
  ["2027-03-10", "2027-04-08"],
  ["2027-09-28", "2027-11-10"]
] as const

describe("instants of a cron expression", () => {
  for (const timezone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
    it(`are those of every minute of two years in ${timezone}`, { timeout: 120_000 }, () => {
      const minutes = walk(timezone, from, to)
      const stretches = changes.map(([begin, end]) => [Date.parse(begin), Date.parse(end)] as const)
      for (const [expression, begin, end] of [
        ...cases.map((expression) => [expression, from, to] as const),
        ...dense.flatMap((expression) => stretches.map(([begin, end]) => [expression, begin, end] as const))
      ]) {
        const found: Array<number> = []
        for (let at = nextCron(expression, timezone, begin - 1); at !== undefined && at < end; ) {
          found.push(at)
          at = nextCron(expression, timezone, at)
        }
        const wanted = reference(
          expression,
          minutes.filter(({ ms }) => ms >= begin && ms < end)
        )
        const differs = found.findIndex((ms, i) => ms !== wanted[i])
        assert.deepStrictEqual(
          [found.length, differs, found[differs], wanted[differs]],
          [wanted.length, -1, undefined, undefined],
          `${expression} in ${timezone}`
        )
      }
    })

  it("may be far away, and begin behind a moment", () => {
    assert.strictEqual(nextCron("0 0 29 2 *", "UTC", from), Date.parse("2028-02-29T00:00:00Z"))
    assert.strictEqual(nextCron("@yearly", "UTC", from), Date.parse("2027-01-01T00:00:00Z"))
    assert.strictEqual(nextCron("0 0 1 1 *", "UTC", to - 1), to)
    assert.strictEqual(nextCron("0 0 * * MON", "UTC", from), Date.parse("2026-01-05T00:00:00Z"))
  })
})

describe("a cron expression", () => {
  it("is refused where it is none, or never comes, or is in no zone", () => {
    for (const [expression, timezone, code] of [
      ["* * * * * *", "UTC", "invalid_cron"],
      ["* * * *", "UTC", "invalid_cron"],
      ["60 * * * *", "UTC", "invalid_cron"],
      ["0 0 31 4 *", "UTC", "invalid_cron"],
      ["0 0 30 2 *", "UTC", "invalid_cron"],
      ["daily", "UTC", "invalid_cron"],
      ["", "UTC", "invalid_cron"],
      ["2026-01-01T00:00:00Z", "UTC", "invalid_cron"],
      ["0 0 * * *", "+01:00", "invalid_timezone"],
      ["0 0 * * *", "Mars/Base", "invalid_timezone"],
      ["0 0 * * *", "", "invalid_timezone"]
    ] as const)
      assert.strictEqual(cronProblem(expression, timezone, from)?.code, code, `${expression} ${timezone}`)
    for (const expression of [
      "* * * * *",
      "0 0 29 2 *",
      "@hourly",
      "@daily",
      "@weekly",
      "@monthly",
      "@yearly",
      "0 9 * * mon-fri"
    ])
      assert.isUndefined(cronProblem(expression, "Europe/Berlin", from), expression)
  })
})
