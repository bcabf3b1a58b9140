/**
 * Changes of rows that answer a request: one transaction for the change and, where the client sent
 * an Idempotency-Key, for the kept answer.
 *
 * T1. A refusal rolls everything back: nothing of a refused request is written.
 */
import { Effect, Result } from "effect"
import { Database, type DatabaseUnavailable } from "../src/database/Database.ts"
import type { Tx } from "../src/database/handle.ts"
import { withdrawable } from "../src/database/withdrawable.ts"
import { keepAnswer } from "../src/idempotency/rows.ts"
import { Caller } from "./Caller.ts"
import { isRefused, type Refused } from "./errors.ts"
import { type KeptAnswer, idempotent, type Key, KeyTaken, type Keeping } from "./Idempotency.ts"

export const jsonAnswer = (body: unknown, status = 200, headers?: Readonly<Record<string, string>>): KeptAnswer => ({
  status,
  body: JSON.stringify(body),
  ...(headers !== undefined && { headers })
})

/** 204. */
export const emptyAnswer: KeptAnswer = { status: 204, body: "" }

type RefusalOf<A> = Extract<A, Refused>
type Done<A> = Exclude<A, Refused>
const isRefusal = <A>(value: A): value is RefusalOf<A> => isRefused(value)
const isWritten = <A>(value: A): value is Done<A> => !isRefused(value)

/** What the work of a transaction returned: a refusal is withdrawn with all that was written. */
const resultOf = <A>(done: A): Result.Result<Done<A>, RefusalOf<A>> => {
  if (isRefusal(done)) return Result.fail(done)
  if (isWritten(done)) return Result.succeed(done)
  throw new Error("neither a refusal nor an answer")
}

/** Answers, or returns a refusal. It may run more than once. */
type Work<A> = (tx: Tx) => Promise<A>

export const makeWrites = Effect.gen(function* () {
  const withdrawing = withdrawable(yield* Database)

  /** A change that needs no kept answer: PATCH and DELETE are idempotent by themselves. */
  const change = <A>(operation: string, work: Work<A>): Effect.Effect<Done<A>, DatabaseUnavailable | RefusalOf<A>> =>
    withdrawing(operation, async (tx) => resultOf(await work(tx)))

  /** A change whose answer is kept for its key, if it has one. */
  const keeping = <A extends KeptAnswer | Refused>(
    operation: string,
    workspace: string,
    key: Key | undefined,
    work: Work<A>,
    kept: (body: string) => string = (body) => body
  ): Effect.Effect<Done<A>, DatabaseUnavailable | KeyTaken | RefusalOf<A>> =>
    withdrawing(operation, async (tx): Promise<Result.Result<Done<A>, KeyTaken | RefusalOf<A>>> => {
      const answer = await work(tx)
      if (key === undefined || isRefused(answer)) return resultOf(answer)
      const row = { ...key, status: answer.status, body: kept(answer.body) }
      return (await keepAnswer(tx, workspace, row)) ? resultOf(answer) : Result.fail(new KeyTaken({ scope: key.scope }))
    })

  /** As `postAfter`; what comes first is told the request's key, if it has one. */
  const postKeyed = <P, E, R, A extends KeptAnswer | Refused>(
    operation: string,
    first: (key: Key | undefined) => Effect.Effect<P, E, R>,
    work: (tx: Tx, prepared: P) => Promise<A>,
    sealed?: Keeping
  ) =>
    Effect.flatMap(Caller, ({ workspace }) =>
      idempotent(
        (key) =>
          Effect.flatMap(first(key), (prepared) =>
            keeping(operation, workspace, key, (tx) => work(tx, prepared), sealed?.keep)
          ),
        sealed?.reveal
      )
    )

  /**
   * A change by POST. `first` runs before the transaction, and not at all when the answer is kept already. With
   * `sealed` its answer is kept in another form than it is sent in.
   */
  const postAfter = <P, E, R, A extends KeptAnswer | Refused>(
    operation: string,
    first: Effect.Effect<P, E, R>,
    work: (tx: Tx, prepared: P) => Promise<A>,
    sealed?: Keeping
  ) => postKeyed(operation, () => first, work, sealed)

  const post = <A extends KeptAnswer | Refused>(operation: string, work: Work<A>, sealed?: Keeping) =>
    postAfter(operation, Effect.void, work, sealed)

  /** An answer without a change, kept all the same: its key must not come with another body. */
  const keep = (operation: string, workspace: string, key: Key | undefined, answer: KeptAnswer) =>
    key === undefined ? Effect.succeed(answer) : keeping(operation, workspace, key, async () => answer)

  return { change, keep, post, postAfter, postKeyed }
})
