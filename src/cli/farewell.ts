/**
 * The last line of a development server that was told to end: that all of it has, and what of its work is left.
 *
 * What is left is asked of the database, after the nodes have gone: it counts what was cut off, and what nobody had
 * begun.
 */
import { Effect, type Redacted, type Scope } from "effect"
import { sql } from "kysely"
import { onDatabase } from "./node.ts"

export interface Farewell {
  /**
   * Counts at the scope's end. To be called before nodes are started: they have gone by then, and the database is still
   * up.
   */
  readonly count: (url: Redacted.Redacted<string>) => Effect.Effect<void, never, Scope.Scope>
}

/** Threads that run, or have messages to begin with: those that wait for a person go on when they are answered. */
const turnsLeft = (url: Redacted.Redacted<string>) =>
  onDatabase(url, async (db) => {
    const { count } = await db
      .selectFrom("heads")
      .select(sql<number>`count(*)::int`.as("count"))
      .where("kind", "=", "thread")
      .where((is) => is.or([is("status", "=", "running"), is("runnable_at", "<=", sql<Date>`now()`)]))
      .executeTakeFirstOrThrow()
    return count
  })

export const farewell = (left: number) =>
  left === 0
    ? "stopped"
    : left === 1
      ? "stopped; 1 turn goes on at the next start"
      : `stopped; ${left} turns go on at the next start`

/**
 * `shown`: whether anybody reads it. Said when everything else has ended, log lines too; a failure has words of its
 * own.
 */
export const withFarewell = <A, E, R>(shown: boolean, run: (farewell: Farewell) => Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let left = 0
    const count: Farewell["count"] = (url) =>
      shown
        ? // What cannot be counted is not there to be told.
          Effect.addFinalizer(() =>
            Effect.ignore(
              Effect.map(turnsLeft(url), (found) => {
                left = found
              })
            )
          )
        : Effect.void
    return run({ count }).pipe(
      Effect.onInterrupt(() =>
        Effect.sync(() => {
          if (shown) process.stdout.write(`${farewell(left)}\n`)
        })
      )
    )
  })
