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
 * B7. A reservation may come in too late for the append that tells of its call's end. The node that called removes it
 *     then: a call that it made costs its prompt's price, one that it did not make costs nothing. A node that dies or
 *     loses its lease before that leaves it to B3, and so does a connection that breaks while PostgreSQL works on.
 */
import { Context, Effect, Layer } from "effect"
import { hash } from "node:crypto"
import { apart } from "../database/apart.ts"
import { batched } from "../database/batches.ts"
import { Database, type DatabaseUnavailable } from "../database/Database.ts"
import { floats, texts, uuids } from "../database/parameters.ts"
import { fromBytes, toUuid } from "../domain/ids.ts"
import { failing, makeCutOff } from "./cutOff.ts"

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
     * The work that a reservation is for: while it runs here, that does not become overdue. `job.isOver` says at its
     * end whether the journal has told of the call's end meanwhile (B7).
     */
    readonly during: <A, E, R>(
      call: Pick<Reserving, "id" | "workspace">,
      job: { readonly isOver: boolean },
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

// A thread's cost as `reserve_costs` reads it: what its questions cost before their results are in is in thread_spend
// only, what it had cost before it had a cap in its head.
const least = `select min((readable(h.attributes) ->> 'maxCost')::float8 - greatest(s.amount,
    coalesce((readable(h.carry) #>> '{usage,estimatedCost}')::float8, 0)
    + coalesce((readable(h.carry) #>> '{turn,usage,estimatedCost}')::float8, 0))) as rest
  from heads h left join thread_spend s on s.workspace = h.workspace and s.thread = h.id
  where h.workspace = $1 and h.id = any ($2::uuid[]) and strpos(h.attributes, 'maxCost') > 0`

/** A call that runs here. */
interface Live {
  readonly workspace: string
  /** Done as soon as nobody sets anything aside for it any more. */
  cameIn: Promise<void>
  /** It was told that what it may cost is set aside. */
  isReserved: boolean
}

/** What is asked of the database; `done` when its answer has come, or none will. */
interface Asked {
  readonly call: Reserving
  readonly done: () => void
}

const verdicts: ReadonlyArray<BudgetVerdict> = ["reserved", "budget_exceeded", "thread_cost_exceeded"]

const make = Effect.gen(function* () {
  const database = yield* Database
  const cutOff = yield* makeCutOff

  /** What runs here, by the id of its reservation. */
  const live = new Map<string, Live>()

  const ask = batched<Asked, BudgetVerdict, DatabaseUnavailable>({
    max: 500,
    lanes: 1,
    // B5.
    run: (all) =>
      apart(
        all,
        async (requests) => {
          const calls = requests.map(({ item }) => item.call)
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
        for (const { item } of all) item.done()
      })
  })
  const reserve = (call: Reserving) =>
    Effect.suspend(() => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const running = live.get(call.id)
      if (running !== undefined) running.cameIn = promise
      return Effect.tap(ask({ call, done: resolve }), (verdict) =>
        Effect.sync(() => {
          if (running !== undefined) running.isReserved = verdict === "reserved"
        })
      )
    })

  const keep = Effect.suspend(() =>
    live.size === 0
      ? Effect.succeed(0)
      : Effect.map(
          database.read({
            name: "keep_reservations",
            text: young,
            values: [[...live.values()].map(({ workspace }) => toUuid(workspace)), [...live.keys()].map(toUuid)]
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
    during: ({ id, workspace }, job, work) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const running: Live = { workspace, cameIn: Promise.resolve(), isReserved: false }
          live.set(id, running)
          return running
        }),
        () => work,
        (running) =>
          Effect.suspend(() => {
            if (live.get(id) === running) live.delete(id)
            const { cameIn, isReserved } = running
            return job.isOver ? cutOff({ id, workspace, isReserved }, cameIn) : Effect.void
          })
      ),
    keep
  })
})
