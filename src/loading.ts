/** Parts of the program that only some nodes need: loaded when first asked for, not with all else. */
import { Effect } from "effect"

/** What `load` imports, or `failure` where the file is gone or is of another version now. The log has the cause. */
export const loadedLater = <A, E>(what: string, load: () => Promise<A>, failure: () => E): Effect.Effect<A, E> =>
  Effect.tryPromise({ try: load, catch: (cause) => cause }).pipe(
    Effect.tapError((cause) => Effect.logError(`${what} could not be loaded`, cause)),
    Effect.mapError(failure)
  )
