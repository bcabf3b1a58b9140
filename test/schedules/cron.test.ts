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

const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

const localIn = (timezone: string) => {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    month: "numeric",
    day: "numeric",
    weekday: "short",
    hour: "numeric",
    minute: "numeric",
    hourCycle: "h23"
  })
  return (ms: number): Local => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]))
    return {
      month: Number(parts.month),
      day: Number(parts.day),
      weekday: days.indexOf(parts.weekday ?? ""),
      hour: Number(parts.hour),
      minute: Number(parts.minute)
    }
  }
}

const fits = (field: string, value: number) =>
  field.split(",").some((part) => {
    const [range = "*", step] = part.split("/")
    const [from, to] = range === "*" ? [0, 99] : range.split("-").map(Number)
    if (from === undefined || value < from || value > (to ?? (step === undefined ? from : 99))) return false
    return step === undefined || (value - from) % Number(step) === 0
  })

const matches = (expression: string, at: Local) => {
  const [minutes = "", hours = "", monthDays = "", months = "", weekDays = ""] = expression.split(" ")
  const byDay = fits(monthDays, at.day)
  const byWeekDay = fits(weekDays, at.weekday)
  const day = monthDays !== "*" && weekDays !== "*" ? byDay || byWeekDay : byDay && byWeekDay
  return fits(minutes, at.minute) && fits(hours, at.hour) && fits(months, at.month) && day
}

const key = ({ day, hour, minute, month }: Local) => `${month}-${day} ${hour}:${minute}`

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
  const local = localIn(timezone)
  const minutesOf = (at: Local) => at.hour * 60 + at.minute
  const lately: Array<string> = []
  const walked: Array<Minute> = []
  let before = local(from - minute)
  for (let ms = from; ms < to; ms += minute) {
    const now = local(ms)
    const leftOut: Array<Local> = []
    if (now.day === before.day)
      for (let missing = minutesOf(before) + 1; missing < minutesOf(now); missing++)
        leftOut.push({ ...now, hour: Math.floor(missing / 60), minute: missing % 60 })
    walked.push({ ms, now, isRepeated: lately.includes(key(now)), leftOut })
    lately.push(key(now))
    if (lately.length > 240) lately.shift()
    before = now
  }
  return walked
}

/** C1 to C3, minute by minute. */
const reference = (expression: string, minutes: ReadonlyArray<Minute>) => {
  const everyHour = expression.split(" ")[1] === "*"
  return minutes
    .filter(
      ({ isRepeated, leftOut, now }) =>
        (matches(expression, now) && (everyHour || !isRepeated)) ||
        (!everyHour && leftOut.some((missing) => matches(expression, missing)))
    )
    .map(({ ms }) => ms)
}

const cases = [
  "0 2 * * *",
  "30 2 * * *",
  "0 2,3 * * *",
  "0,30 2 * * *",
  "15 1 * * *",
  "0 * * * *",
  "*/20 * * * *",
  "0 0 29 2 *",
  "0 0 1 * 1",
  "5 0-3 * * *",
  "45 23 28-31 * *",
  "0 12 * 3,10 0"
]
const from = Date.parse("2026-01-01T00:00:00Z")
const to = Date.parse("2028-01-01T00:00:00Z")

describe("instants of a cron expression", () => {
  for (const timezone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
    it(`are those of every minute of two years in ${timezone}`, { timeout: 120_000 }, () => {
      // Only days around changes of the clock, and one quiet month, are walked minute by minute.
      const stretches = [
        ["2026-03-01", "2026-04-10"],
        ["2026-09-25", "2026-11-05"],
        ["2027-03-10", "2027-04-08"],
        ["2027-09-28", "2027-11-10"],
        ["2027-12-20", "2028-03-02"]
      ].map((days) => days.map((day) => Date.parse(`${day}T00:00:00Z`)))
      for (const [begin = 0, end = 0] of stretches) {
        const minutes = walk(timezone, begin, end)
        for (const expression of cases) {
          const found: Array<number> = []
          for (let at = nextCron(expression, timezone, begin - 1); at !== undefined && at < end; ) {
            found.push(at)
            at = nextCron(expression, timezone, at)
          }
          assert.deepStrictEqual(
            found.map((ms) => new Date(ms).toISOString()),
            reference(expression, minutes).map((ms) => new Date(ms).toISOString()),
            `${expression} in ${timezone}`
          )
        }
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
