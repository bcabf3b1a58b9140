/**
 * Cron expressions of five fields, in a time zone: when the next instant is. The times on the wall are found first,
 * then the moments at which the zone shows them.
 *
 * C1. A time that a clock put forward leaves out has its instant right after the gap.
 * C2. A time that a clock put back shows twice has one instant, the first.
 * C3. With an hour field of exactly `*` neither holds: every hour that passes has its own instants.
 */
import { Cron } from "croner"
import { LRUCache } from "lru-cache"

const daysMs = 86_400_000
/** An expression without an instant in so many years has none. */
const horizonMs = 28 * 366 * daysMs

const isZone = (timezone: string) => {
  // An offset is not a zone: it knows no summer.
  if (!/^[A-Za-z]/.test(timezone)) return false
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone })
    return true
  } catch {
    return false
  }
}

interface Parsed {
  /** Of an hour field of `*` in the zone; else of times on the wall, as if they were UTC's. */
  readonly cron: Cron
  readonly everyHour: boolean
  readonly offset: (ms: number) => number
  /** The last answer: schedules that share an expression come due together, and ask the same. */
  last?: { readonly after: number; readonly next: number | undefined }
}

const kept = 1_000
const parsedOnes = new LRUCache<string, Parsed>({ max: kept })

/** Milliseconds that local time is ahead of UTC. */
const offsetIn = (timezone: string) => {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: timezone, timeZoneName: "longOffset" })
  return (ms: number) => {
    const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? ""
    const [, sign = "+", hours = "0", minutes = "0", seconds = "0"] =
      /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(name) ?? []
    const total = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000
    return sign === "-" ? -total : total
  }
}

/** `@daily` and its like, as five fields. */
const spelled: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *"
}

const parse = (expression: string, timezone: string): Parsed => {
  const key = `${timezone} ${expression}`
  const found = parsedOnes.get(key)
  if (found !== undefined) return found
  const text = spelled[expression.trim().toLowerCase()] ?? expression.trim()
  const everyHour = text.split(/\s+/)[1] === "*"
  const cron = new Cron(text, { mode: "5-part", timezone: everyHour ? timezone : "UTC", paused: true })
  const parsed: Parsed = { cron, everyHour, offset: offsetIn(timezone) }
  parsedOnes.set(key, parsed)
  return parsed
}

/** Within so long of a moment the clock of a zone changes at most once, and by less. */
const aroundMs = 4 * 3_600_000

/** The moment at which a zone's offset changes, between two that have different ones. */
const changeBetween = (offset: Parsed["offset"], early: number, late: number) => {
  const before = offset(early)
  let [from, to] = [early, late]
  while (to - from > 1_000) {
    const middle = Math.floor((from + to) / 2_000) * 1_000
    if (offset(middle) === before) from = middle
    else to = middle
  }
  return to
}

/** The first moment at which a zone shows a time on the wall (C2), or would have (C1). */
const momentOf = (offset: Parsed["offset"], wall: number) => {
  const near = wall - offset(wall)
  const before = offset(near - aroundMs)
  const after = offset(near + aroundMs)
  const early = wall - before
  if (before === after || offset(early) === before) return early
  const late = wall - after
  return offset(late) === after ? late : changeBetween(offset, near - aroundMs, near + aroundMs)
}

const findNext = ({ cron, everyHour, offset }: Parsed, after: number): number | undefined => {
  let from = everyHour ? after : after + Math.min(offset(after - aroundMs), offset(after))
  for (;;) {
    const found = cron.nextRun(new Date(from))?.getTime()
    if (found === undefined || found > after + horizonMs) return undefined
    const moment = everyHour ? found : momentOf(offset, found)
    if (moment > after) return moment
    from = found
  }
}

/** The first instant after a moment, in milliseconds; undefined where none comes. */
export const nextCron = (expression: string, timezone: string, after: number): number | undefined => {
  const parsed = parse(expression, timezone)
  if (parsed.last?.after !== after) parsed.last = { after, next: findNext(parsed, after) }
  return parsed.last.next
}

export type CronProblem = "invalid_cron" | "invalid_timezone"

/** What is wrong with it, if anything is. */
export const cronProblem = (
  expression: string,
  timezone: string,
  now: number
): { readonly code: CronProblem; readonly message: string } | undefined => {
  if (!isZone(timezone))
    return {
      code: "invalid_timezone",
      message: "timezone: expected a name of the IANA database, such as Europe/Berlin"
    }
  try {
    return nextCron(expression, timezone, now) === undefined
      ? { code: "invalid_cron", message: "expression: it has no instant within 28 years" }
      : undefined
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Cron\w+: /, "") : String(error)
    return { code: "invalid_cron", message: `expression: ${why.slice(0, 200)}` }
  }
}
