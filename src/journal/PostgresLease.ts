/** The lease that counts: a row in `nodes`, renewed on a connection of its own. */
import { Effect, Layer } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Database, isUnavailable } from "../database/Database.ts"
import { version } from "../version.ts"
import { Lease, type NodeStatus } from "./Lease.ts"
import { keepLease, type LeaseOptions, type Neighbour, type RowStatus } from "./leaseKeeper.ts"

const pulse = `(extract(epoch from clock_timestamp()) * 1000)::float8 as now, (select revision from
  auth_revision)::float8 as "authRevision",
  (select coalesce(json_agg(json_build_object('incarnation', l.incarnation, 'name', l.name, 'status', l.status,
      'deadline', (extract(epoch from l.deadline) * 1000)::float8)), '[]')
    from nodes l where l.deadline > clock_timestamp() and l.incarnation <> $1) as others`

// A row of nodes is of no use once nothing can be owned under it any more; it stays a day for people.
const joining = `with swept as (delete from nodes where deadline < now() - interval '1 day'),
joined as (insert into nodes (incarnation, name, deadline, version, status, beaten_at)
  values ($1, $2, to_timestamp($3::float8 / 1000), $4, $5, clock_timestamp()) on conflict do nothing)
select true as alive, ${pulse}`

const beating = `with renewed as (update nodes set deadline = greatest(deadline, to_timestamp($2::float8 / 1000)),
  status = $3, beaten_at = clock_timestamp()
  where incarnation = $1 and deadline > clock_timestamp() returning incarnation)
select exists (select from renewed) as alive, ${pulse}`

interface Row {
  alive: boolean
  now: number
  authRevision: number
  others: ReadonlyArray<{
    readonly incarnation: string
    readonly name: string
    readonly deadline: number
    readonly status: Partial<RowStatus>
  }>
}

/**
 * What SQL reads of a node (src/journal/agenda.ts): it notes the moments of actors that it gives back. Nodes of earlier
 * versions do not.
 */
const written = (status: RowStatus) => JSON.stringify({ ...status, notes: true })

/** A node of another version may say less, or more. */
const unsaid: NodeStatus = { actors: 0, births: 0, draining: false, bus: "" }

const toPulse = (rows: ReadonlyArray<Row>) => {
  const row = rows[0]!
  return {
    ...row,
    others: row.others.map(
      ({ deadline, incarnation, name, status }): Neighbour => ({
        ...unsaid,
        ...status,
        incarnation: fromUuid("node", incarnation),
        name,
        deadline
      })
    )
  }
}

export const layerPostgresLease = (options: LeaseOptions) =>
  Layer.effect(
    Lease,
    Effect.flatMap(Database, (database) =>
      keepLease(options, {
        monotonic: () => performance.now(),
        now: async () => {
          const text = "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now"
          return (await database.beat<{ now: number }>({ name: "lease clock", text, values: [] }))[0]!.now
        },
        join: async (incarnation, name, deadline, status) =>
          toPulse(
            await database.beat<Row>({
              name: "lease join",
              text: joining,
              values: [toUuid(incarnation), name, deadline, version, written(status)]
            })
          ),
        beat: async (incarnation, deadline, status) => {
          try {
            return toPulse(
              await database.beat<Row>({
                name: "lease beat",
                text: beating,
                values: [toUuid(incarnation), deadline, written(status)]
              })
            )
          } catch (cause) {
            if (isUnavailable(cause)) return undefined
            throw cause
          }
        },
        leave: async (incarnation) => {
          await database.beat({
            name: "lease leave",
            text: "delete from nodes where incarnation = $1",
            values: [toUuid(incarnation)]
          })
        }
      })
    )
  )
