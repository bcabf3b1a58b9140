/**
 * Steps that are mostly taken from memory: an effect that has succeeded already is gone on from at
 * once, without a fiber's step. What `Effect.succeed` gives is such an effect. What follows is then
 * run by the call, and once: a throw is the caller's.
 */
import { Effect, Exit } from "effect"

export const isDone = <A, E>(effect: Effect.Effect<A, E>): effect is Exit.Success<A, E> =>
  Exit.isExit(effect) && Exit.isSuccess(effect)

/** As `Effect.flatMap`. */
export const flatMapNow = <A, E, B, E2, R = never>(
  effect: Effect.Effect<A, E>,
  step: (value: A) => Effect.Effect<B, E2, R>
): Effect.Effect<B, E | E2, R> => (isDone(effect) ? step(effect.value) : Effect.flatMap(effect, step))

/** As `Effect.map`. */
export const mapNow = <A, E, B>(effect: Effect.Effect<A, E>, as: (value: A) => B): Effect.Effect<B, E> =>
  isDone(effect) ? Effect.succeed(as(effect.value)) : Effect.map(effect, as)

/** As `Effect.mapError`. */
export const mapErrorNow = <A, E, E2>(effect: Effect.Effect<A, E>, as: (error: E) => E2): Effect.Effect<A, E2> =>
  isDone(effect) ? Effect.succeed(effect.value) : Effect.mapError(effect, as)
