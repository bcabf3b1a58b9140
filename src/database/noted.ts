/**
 * When things of workspaces were last seen or used, gathered in memory and written in batches: a sight must not cost
 * the request that it comes from a statement.
 *
 * O1. A thing is noted at most once a minute, as far as memory goes (`remembered`): what was forgotten is noted again.
 * O2. A batch has each thing once, in the same order on every node, so that no two writers lock crosswise.
 * O3. Batches are written at the pace given, and when the scope ends. A batch that cannot be written is dropped, and
 *     one is lost with its process: the next sight makes it good.
 */
import { type Duration, Effect } from "effect"
import { LRUCache } from "lru-cache"

export interface Note {
  readonly workspace: string
  readonly id: string
  /** Milliseconds. */
  readonly at: number
}

export const noteEveryMs = 60_000
const remembered = 10_000

interface Noting<E> {
  /** Milliseconds. */
  readonly now: () => number
  readonly pace: Duration.Input
  /** One statement. */
  readonly write: (notes: ReadonlyArray<Note>) => Effect.Effect<unknown, E>
}

export const makeNoted = Effect.fnUntraced(function* <E>({ now, pace, write }: Noting<E>) {
  const noted = new LRUCache<string, number>({ max: remembered })
  let pending = new Map<string, Note>()

  const flush = Effect.suspend(() => {
    if (pending.size === 0) return Effect.void
    const batch = [...pending].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, note]) => note)
    pending = new Map()
    return Effect.ignore(write(batch))
  })
  yield* Effect.addFinalizer(() => flush)
  yield* Effect.forkScoped(Effect.forever(Effect.delay(flush, pace)))

  /** When it was noted last, in milliseconds: now, or less than a minute ago. A look-up in memory, nearly always. */
  return (workspace: string, id: string) => {
    const key = workspace + id
    const at = now()
    const last = noted.get(key)
    if (last !== undefined && at - last < noteEveryMs) return last
    noted.set(key, at)
    pending.set(key, { workspace, id, at })
    return at
  }
})
