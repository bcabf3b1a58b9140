/**
 * Calls that were cut off and that no append settled: they cost their prompt's price, which their reservations know
 * (B3, B7 of Budgets.ts).
 */
import { Effect, Schedule } from "effect"
import { apart } from "../database/apart.ts"
import { type Batched, batched } from "../database/batches.ts"
import { Database, DatabaseUnavailable, isUnavailable } from "../database/Database.ts"
import { booleans, uuids } from "../database/parameters.ts"
import { toUuid } from "../domain/ids.ts"
import { Lease } from "../journal/Lease.ts"

/**
 * Parts of a statement: books what was removed as `gone`, at the node of `me`. Threads stand before the agents, each in
 * order, as in an append (src/journal/appendStatement.ts): the two never wait for each other.
 */
export const bookedPrompts = `threads as (insert into thread_spend (workspace, thread, amount)
    select workspace, t, sum(prompt) from gone, unnest(threads) t group by 1, 2 order by 1, 2
    on conflict (workspace, thread) do update set amount = thread_spend.amount + excluded.amount),
  booked as (insert into spend_by_node (workspace, subject, minute, node, amount)
    select workspace, subject, floor(extract(epoch from now()) / 60)::int, me.node, sum(prompt)
      from gone cross join me group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (workspace, subject, minute, node) do update set amount = spend_by_node.amount + excluded.amount)`

const text = `with me as (select $4::uuid as node),
  late as (delete from reservations r using unnest($1::uuid[], $2::uuid[], $3::boolean[]) as l (workspace, id, made)
    where r.workspace = l.workspace and r.id = l.id
    returning r.workspace, r.subject, r.threads, r.prompt, l.made),
  gone as (select workspace, subject, threads, prompt from late where made),
  ${bookedPrompts}
  select from late`

export interface Late {
  readonly workspace: string
  /** Of the reservation. */
  readonly id: string
  /** The call was told that it may begin. */
  readonly isReserved: boolean
}

/** Tells those whose statement has failed. */
export const failing =
  (operation: string) =>
  <A, B>(requests: ReadonlyArray<Batched<A, B, DatabaseUnavailable>>, cause: unknown) => {
    const failed = isUnavailable(cause) ? Effect.fail(new DatabaseUnavailable({ operation, cause })) : Effect.die(cause)
    for (const { answer } of requests) answer(failed)
  }

/**
 * Removes what is left of a call whose end was told, once what was asked of the database for it has come in. It goes
 * on by itself; what the database cannot be asked for within a minute is left to B3.
 */
export const makeCutOff = Effect.gen(function* () {
  const database = yield* Database
  const { incarnation } = yield* Lease
  const scope = yield* Effect.scope

  const remove = batched<Late, void, DatabaseUnavailable>({
    max: 500,
    lanes: 1,
    run: (all) =>
      apart(
        all,
        async (requests) => {
          const calls = requests.map(({ item }) => item)
          await database.query({
            name: "cut_off_reservations",
            text,
            values: [
              uuids(calls, ({ workspace }) => workspace),
              uuids(calls, ({ id }) => id),
              booleans(calls, ({ isReserved }) => isReserved),
              toUuid(incarnation())
            ]
          })
          for (const { answer } of requests) answer(Effect.void)
          return []
        },
        failing("budgets.cutOff")
      )
  })

  return (late: Late, cameIn: Promise<void>) =>
    Effect.promise(() => cameIn).pipe(
      Effect.andThen(remove(late)),
      Effect.retry({ schedule: Schedule.spaced("1 second"), times: 60 }),
      Effect.ignoreCause({ log: true, message: "what was set aside for a call that is over could not be removed" }),
      Effect.forkIn(scope)
    )
})
