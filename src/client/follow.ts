/**
 * What happens in a thread, or in a workspace, for as long as somebody wants to know.
 *
 * F1. No event of a thread is skipped, and none comes twice: each connection begins behind the last seq that was seen.
 * F2. A connection that ends is followed by the next one: at once where the node only goes away, else after a growing
 *     pause. A refusal that would come again (a key that has ended, a thread that is gone) is thrown.
 * F3. A workspace's hints have no record: after a connection was lost, `gap` says that some may be missing.
 * F4. Steps of a thread come each once and in order too, with the events that they wrote before them.
 */
import type { Troupe } from "./client.ts"
import { TroupeError } from "./errors.ts"
import { type Frame, readFrames } from "./frames.ts"
import type { components } from "./types.ts"

/** A ThreadEvent, as it stands in the log. */
export type LogEvent = components["schemas"]["EventPage"]["events"][number]

export interface FollowOptions {
  /** Seq behind which to begin. Default: 0, the whole log. */
  readonly afterSeq?: number
  /** The text of responses while models write it, too. */
  readonly deltas?: boolean
  /** What the thread's commands did, too: frames `step`. */
  readonly steps?: boolean
  readonly signal: AbortSignal
  /** The line is there, or was lost. */
  readonly onLine?: (isOpen: boolean) => void
}

const firstPauseMs = 500
const longestPauseMs = 15_000

const rest = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end)
      resolve()
    }, ms)
    signal.addEventListener("abort", end, { once: true })
  })

const isFinal = (failure: unknown) =>
  failure instanceof TroupeError && failure.status >= 400 && failure.status < 500 && failure.status !== 429

interface Line {
  readonly path: () => string
  readonly signal: AbortSignal
  readonly onLine: ((isOpen: boolean) => void) | undefined
  /** Said before whatever comes of a connection that is not the first. */
  readonly reconnected?: Frame
}

/** F2. */
async function* lines(
  { open }: Pick<Troupe, "open">,
  { reconnected, onLine, path, signal }: Line
): AsyncGenerator<Frame, void, undefined> {
  let failures = 0
  for (let connection = 0; !signal.aborted; connection++) {
    let leaves = false
    try {
      for await (const frame of readFrames((both) => open(path(), { signal: both }), signal)) {
        if (frame.event === "ready") {
          failures = 0
          onLine?.(true)
          if (connection > 0 && reconnected !== undefined) yield reconnected
        }
        if (frame.event === "bye") leaves = true
        yield frame
      }
    } catch (failure) {
      if (signal.aborted) return
      if (isFinal(failure)) throw failure
    }
    if (signal.aborted) return
    onLine?.(false)
    if (!leaves) await rest(Math.min(longestPauseMs, firstPauseMs * 2 ** failures++), signal)
  }
}

const numberOf = (data: unknown, name: "pos" | "seq" | "toSeq") => {
  const found = new Map(Object.entries(data ?? {})).get(name)
  return typeof found === "number" ? found : undefined
}

/** Steps come only where they are named, and with them all else has to be. */
const withSteps = "event,delta,discard,status,queue,wait,progress,step"

/** A thread's frames; those named `event` hold the whole ThreadEvents, each once and in order (F1). */
export async function* followThread(
  troupe: Pick<Troupe, "open">,
  threadId: string,
  { afterSeq = 0, deltas = false, onLine, signal, steps = false }: FollowOptions
): AsyncGenerator<Frame, void, undefined> {
  let seen = afterSeq
  /** Position of the last step, and seq of the last event that one wrote: events go ahead of their steps. */
  let stepped = 0
  let steppedSeq = afterSeq
  const more = `${deltas ? "&deltas=text" : ""}${steps ? `&types=${withSteps}` : ""}`
  const begin = () => (steps ? Math.min(seen, steppedSeq) : seen)
  const path = () => `/v1/threads/${encodeURIComponent(threadId)}/events/stream?afterSeq=${begin()}${more}`
  for (;;) {
    // Of a stream that has left events out, the next connection replays them.
    let missed = false
    const line = new AbortController()
    for await (const frame of lines(troupe, { path, signal: AbortSignal.any([signal, line.signal]), onLine })) {
      if (frame.event === "event") {
        const seq = numberOf(frame.data, "seq")
        if (seq === undefined || seq <= seen) continue
        if (seq > seen + 1) {
          missed = true
          break
        }
        seen = seq
      }
      if (frame.event === "step") {
        const pos = numberOf(frame.data, "pos")
        if (pos === undefined || pos <= stepped) continue
        stepped = pos
        steppedSeq = numberOf(frame.data, "toSeq") ?? steppedSeq
      }
      if (frame.event === "gap") {
        missed = true
        break
      }
      yield frame
    }
    line.abort()
    if (!missed || signal.aborted) return
  }
}

/** A workspace's hints (F3). */
export const followWorkspace = (
  troupe: Pick<Troupe, "open">,
  { onLine, signal, types }: Pick<FollowOptions, "onLine" | "signal"> & { readonly types: ReadonlyArray<string> }
): AsyncGenerator<Frame, void, undefined> =>
  lines(troupe, {
    path: () => `/v1/events/stream?types=${types.join(",")}`,
    signal,
    onLine,
    reconnected: { event: "gap", data: {} }
  })
