/**
 * Has another process end with this one however this one ends, a kill -9 apart: `process.exit` and an uncaught
 * exception run no finalizer, but they do say "exit".
 */
export interface Leash {
  /** `end` asks the other process to end. It is called in the last moment, and may not wait for anything. */
  readonly hold: (end: () => void) => void
  /** The other process has ended, or is another's now. */
  readonly release: () => void
}

export const makeLeash = (): Leash => {
  let held = () => {}
  const onExit = () => {
    try {
      held()
    } catch {
      // It has ended already.
    }
  }
  process.once("exit", onExit)
  return {
    hold: (end) => {
      held = end
    },
    release: () => {
      process.off("exit", onExit)
    }
  }
}
