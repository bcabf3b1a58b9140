/**
 * A transaction that its work may withdraw from.
 *
 * W1. Where the work returns a failure, everything is rolled back, and the effect fails with it.
 */
import { Effect, Result } from "effect"
import type { Database, DatabaseUnavailable } from "./Database.ts"
import type { Tx } from "./handle.ts"

/** Carries a failure out of a transaction, which only a rejected promise rolls back. */
class Withdrawn<E> extends Error {
  readonly failure: E
  constructor(failure: E) {
    super("withdrawn")
    this.failure = failure
  }
}

/** As `atomically`; the work may run more than once. */
export const withdrawable =
  ({ atomically }: Pick<Database["Service"], "atomically">) =>
  <A, E>(
    operation: string,
    work: (tx: Tx) => Promise<Result.Result<A, E>>
  ): Effect.Effect<A, E | DatabaseUnavailable> =>
    Effect.suspend(() => {
      let withdrawn: Withdrawn<E> | undefined
      return atomically(operation, async (tx) => {
        withdrawn = undefined
        const done = await work(tx)
        if (Result.isSuccess(done)) return done.success
        withdrawn = new Withdrawn(done.failure)
        throw withdrawn
      }).pipe(
        Effect.catchDefect((defect) =>
          withdrawn !== undefined && defect === withdrawn ? Effect.fail(withdrawn.failure) : Effect.die(defect)
        )
      )
    })
