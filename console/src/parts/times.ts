/** Moments in words. */

const units = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"]
] as const

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" })
/** Of who looks, with its zone. */
const local = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "long" })

/** By the clock of who looks, and as the interface and logs have it. */
export const exactTime = (at: string, format = local) => `${format.format(Date.parse(at))} (${at})`

export const relativeTime = (at: number, from: number) => {
  const seconds = Math.round((at - from) / 1_000)
  if (Math.abs(seconds) < 2) return "now"
  const [size, unit] = units.find(([size]) => Math.abs(seconds) >= size) ?? [1, "second" as const]
  return relative.format(Math.trunc(seconds / size), unit)
}
