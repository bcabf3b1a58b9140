/** Writes lines to standard output in batches: the hot path never waits for a terminal or a pipe. */
import { writeSync } from "node:fs"

export interface Lines {
  /** Adds a line. `urgent` ones leave at once, with all before them. */
  readonly write: (line: string, urgent: boolean) => void
  readonly flush: () => void
}

/** At most this much waits; beyond it the batch leaves at once. */
const capacity = 64 * 1024

/** To a file descriptor; `patience` is how long a line may wait, in milliseconds. */
export const makeLines = (descriptor = 1, patience = 100): Lines => {
  let held = ""
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    if (timer !== undefined) clearTimeout(timer)
    timer = undefined
    let bytes = Buffer.from(held)
    held = ""
    // A pipe whose reader is slow answers EAGAIN. Logs may not hold the server up: what does not fit after a few tries
    // is lost.
    for (let tries = 0; bytes.length > 0 && tries < 20; tries++) {
      try {
        bytes = bytes.subarray(writeSync(descriptor, bytes))
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return
      }
    }
  }
  return {
    write: (line, urgent) => {
      held += `${line}\n`
      if (urgent || held.length > capacity) flush()
      else timer ??= setTimeout(flush, patience).unref()
    },
    flush
  }
}
