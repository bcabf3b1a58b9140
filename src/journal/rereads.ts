/**
 * What a node keeps in memory of that which raises the auth revision when it changes: read at the start, and again
 * whenever a beat finds the revision raised.
 *
 * R1. A change between the first read and the first beat after it is not missed: whoever reads listens before.
 * R2. Whatever goes wrong, a read after the first is tried until it comes. The node would else go on beating, and never
 *     know.
 */
import { Effect, Schedule, Semaphore, Stream } from "effect"
import { Lease } from "./Lease.ts"

/**
 * `read` is given a revision of which everything is committed. It is done when `read` was once; a first read that
 * breaks breaks it. `what` is read, in words for the log.
 */
export const rereadOnRevision = Effect.fnUntraced(function* <E>(
  what: string,
  read: (revision: number) => Effect.Effect<void, E>
) {
  const lease = yield* Lease
  const oneRead = Semaphore.makeUnsafe(1)
  const current = oneRead.withPermits(1)(Effect.suspend(() => read(lease.authRevision())))
  const tried = <F>(reading: Effect.Effect<void, F>) =>
    reading.pipe(
      Effect.tapError((cause) => Effect.logWarning(`${what} could not be read: tried again`, cause)),
      Effect.retry(Schedule.spaced("200 millis")),
      Effect.orDie
    )
  yield* lease.authChanges.pipe(
    Stream.runForEach(() => tried(Effect.catchDefect(current, (defect) => Effect.fail(defect)))),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* tried(current)
})
