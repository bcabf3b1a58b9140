/**
 * What a server reports of one call while it runs, as watchers are told of it: as often as a person can follow.
 *
 * G1. While the call runs, the newest report is told within `everyMs`, the ones before it may be left out. Reports that
 *     still wait when the call is over are not told any more.
 */
import { limits } from "../../domain/limits.ts"
import type { Progress } from "../Tool.ts"

const everyMs = 200

/** What a server says is bounded, and has no number that JSON has no word for. */
const bounded = ({ message, progress, total }: Progress): Progress | undefined => {
  if (!Number.isFinite(progress)) return undefined
  return {
    progress,
    ...(total !== undefined && Number.isFinite(total) && { total }),
    ...(message !== undefined && { message: message.slice(0, limits.progressMessageChars).toWellFormed() })
  }
}

export const tellingOf = (tell: (progress: Progress) => void) => {
  let waiting: Progress | undefined
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    timer = undefined
    if (waiting === undefined) return
    const newest = waiting
    waiting = undefined
    timer = setTimeout(next, everyMs)
    tell(newest)
  }
  return {
    report: (progress: Progress) => {
      waiting = bounded(progress) ?? waiting
      if (timer === undefined) next()
    },
    end: () => clearTimeout(timer)
  }
}
