/**
 * The highest cost of a model call is set aside before it runs, over all nodes: so no more is spent than budgets allow,
 * but for what a call costs beyond its reservation.
 *
 * B1. A call may begin where spent + set aside + its own amount is within the limit, or where nothing is set aside and
 *     something is left. That holds for its agent's budget, its thread's maxCost, and those of the threads that asked
 *     for it, up the chain.
 * B2. The id of a reservation derives from what is asked: of a response from turn, step, target and attempt, of a
 *     summary from turn, step and round. A job that is repeated finds its own.
 * B3. The append that tells of the call's outcome removes its reservation and books its cost, in one statement (the
 *     journal's). A call that nobody told of is booked with its prompt's price after 15 minutes (`settleOverdue`); as
 *     long as the call runs its node keeps it young, however long that takes (`keep`).
 * B4. A crash of PostgreSQL itself may forget reservations of its last fractions of a second, of calls that are under
 *     way: these are not booked. Whatever was settled had its reservation.
 * B5. Calls share statements, and nobody's fails for another's.
 * B6. A thread that others asked for is born with what the tightest maxCost of theirs leaves (`left`), and keeps it as
 *     its own.
 * B7. What tells of a call's outcome may be appended before its reservation has come in. The node that called removes
 *     it then, behind whatever it was still setting aside; a node that dies before that leaves it to B3.
 */
import { Context, Effect, Layer, Schedule } from "effect"
import { hash } from "node:crypto"
import { apart } from "../database/apart.ts"
import { type Batched, batched } from "../database/batches.ts"
import { Database, DatabaseUnavailable, isUnavailable } from "../database/Database.ts"
import { floats, texts, uuids } from "../database/parameters.ts"
import { fromBytes, toUuid } from "../domain/ids.ts"

export interface Reserving {
  readonly workspace: string
  readonly id: string
  /** Agent whose budget it is. */
  readonly agentId: string
  /** Its thread, and those that asked for it. */
  readonly threadIds: readonly [string, ...ReadonlyArray<string>]
  /** USD that it may cost. */
  readonly amount: number
  /** USD of its prompt alone: what it costs when it is cut off. */
  readonly prompt: number
  /** USD that its thread has cost as far as the log knows. */
  readonly known: number
}

export type BudgetVerdict = "reserved" | "budget_exceeded" | "thread_cost_exceeded"

export class Budgets extends Context.Service<
  Budgets,
  {
    readonly reserve: (call: Reserving) => Effect.Effect<BudgetVerdict, DatabaseUnavailable>
    /**
     * USD that the threads have left, to a billionth: the least of each one's maxCost minus its cost so far; 0 or less
     * where nothing is left, absent where none has a maxCost. What is set aside counts as left.
     */
    readonly left: (
      workspace: string,
      threadIds: ReadonlyArray<string>
    ) => Effect.Effect<number | undefined, DatabaseUnavailable>
    /**
     * The work that a reservation is for: while it runs here, that does not become overdue. `isTold` is asked at its
     * end, whether what the journal has of the actor is past the call (B7).
     */
    readonly during: <A, E, R>(
      call: Pick<Reserving, "id" | "workspace">,
      isTold: () => boolean,
      work: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, R>
    /** Keeps the reservations of what runs here young: how many were older than five minutes. */
    readonly keep: Effect.Effect<number, DatabaseUnavailable>
  }
>()("troupe/agents/Budgets") {
  static readonly layer = Layer.effect(
    Budgets,
    Effect.suspend(() => make)
  )
}

const reservationNamed = (name: string) => `rsv_${fromBytes(hash("sha256", name, "buffer").subarray(0, 16))}`

/** B2. */
export const summaryReservationOf = ({
  round,
  step,
  turnId
}: {
  readonly turnId: string
  readonly step: number
  readonly round: string
}) => reservationNamed(`${turnId}/summary/${step}/${round}`)

/** The same of a subscription's screen: by what it looks at. */
export const screenReservationOf = ({ id, look }: { readonly id: string; readonly look: number }) =>
  reservationNamed(`${id}/screen/${look}`)

/** B2. */
export const reservationOf = ({
  attempt,
  step,
  target,
  turnId
}: {
  readonly turnId: string
  readonly step: number
  readonly target: number
  readonly attempt: number
}) => reservationNamed(`${turnId}/sample/${step}/${target}/${attempt}`)

// B4. A commit that waits for no disk: the reservation's place in the log is before that of whatever settles it.
const text = `select r.place, r.verdict from (select set_config('synchronous_commit', 'off', true) as waits) s,
  reserve_costs($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::float8[], $6::float8[], $7::float8[]) r
  where s.waits = 'off'`

// Whoever holds one is about to end it: nobody waits for that.
const young = `update reservations set created_at = now() where ctid = any (array(
  select r.ctid from unnest($1::uuid[], $2::uuid[]) as l (workspace, id) join reservations r using (workspace, id)
    where r.created_at < now() - interval '5 minutes' for update of r skip locked)) returning id`

// B7. Whatever was set aside for a call that has been told of: nobody makes that call again.
const late = `delete from reservations r using unnest($1::uuid[], $2::uuid[]) as l (workspace, id)
  where r.workspace = l.workspace and r.id = l.id`

// A thread's cost as `reserve_costs` reads it: what its questions cost before their results are in is in thread_spend
// only, what it had cost before it had a cap in its head.
const least = `select min((readable(h.attributes) ->> 'maxCost')::float8 - greatest(s.amount,
    coalesce((readable(h.carry) #>> '{usage,estimatedCost}')::float8, 0)
    + coalesce((readable(h.carry) #>> '{turn,usage,estimatedCost}')::float8, 0))) as rest
  from heads h left join thread_spend s on s.workspace = h.workspace and s.thread = h.id
  where h.workspace = $1 and h.id = any ($2::uuid[]) and strpos(h.attributes, 'maxCost') > 0`

const verdicts: ReadonlyArray<BudgetVerdict> = ["reserved", "budget_exceeded", "thread_cost_exceeded"]

/** Tells those whose statement has failed. */
const failing =
  (operation: string) =>
  <A, B>(requests: ReadonlyArray<Batched<A, B, DatabaseUnavailable>>, cause: unknown) => {
    const failed = isUnavailable(cause) ? Effect.fail(new DatabaseUnavailable({ operation, cause })) : Effect.die(cause)
    for (const { answer } of requests) answer(failed)
  }

const make = Effect.gen(function* () {
  const database = yield* Database
  const scope = yield* Effect.scope

  /** B7. By its id: done as soon as nobody sets it aside any more. */
  const underWay = new Map<string, PromiseWithResolvers<void>>()

  const ask = batched<Reserving, BudgetVerdict, DatabaseUnavailable>({
    max: 500,
    lanes: 1,
    // B5.
    run: (all) =>
      apart(
        all,
        async (requests) => {
          const calls = requests.map(({ item }) => item)
          const rows = await database.query<{ readonly place: number; readonly verdict: string }>({
            name: "reserve_costs",
            text,
            values: [
              uuids(calls, ({ workspace }) => workspace),
              uuids(calls, ({ id }) => id),
              uuids(calls, ({ agentId }) => agentId),
              texts(calls, ({ threadIds }) => `{${threadIds.map(toUuid).join(",")}}`),
              floats(calls, ({ amount }) => amount),
              floats(calls, ({ prompt }) => prompt),
              floats(calls, ({ known }) => known)
            ]
          })
          for (const { place, verdict } of rows) {
            const found = verdicts.find((one) => one === verdict)
            if (found !== undefined) requests[place - 1]?.answer(Effect.succeed(found))
          }
          return []
        },
        failing("budgets.reserve")
      ).finally(() => {
        for (const { item } of all) {
          underWay.get(item.id)?.resolve()
          underWay.delete(item.id)
        }
      })
  })
  const reserve = (call: Reserving) =>
    Effect.suspend(() => {
      underWay.set(call.id, Promise.withResolvers())
      return ask(call)
    })

  const remove = batched<Pick<Reserving, "id" | "workspace">, void, DatabaseUnavailable>({
    max: 500,
    lanes: 1,
    run: (all) =>
      apart(
        all,
        async (requests) => {
          const calls = requests.map(({ item }) => item)
          const values = [uuids(calls, ({ workspace }) => workspace), uuids(calls, ({ id }) => id)]
          await database.query({ name: "remove_late_reservations", text: late, values })
          for (const { answer } of requests) answer(Effect.void)
          return []
        },
        failing("budgets.remove")
      )
  })
  /** B7. What the database cannot be asked for within a minute is left to B3. */
  const removeLate = (call: Pick<Reserving, "id" | "workspace">) =>
    Effect.promise(() => underWay.get(call.id)?.promise ?? Promise.resolve()).pipe(
      Effect.andThen(remove(call)),
      Effect.retry({ schedule: Schedule.spaced("1 second"), times: 60 }),
      Effect.ignoreCause({ log: true, message: "what was set aside for a call that is over could not be removed" })
    )

  /** By its id: the workspace of what runs. */
  const live = new Map<string, string>()
  const keep = Effect.suspend(() =>
    live.size === 0
      ? Effect.succeed(0)
      : Effect.map(
          database.read({
            name: "keep_reservations",
            text: young,
            values: [[...live.values()].map(toUuid), [...live.keys()].map(toUuid)]
          }),
          ({ length }) => length
        )
  )

  return Budgets.of({
    reserve,
    left: (workspace, threadIds) =>
      Effect.map(
        database.read<{ readonly rest: number | null }>({
          name: "max_cost_left",
          text: least,
          values: [toUuid(workspace), threadIds.map(toUuid)]
        }),
        // By its digits: of the largest double neither the billionfold nor PostgreSQL's numeric is a double.
        ([row]) => (typeof row?.rest === "number" ? Number(row.rest.toFixed(9)) : undefined)
      ),
    during: (call, isTold, work) =>
      Effect.acquireUseRelease(
        Effect.sync(() => live.set(call.id, call.workspace)),
        () => work,
        () =>
          Effect.suspend(() => {
            live.delete(call.id)
            return isTold() ? Effect.forkIn(removeLate(call), scope) : Effect.void
          })
      ),
    keep
  })
})
