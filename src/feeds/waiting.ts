/**
 * Waits until a feed has the message that a page begins with.
 *
 * L1. Listens first, reads then: what is committed in between rings.
 * W6. The feed is read again every two seconds all the same: hints may be lost.
 * W7. Nobody waits for an archived feed, which takes no messages any more.
 */
import { Deferred, Duration, Effect } from "effect"
import type { Bus } from "../bus/Bus.ts"
import type { DatabaseUnavailable } from "../database/Database.ts"
import { makeMonotonic } from "../monotonic.ts"
import type { MessagePage, MessageQuery } from "./reading.ts"

const rereadMs = 2_000

export interface Waiting<E> {
  readonly workspace: string
  readonly feedId: string
  readonly waitMs: number
  readonly read: Effect.Effect<MessagePage | undefined, DatabaseUnavailable>
  /** Whether whoever waits may still be told; asked after each read. */
  readonly admitted?: Effect.Effect<void, E>
  /** What there is has to do. */
  readonly hurries?: () => boolean
}

/** Whether anything could come that the query asks for. */
export const mayCome = ({ endSeq, startSeq = 0, tailOffset }: Omit<MessageQuery, "limit">) =>
  tailOffset === undefined && (endSeq === undefined || endSeq >= startSeq)

/** The page, with what has come meanwhile. `onRing` is given what looks again at once. */
export const awaitMessages = <E = never>(
  bus: Bus["Service"],
  { admitted = Effect.void, feedId, hurries = () => false, read, waitMs, workspace }: Waiting<E>,
  onRing: (ring: () => void) => void = () => {}
): Effect.Effect<MessagePage | undefined, DatabaseUnavailable | E> =>
  Effect.scoped(
    Effect.gen(function* () {
      const monotonic = yield* makeMonotonic
      const until = monotonic() + waitMs
      let rung = Deferred.makeUnsafe<void>()
      const ring = () => {
        Deferred.doneUnsafe(rung, Effect.void)
      }
      onRing(ring)
      yield* bus.subscribe({ workspace }, (hint) => {
        if (hint.type === "look" || (hint.type === "feed" && hint.feedId === feedId)) ring()
      })
      for (;;) {
        rung = Deferred.makeUnsafe<void>()
        const found = yield* read
        yield* admitted
        const left = until - monotonic()
        const isWorthWaiting = found !== undefined && found.from > found.lastSeq && !found.archived
        if (!isWorthWaiting || left <= 0 || hurries()) return found
        yield* Effect.timeoutOption(Deferred.await(rung), Duration.millis(Math.min(left, rereadMs)))
        yield* admitted
      }
    })
  )
