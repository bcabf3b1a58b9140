/** Parts of the program that only some nodes need: loaded when first asked for, not with all else. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** Throws where a package that is loaded later is not there: before the node serves anybody. */
export const mustBeInstalled = (packageName: string) => {
  let cause: unknown
  try {
    if (existsSync(fileURLToPath(import.meta.resolve(packageName)))) return
  } catch (error) {
    cause = error
  }
  throw new Error(`The package ${packageName} is not installed: run npm ci again.`, { cause })
}

/**
 * What `load` imports of a package, or `failure` where a file is gone since the node has started: a node without the
 * package throws here, before it serves anybody. The log has the cause. The next use tries again, but Node remembers
 * most imports that failed: then only a new process heals it.
 */
export const loadedLater = <A, E>(
  packageName: string,
  load: () => Promise<A>,
  failure: () => E
): Effect.Effect<A, E> => {
  mustBeInstalled(packageName)
  return Effect.tryPromise({ try: load, catch: (cause) => cause }).pipe(
    Effect.tapError((cause) =>
      Effect.logError(
        `${packageName} could not be loaded: see that the installation is whole, and start this node anew`,
        cause
      )
    ),
    Effect.mapError(failure)
  )
}
