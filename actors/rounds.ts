/**
 * Looks that are repeated: a whole one every second, and between two of them one at the shards that hints have named.
 *
 * M1. However many hints come, the whole look has its turn.
 * M2. A look that fails is logged and followed by the next.
 */
import { Deferred, Effect } from "effect"
import type { Lease } from "../src/journal/Lease.ts"
import type { Monotonic } from "../src/monotonic.ts"

/** Milliseconds between whole looks. */
export const wholeEvery = 1_000

/**
 * How long before its moment an actor is taken into memory, and does not leave it any more: some looks, so that the
 * moment itself waits for none of them.
 */
export const aheadMs = 5 * wholeEvery

/** Looks that hints bring forward are at least so many milliseconds apart. */
const hintedEvery = 20

export interface Looks {
  readonly lease: Pick<Lease["Service"], "fenced" | "now">
  readonly monotonic: Monotonic
  readonly whole: Effect.Effect<void, unknown>
  readonly hinted: (isNamed: (shard: number) => boolean) => Effect.Effect<void, unknown>
  /** In the logs. */
  readonly what: string
}

/** What nobody waits for. */
export const safely = <E>(effect: Effect.Effect<void, E>, what: string) =>
  effect.pipe(
    Effect.tapCause((cause) => Effect.logWarning(`${what} failed`, cause)),
    Effect.ignoreCause
  )

export const makeRounds = ({ hinted, lease, monotonic, what, whole }: Looks) => {
  let named = new Set<number | "all">()
  let bell = Deferred.makeUnsafe<void>()
  let last = monotonic()
  return {
    /** Brings a look at that shard forward, or at all of them. */
    ring: (shard: number | "all") => {
      named.add(shard)
      Deferred.doneUnsafe(bell, Effect.void)
    },
    /** When a whole look last went well, by the monotonic clock. */
    last: () => last,
    /** Looks for ever. A fenced node does not look. */
    run: Effect.gen(function* () {
      let next = lease.now()
      for (;;) {
        const rung = yield* Effect.timeoutOption(Deferred.await(bell), Math.max(0, next - lease.now()))
        bell = Deferred.makeUnsafe<void>()
        const isWhole = rung._tag === "None" || lease.now() >= next
        if (isWhole) next = lease.now() + wholeEvery
        const due = named
        named = new Set()
        const look = isWhole
          ? Effect.andThen(
              whole,
              Effect.sync(() => {
                last = monotonic()
              })
            )
          : hinted((shard) => due.has("all") || due.has(shard))
        if (!lease.fenced()) yield* safely(look, what)
        if (!isWhole) yield* Effect.sleep(hintedEvery)
      }
    })
  }
}
