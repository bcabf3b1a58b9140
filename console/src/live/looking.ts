/**
 * Looking again when there is news.
 *
 * K1. One look at a time, and a rest after each: however much news comes, the server is asked so often and no more.
 * K2. Steady news puts no look off, and news that comes during a look is looked after: the last look is behind the last
 *     news.
 * K3. Who has left looks no more.
 */
import { useEffect, useRef } from "react"

export interface Looking {
  /** There is news. */
  readonly tell: () => void
  /** Nobody wants looks any more: a look that runs is the last. */
  readonly stop: () => void
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** `look` waits for the answer, and must not fail. */
export const looking = (look: () => Promise<unknown>, restMs: number): Looking => {
  let isDue = false
  let isLooking = false
  let isOver = false
  const run = async () => {
    isLooking = true
    while (isDue && !isOver) {
      isDue = false
      await look()
      await pause(restMs)
    }
    isLooking = false
  }
  return {
    tell: () => {
      isDue = true
      if (!isLooking) void run()
    },
    stop: () => {
      isOver = true
    }
  }
}

/** Looks whenever `news` has become another value since the component came. */
export const useLooking = (news: unknown, look: () => Promise<unknown>, restMs: number) => {
  const current = useRef<Looking>(undefined)
  const seen = useRef(news)
  useEffect(() => {
    const made = looking(look, restMs)
    current.current = made
    return made.stop
  }, [look, restMs])
  useEffect(() => {
    if (seen.current === news) return
    seen.current = news
    current.current?.tell()
  }, [news])
}
