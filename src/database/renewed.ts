/**
 * Values that are true for a while, kept in memory. What is in use is read again before its time is over, all of it by
 * one statement: read one by one, each whenever somebody missed it, 64 busy agents were two fifths of all statements.
 *
 * V1. A value is given out for `freshMs` from when the read that found it began.
 * V2. A renewal puts nothing in the place of what was forgotten, or put, while it read.
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

export interface Renewal<A, E> {
  readonly freshMs: number
  /** Values held; the least recently used go first. */
  readonly most: number
  /** Milliseconds. */
  readonly now: () => number
  /** Reads such values again, in one statement. Those that it does not name are held no longer. */
  readonly read: (held: ReadonlyMap<string, A>) => Effect.Effect<ReadonlyMap<string, A>, E>
}

/** Of its time, what a value in use has behind it when it is read again: the rest is for the statement. */
const renewAfter = 0.8
const perStatement = 500

export const makeRenewed = Effect.fnUntraced(function* <A, E>({ freshMs, most, now, read }: Renewal<A, E>) {
  const entries = new LRUCache<string, Entry<A>>({ max: most })
  let inUse: Array<readonly [key: string, entry: Entry<A>]> = []

  const put = (key: string, value: A, began: number) => {
    entries.set(key, { value, until: began + freshMs, inUse: false })
  }

  const renew = Effect.fnUntraced(function* (some: typeof inUse) {
    const began = now()
    const found = yield* read(new Map(some.map(([key, { value }]) => [key, value])))
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
  // Requests will say what the database has: they read for themselves then.
  const renewing = Effect.catchDefect(Effect.ignore(renewAll), (defect) =>
    Effect.logError("what is in use could not be read again", defect)
  )
  yield* Effect.forkScoped(Effect.forever(Effect.delay(renewing, Duration.millis(renewAfter * freshMs))))

  return {
    get: (key: string): A | undefined => {
      const entry = entries.get(key)
      if (entry === undefined || entry.until <= now()) return undefined
      if (!entry.inUse) {
        entry.inUse = true
        inUse.push([key, entry])
      }
      return entry.value
    },
    /** `began`: when the read of it began, by `now`. */
    put,
    forget: (key: string) => {
      entries.delete(key)
    },
    forgetWhere: (matches: (value: A) => boolean) => {
      for (const [key, { value }] of entries) if (matches(value)) entries.delete(key)
    },
    clear: () => entries.clear()
  }
})
