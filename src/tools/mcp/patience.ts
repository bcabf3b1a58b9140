/**
 * How long a call is waited for: its time, which each word of progress begins anew, and ten times that in all.
 *
 * X1. A server that is silent for the call's time is given up, and so is one that reports progress without an end.
 */
import { Clock, Effect } from "effect"
import { limits } from "../../domain/limits.ts"

/** The longest that a call of this time is waited for. */
export const mostMs = (timeoutMs: number) => timeoutMs * limits.mcpProgressTimes

const nanos = 1_000_000n

/** The work, or why it was given up. `progressed` begins its time anew. */
export const patiently = <A, E, B>(
  timeoutMs: number,
  work: (progressed: () => void) => Effect.Effect<A, E>,
  orElse: (why: string) => Effect.Effect<B, E>
): Effect.Effect<A | B, E> =>
  Clock.clockWith((clock) => {
    const now = () => Number(clock.currentTimeNanosUnsafe() / nanos)
    const end = now() + mostMs(timeoutMs)
    let heard = now()
    let reported = false

    const given = Effect.gen(function* () {
      for (let left = timeoutMs; left > 0; left = Math.min(heard + timeoutMs, end) - now()) yield* Effect.sleep(left)
      if (!reported) return `no result within ${timeoutMs} ms`
      return now() >= end
        ? `no result within ${mostMs(timeoutMs)} ms, ${limits.mcpProgressTimes} times the call's time, though ` +
            "there was progress"
        : `no result, and no progress for ${timeoutMs} ms`
    })
    return Effect.raceFirst(
      work(() => {
        reported = true
        heard = now()
      }),
      Effect.flatMap(given, orElse)
    )
  })
