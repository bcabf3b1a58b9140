/**
 * Works through what shares statements, so that nobody fails for another.
 *
 * A1. A batch that fails for a reason of its own, or takes too long, is tried again in halves until the guilty one
 *     stands alone; what takes too long, for about 5 s, and each part at least once.
 * A2. A batch that fails because the database is away is tried again as it is, twice.
 */
import { isTimeout, isUnavailable } from "./Database.ts"

const patienceMs = 5_000
const repeats = 2

interface Trouble {
  since: number | undefined
  repeats: number
}

/** `work` may leave some for the next statement: it says which; `fail` hears of the others once they are given up. */
export const apart = async <A>(
  all: ReadonlyArray<A>,
  work: (some: ReadonlyArray<A>) => Promise<ReadonlyArray<A>>,
  fail: (some: ReadonlyArray<A>, cause: unknown) => void
) => {
  const trouble: Trouble = { since: undefined, repeats }
  const settle = async (some: ReadonlyArray<A>): Promise<void> => {
    let open = some
    while (open.length > 0) {
      try {
        open = await work(open)
      } catch (cause) {
        const now = performance.now()
        trouble.since ??= now
        const isOver = isUnavailable(cause) && now - trouble.since > patienceMs
        if (isUnavailable(cause) && !isTimeout(cause)) {
          if (isOver || trouble.repeats-- === 0) return fail(open, cause)
        } else {
          if (isOver || open.length === 1) return fail(open, cause)
          const half = Math.ceil(open.length / 2)
          await settle(open.slice(0, half))
          open = open.slice(half)
        }
      }
    }
  }
  await settle(all)
}
