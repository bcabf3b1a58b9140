/**
 * Groups what is asked while the last group is under way: no timer, no delay for the first, unless asked for.
 *
 * B1. At most `lanes` groups are under way, each of at most `max` requests, and of at most
 *     `size.most` together unless one alone is larger.
 * B2. Two requests with the same key are never under way at once.
 * B3. Every request is answered: what a group leaves open fails as a defect.
 */
import { Effect } from "effect"

export interface Batched<In, A, E> {
  readonly item: In
  /** The first answer counts. */
  readonly answer: (result: Effect.Effect<A, E>) => void
}

export interface BatchOptions<In, A, E> {
  readonly max: number
  readonly size?: { readonly of: (item: In) => number; readonly most: number }
  readonly lanes: number
  /** For what nobody waits for: how long a group waits for more. */
  readonly gatherMs?: number
  readonly run: (requests: ReadonlyArray<Batched<In, A, E>>) => Promise<void>
  readonly key?: (item: In) => string
}

interface Waiting<In, A, E> extends Batched<In, A, E> {
  readonly key: string | undefined
  readonly size: number
}

/** A function whose calls share groups. */
export const batched = <In, A, E>({ max, size, lanes, gatherMs, run, key }: BatchOptions<In, A, E>) => {
  let queue: Array<Waiting<In, A, E>> = []
  const busy = new Set<string>()
  let under = 0
  let scheduled = false

  const take = () => {
    const taken: Array<Waiting<In, A, E>> = []
    const left: Array<Waiting<In, A, E>> = []
    let room = size?.most ?? 0
    let full = false
    for (const request of queue) {
      const isBusy = request.key !== undefined && busy.has(request.key)
      // The first that is too large for this group begins the next one.
      full ||= taken.length === max || (!isBusy && taken.length > 0 && request.size > room)
      if (isBusy || full) {
        left.push(request)
      } else {
        if (request.key !== undefined) busy.add(request.key)
        room -= request.size
        taken.push(request)
      }
    }
    queue = left
    return taken
  }

  const mayStart = () => queue.length > 0 && under < lanes

  const pump = () => {
    scheduled = false
    while (mayStart()) {
      const group = take()
      if (group.length === 0) return
      under++
      const finish = (cause: unknown) => {
        under--
        for (const request of group) {
          if (request.key !== undefined) busy.delete(request.key)
          request.answer(Effect.die(cause))
        }
        schedule()
      }
      run(group).then(() => finish(unanswered), finish)
    }
  }

  // What else this turn of the event loop brings joins the same group: also what follows from the answers to the last
  // one.
  const schedule = () => {
    if (scheduled || !mayStart()) return
    scheduled = true
    if (gatherMs === undefined) setImmediate(pump)
    else setTimeout(pump, gatherMs)
  }

  return (item: In): Effect.Effect<A, E> =>
    Effect.callback((resume) => {
      queue.push({ item, key: key?.(item), size: size?.of(item) ?? 0, answer: resume })
      schedule()
    })
}

const unanswered = new Error("a group left a request without an answer")
