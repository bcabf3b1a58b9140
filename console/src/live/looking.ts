/**
 * Looking again when there is news.
 *
 * K1. One look at a time, and a rest after each: however much news comes, the server is asked so often and no more.
 * K2. Steady news puts no look off, and news that comes during a look is looked after: the last look is behind the last
 *     news.
 */
import { useEffect, useMemo, useRef } from "react"

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** The returned function tells of news. `look` waits for the answer, and must not fail. */
export const looking = (look: () => Promise<unknown>, restMs: number): (() => void) => {
  let isDue = false
  let isLooking = false
  const run = async () => {
    isLooking = true
    while (isDue) {
      isDue = false
      await look()
      await pause(restMs)
    }
    isLooking = false
  }
  return () => {
    isDue = true
    if (!isLooking) void run()
  }
}

/** Looks whenever `news` has become another value. */
export const useLooking = (news: unknown, look: () => Promise<unknown>, restMs: number) => {
  const tell = useMemo(() => looking(look, restMs), [look, restMs])
  const seen = useRef(news)
  useEffect(() => {
    if (seen.current === news) return
    seen.current = news
    tell()
  }, [news, tell])
}
