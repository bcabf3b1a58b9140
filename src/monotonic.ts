/**
 * A time that only goes forward: milliseconds with fractions, since some beginning. It says how long something has
 * lasted, whatever becomes of the calendar's clock, and never when something was. Effect's clock tells it, which a test
 * moves: whoever sleeps by that clock measures by it too.
 */
import { Clock, Effect } from "effect"

export type Monotonic = () => number

const nanos = 1_000_000

/** Reads the clock of whoever makes it, at the cost of a call: no effect is run for it. */
export const makeMonotonic: Effect.Effect<Monotonic> = Clock.clockWith((clock) =>
  Effect.succeed(() => Number(clock.monotonicTimeNanosUnsafe()) / nanos)
)
