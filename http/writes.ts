/**
 * Changes of rows that answer a request: one transaction for the change and, where the client sent
 * an Idempotency-Key, for the kept answer.
 *
 * T1. A refusal rolls everything back: nothing of a refused request is written.
 */
import { Effect } from "effect"
import type { Transaction } from "kysely"
import { Database, type DatabaseUnavailable } from "../src/database/Database.ts"
import type { Tables } from "../src/database/tables.ts"
import { Caller } from "./Caller.ts"
import { isRefused, type Refused } from "./errors.ts"
import { type Answer, idempotent, keepAnswer, type Key, KeyTaken } from "./Idempotency.ts"

export const answerOf = (body: unknown, status = 200, headers?: Readonly<Record<string, string>>): Answer => ({
  status,
  body: JSON.stringify(body),
  ...(headers !== undefined && { headers })
})

type RefusalOf<A> = Extract<A, Refused>
type Done<A> = Exclude<A, Refused>
const isRefusal = <A>(value: A): value is RefusalOf<A> => isRefused(value)
const isDone = <A>(value: A): value is Done<A> => !isRefused(value)

/** Carries a refusal out of a transaction, so that it rolls back. */
class Withdrawn<R> extends Error {
  readonly refused: R
  constructor(refused: R) {
    super("withdrawn")
    this.refused = refused
  }
}

/** An answer; `keep` is stored for its Idempotency-Key in place of the body, when it is not the same. */
interface Kept extends Answer {
  readonly keep?: string
}

/** Answers, or returns a refusal. It may run more than once. */
type Work<A> = (tx: Transaction<Tables>) => Promise<A>

export const makeWrites = Effect.gen(function* () {
  const database = yield* Database

  /** A change that needs no kept answer: PATCH and DELETE are idempotent by themselves. */
  const change = <A>(operation: string, work: Work<A>): Effect.Effect<Done<A>, DatabaseUnavailable | RefusalOf<A>> =>
    Effect.suspend(() => {
      let withdrawn: Withdrawn<RefusalOf<A>> | undefined
      return database
        .atomically(operation, async (tx) => {
          withdrawn = undefined
          const done = await work(tx)
          if (isDone(done)) return done
          if (isRefusal(done)) withdrawn = new Withdrawn(done)
          throw withdrawn
        })
        .pipe(
          Effect.catchDefect((defect) =>
            withdrawn !== undefined && defect === withdrawn ? Effect.fail(withdrawn.refused) : Effect.die(defect)
          )
        )
    })

  /** A change by POST. `first` runs before the transaction, and not at all when the answer is kept already. */
  const postAfter = <P, E, R, A extends Kept | Refused>(
    operation: string,
    first: Effect.Effect<P, E, R>,
    work: (tx: Transaction<Tables>, prepared: P) => Promise<A>
  ) =>
    Effect.gen(function* () {
      const { workspace } = yield* Caller
      return yield* idempotent((key) =>
        Effect.flatMap(first, (prepared) =>
          change(operation, async (tx) => {
            const answer = await work(tx, prepared)
            if (key !== undefined && !isRefused(answer)) {
              await keepAnswer(tx, workspace, { ...key, status: answer.status, body: answer.keep ?? answer.body })
            }
            return answer
          })
        ).pipe(Effect.catchDefect((defect) => (defect instanceof KeyTaken ? Effect.fail(defect) : Effect.die(defect))))
      )
    })

  /** An answer without a change, kept all the same: its key must not come with another body. */
  const keep = (operation: string, workspace: string, key: Key | undefined, answer: Answer) =>
    key === undefined
      ? Effect.succeed(answer)
      : change(operation, async (tx) => {
          await keepAnswer(tx, workspace, { ...key, status: answer.status, body: answer.body })
          return answer
        }).pipe(Effect.catchDefect((defect) => (defect instanceof KeyTaken ? Effect.fail(defect) : Effect.die(defect))))

  const post = <A extends Kept | Refused>(operation: string, work: Work<A>) => postAfter(operation, Effect.void, work)

  return { change, keep, post, postAfter }
})
