/** A moment, as long ago as it is; the exact one on hovering. */
import { useSyncExternalStore } from "react"
import { exactTime, relativeTime } from "./times.ts"

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

export const Time = ({ at }: { readonly at: string }) => {
  useSyncExternalStore(subscribe, () => now)
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(ms, Date.now())}
    </time>
  )
}
