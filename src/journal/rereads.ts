/**
 * What a node keeps in memory of that which raises the auth revision when it changes: read at the start, and again
 * whenever a beat finds the revision raised, and when the node has joined again after its lease had lapsed.
 *
 * R1. A change between the first read and the first beat after it is not missed: whoever reads listens before.
 * R2. Every read is tried until it comes; one after the first also where it breaks. The node would else go on beating,
 *     and never know.
 */
import { Effect, Schedule, Semaphore, Stream } from "effect"
import { Lease } from "./Lease.ts"

/** Tries until it is read, unless it breaks. */
const retried = <A, E>(what: string, reading: Effect.Effect<A, E>): Effect.Effect<A> =>
  reading.pipe(
    Effect.tapError((cause) => Effect.logWarning(`${what} could not be read: tried again`, cause)),
    Effect.retry(Schedule.spaced("200 millis")),
    Effect.orDie
  )

/** Tries until it is read, whatever goes wrong. `what` is read, in words for the log. */
export const untilRead = <A, E>(what: string, reading: Effect.Effect<A, E>): Effect.Effect<A> =>
  retried(
    what,
    Effect.catchDefect(reading, (defect) => Effect.fail(defect))
  )

/**
 * `read` is given a revision of which everything is committed, and the incarnation as which the node had joined by
 * then. It is done when `read` was once; a first read that breaks breaks it. `what` is read, in words for the log.
 */
export const rereadOnRevision = Effect.fnUntraced(function* <E>(
  what: string,
  read: (revision: number, joinedAs: string) => Effect.Effect<void, E>
) {
  const lease = yield* Lease
  const oneRead = Semaphore.makeUnsafe(1)
  // The lease has its new incarnation before the node has joined as that.
  let joinedAs = lease.incarnation()
  const current = oneRead.withPermits(1)(Effect.suspend(() => read(lease.authRevision(), joinedAs)))
  const reread = untilRead(what, current)
  yield* lease.authChanges.pipe(
    Stream.runForEach(() => reread),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* lease.rejoined.pipe(
    Stream.runForEach((incarnation) =>
      Effect.suspend(() => {
        joinedAs = incarnation
        return reread
      })
    ),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* retried(what, current)
})
