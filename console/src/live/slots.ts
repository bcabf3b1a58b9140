/**
 * Streams of this browser: browsers open six connections to a server at once, and each stream holds one. Four may be
 * open over all tabs; a tab without one polls. So does a page that came over http from elsewhere than this machine:
 * browsers have no locks for it, and nobody counts the streams.
 */
const most = 4

/** Runs `use` as soon as a stream may be opened, until it is over or `signal` ends it. False: none was free. */
export const withStream = async (signal: AbortSignal, use: () => Promise<void>): Promise<boolean> => {
  if (!("locks" in navigator)) return false
  for (let slot = 1; slot <= most; slot++) {
    let took = false
    await navigator.locks.request(`troupe.stream.${slot}`, { ifAvailable: true }, async (lock) => {
      if (lock === null || signal.aborted) return
      took = true
      await use()
    })
    if (took) return true
  }
  return false
}

/** Aborted while the tab is hidden: its stream is somebody else's then. */
export const whileSeen = (begin: (signal: AbortSignal) => void): (() => void) => {
  let running: AbortController | undefined
  const turn = () => {
    if (document.visibilityState === "visible") {
      if (running !== undefined) return
      running = new AbortController()
      begin(running.signal)
    } else {
      running?.abort()
      running = undefined
    }
  }
  document.addEventListener("visibilitychange", turn)
  turn()
  return () => {
    document.removeEventListener("visibilitychange", turn)
    running?.abort()
  }
}

export const rest = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener("abort", end)
  })
