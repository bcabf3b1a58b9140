/** Parts of the program that only some nodes need: loaded when first asked for, not with all else. */
import { Effect } from "effect"

/**
 * What `load` imports, or `failure` where a file is gone or is of another version now. The log has the cause. The next
 * use tries again, but Node remembers most imports that failed: then only a new process heals it.
 */
export const loadedLater = <A, E>(what: string, load: () => Promise<A>, failure: () => E): Effect.Effect<A, E> =>
  Effect.tryPromise({ try: load, catch: (cause) => cause }).pipe(
    Effect.tapError((cause) =>
      Effect.logError(
        `${what} could not be loaded: see that the installation is whole, and start this node anew`,
        cause
      )
    ),
    Effect.mapError(failure)
  )
