/**
 * Reads that many ask for at once: whoever comes while one is under way gets its answer.
 *
 * Q1. A read is of nobody who asks: whoever was first may leave, and the others wait for the same answer.
 * Q2. What was forgotten while it was read is told to those who wait, and not kept.
 */
import { Deferred, Effect, Exit } from "effect"

export const makeSharing = <A, E>() => {
  const underWay = new Map<string, Deferred.Deferred<A, E>>()
  return {
    /** `keep` is told the answer, unless its key was forgotten meanwhile. */
    ask: (key: string, read: Effect.Effect<A, E>, keep: (answer: A) => void): Effect.Effect<A, E> =>
      // An interrupt between the two would leave a key behind whose answer never comes.
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const other = underWay.get(key)
          if (other !== undefined) return restore(Deferred.await(other))
          const answer = Deferred.makeUnsafe<A, E>()
          underWay.set(key, answer)
          const answering = Effect.onExit(read, (exit) =>
            Effect.sync(() => {
              if (underWay.get(key) === answer) {
                underWay.delete(key)
                if (Exit.isSuccess(exit)) keep(exit.value)
              }
              Deferred.doneUnsafe(answer, exit)
            })
          )
          return Effect.andThen(Effect.forkDetach(answering), restore(Deferred.await(answer)))
        })
      ),
    /** What is under way for the key is not to be kept, and whoever asks from now on reads again. */
    forget: (key: string) => {
      underWay.delete(key)
    },
    forgetAll: () => underWay.clear()
  }
}
