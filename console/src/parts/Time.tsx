/** A moment, as long ago as it is; the exact one on hovering. */
import { useSyncExternalStore } from "react"

const everyMs = 10_000
let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

const subscribe = (listen: () => void) => {
  listeners.add(listen)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, everyMs)
  return () => {
    listeners.delete(listen)
    if (listeners.size > 0 || timer === undefined) return
    clearInterval(timer)
    timer = undefined
  }
}

const units = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"]
] as const

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" })
const exact = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" })

export const relativeTime = (at: number, from: number) => {
  const seconds = Math.round((at - from) / 1_000)
  if (Math.abs(seconds) < 2) return "now"
  const [size, unit] = units.find(([size]) => Math.abs(seconds) >= size) ?? [1, "second" as const]
  return relative.format(Math.trunc(seconds / size), unit)
}

export const Time = ({ at }: { readonly at: string }) => {
  useSyncExternalStore(subscribe, () => now)
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={exact.format(ms)}>
      {relativeTime(ms, Date.now())}
    </time>
  )
}
