/** Looks at something again because there is news of it, as often as is good for both sides. */
import { useEffect, useRef } from "react"

export interface Looks {
  readonly tell: () => void
  readonly stop: () => void
}

/**
 * At once after news, then one look at a time with a rest behind each: steady news delays no look, and the last news is
 * always followed by one. `look` never rejects.
 */
export const makeLooks = (look: () => Promise<unknown>, restMs: number): Looks => {
  let isDue = false
  let isBusy = false
  const run = async () => {
    isBusy = true
    while (isDue) {
      isDue = false
      await look()
      await new Promise((resolve) => setTimeout(resolve, restMs))
    }
    isBusy = false
  }
  return {
    tell: () => {
      isDue = true
      if (!isBusy) void run()
    },
    stop: () => {
      isDue = false
    }
  }
}

/** Looks whenever `news` has changed since the component came. */
export const useLooks = (news: unknown, look: () => Promise<unknown>, restMs: number) => {
  const looks = useRef<Looks>(undefined)
  const seen = useRef(news)
  useEffect(() => {
    const made = makeLooks(look, restMs)
    looks.current = made
    return made.stop
  }, [look, restMs])
  useEffect(() => {
    if (seen.current === news) return
    seen.current = news
    looks.current?.tell()
  }, [news])
}
