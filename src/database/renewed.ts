/**
 * Keeps values that are true for a while. Those in use are read again before their time is over, up to 500 by one
 * statement: one by one, each whenever somebody missed it, 64 busy agents made a third of a node's statements.
 *
 * V1. A value is given out for `freshMs` from when the read that found it began.
 * V2. A renewal puts nothing in the place of what was forgotten, or put, while it read; and nothing at all where values
 *     were forgotten by what they say: what it read may be one of them.
 * V3. Where a renewal fails, or comes late, a value's time ends, and whoever wants it reads it.
 */
import { Duration, Effect } from "effect"
import { LRUCache } from "lru-cache"

interface Entry<A> {
  readonly value: A
  /** By `now`. */
  readonly until: number
  inUse: boolean
}

interface Renewing<A, E> {
  readonly freshMs: number
  /** Values held; the least recently used go first. */
  readonly most: number
  /** Milliseconds. Renewals go by Effect's clock, not by this. */
  readonly now: () => number
  /**
   * Reads these values again, at most 500, in one statement. Those that are not in the answer are held no longer. A
   * failure is ignored (V3).
   */
  readonly read: (held: ReadonlyMap<string, A>) => Effect.Effect<ReadonlyMap<string, A>, E>
}

/** The pause between renewals, as a share of `freshMs`. The rest is for the statement. */
const pauseShare = 0.8
const perStatement = 500

/** Renewals go on until the scope ends. */
export const makeRenewed = Effect.fnUntraced(function* <A, E>({ freshMs, most, now, read }: Renewing<A, E>) {
  const entries = new LRUCache<string, Entry<A>>({ max: most })
  /** How often values were forgotten by what they say. */
  let forgotten = 0
  let inUse: Array<readonly [key: string, entry: Entry<A>]> = []

  const put = (key: string, value: A, began: number) => {
    entries.set(key, { value, until: began + freshMs, inUse: false })
  }

  const renew = Effect.fnUntraced(function* (some: typeof inUse) {
    const [began, before] = [now(), forgotten]
    const found = yield* read(new Map(some.map(([key, { value }]) => [key, value])))
    if (forgotten !== before) return
    for (const [key, entry] of some) {
      if (entries.peek(key) !== entry) continue
      const value = found.get(key)
      if (value === undefined) entries.delete(key)
      else put(key, value, began)
    }
  })

  const renewAll = Effect.suspend(() => {
    const held = inUse.filter(([key, entry]) => entries.peek(key) === entry)
    inUse = []
    const groups = Array.from({ length: Math.ceil(held.length / perStatement) }, (_, i) =>
      held.slice(i * perStatement, (i + 1) * perStatement)
    )
    return Effect.forEach(groups, renew, { discard: true })
  })
  // A failure is no news: requests read for themselves then, and are told.
  const renewing = Effect.catchDefect(Effect.ignore(renewAll), (defect) =>
    Effect.logError("cached values could not be renewed", defect)
  )
  yield* Effect.forkScoped(Effect.forever(Effect.delay(renewing, Duration.millis(pauseShare * freshMs))))

  return {
    /** Undefined: nothing is held, or its time is over. A value that is asked for is in use. */
    get: (key: string): A | undefined => {
      const entry = entries.get(key)
      if (entry === undefined || entry.until <= now()) return undefined
      if (!entry.inUse) {
        entry.inUse = true
        inUse.push([key, entry])
      }
      return entry.value
    },
    /** `began`: milliseconds, by `now`, when the read of it began. */
    put,
    forget: (key: string) => {
      entries.delete(key)
    },
    forgetWhere: (matches: (value: A) => boolean) => {
      forgotten++
      for (const [key, { value }] of entries) if (matches(value)) entries.delete(key)
    },
    clear: () => entries.clear()
  }
})
