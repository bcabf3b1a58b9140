/** Moments in words. */

const units = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"]
] as const

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" })
/** In the time zone of whoever looks, which is named. */
const local = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long" })

/** A moment by the clock of whoever looks and, in brackets, as the API and logs have it. `at` is ISO 8601. */
export const exactTime = (at: string, format = local) => `${format.format(Date.parse(at))} (${at})`

/** How long before or after `from` it is: "3h ago". Both in milliseconds. */
export const relativeTime = (at: number, from: number) => {
  const seconds = Math.round((at - from) / 1_000)
  if (Math.abs(seconds) < 2) return "now"
  const [size, unit] = units.find(([size]) => Math.abs(seconds) >= size) ?? [1, "second" as const]
  return relative.format(Math.trunc(seconds / size), unit)
}
