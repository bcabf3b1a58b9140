/**
 * What signals do. SIGINT and SIGTERM interrupt the main program: a server begins its drain.
 *
 * C1. Signals of two seconds are one: npm hands on the Ctrl-C that a terminal has sent to npm and to us, and a
 *     supervisor that signals a whole group does the same. A later one is an order: the process ends at once.
 * C2. A drain that takes longer than it may is cut off.
 * C3. Either way what has been started beside us is told to end as the process leaves: no finalizer runs by then.
 * C4. A terminal that is closed (SIGHUP) is a SIGTERM, once: a shell and the kernel both tell of it, and not always
 *     together.
 * C5. Nobody may be there to read what a server says: that is no reason to end, and none to cut a drain short.
 */
import { Effect } from "effect"

const oneMs = 2_000

/** C5. Node throws what a stream says that nobody listens to. */
const outliveReaders = () => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})
}

/** For any command, as long as the process lives (C4): many have a database beside them, which no hang-up reaches. */
export const leaveOnHangup = () => {
  let gone = false
  process.on("SIGHUP", () => {
    if (gone) return
    gone = true
    outliveReaders()
    process.kill(process.pid, "SIGTERM")
  })
}

/** Watches as long as the scope is open. `stopSeconds`: what programs beside us take to end, after the drain. */
export const watchSignals = (drainSeconds: number, stopSeconds = 0) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      // Not taken back: the last words come after the scope's end.
      outliveReaders()
      let first: number | undefined
      const timers: Array<NodeJS.Timeout> = []
      const later = (ms: number, run: () => void) => timers.push(setTimeout(run, ms).unref())
      const onSignal = () => {
        if (first !== undefined) {
          if (performance.now() - first >= oneMs) process.exit(130)
          return
        }
        first = performance.now()
        later((drainSeconds + stopSeconds) * 1_000 + 500, () => {
          process.stderr.write(`the drain took longer than ${drainSeconds + stopSeconds} s and was cut off\n`)
          process.exit(0)
        })
        // On a terminal somebody waits, and does not know for what.
        if (process.stderr.isTTY) {
          later(oneMs, () =>
            process.stderr.write(`Work under way has ${drainSeconds} s to end. Ctrl-C once more ends it at once.\n`)
          )
        }
      }
      process.on("SIGINT", onSignal).on("SIGTERM", onSignal)
      return () => {
        process.off("SIGINT", onSignal).off("SIGTERM", onSignal)
        timers.forEach(clearTimeout)
      }
    }),
    (stop) => Effect.sync(stop)
  )
