/**
 * Takes actors over, many in a statement, and reads their heads.
 *
 * K1. A claim may be repeated: it raises the epoch each time (J5), so that the last one of two claims whose answers are
 *     late counts. The owner before is not known any more when an attempt before may have been committed.
 * K2. A head that is locked, or an actor that cannot be asked for, keeps no other claim (A1 of apart.ts).
 * K3. Only an owner whose lease is over counts as a death; an actor that was given back counts nothing.
 */
import { Effect } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { apart } from "../database/apart.ts"
import { batched, type Batched } from "../database/batches.ts"
import { type Database, isUnavailable, isUndone } from "../database/Database.ts"
import { actorTakeovers, claimsPerStatement, record } from "../telemetry/metrics.ts"
import { booleans, places, uuids } from "../database/parameters.ts"
import {
  type ActorRef,
  type Claimed,
  JournalUnavailable,
  type KindNouns,
  NoSuchActor,
  NotOwned,
  OwnedElsewhere
} from "./Journal.ts"
import { long } from "../database/shorthand.ts"

export interface Claim {
  readonly actor: ActorRef
  readonly owner: string
  /** The actor is taken only where this node owns it already. */
  readonly onlyMine: boolean
}

type ClaimError = NoSuchActor | NotOwned | OwnedElsewhere | JournalUnavailable

const taking = `with c as (select * from
  unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bool[]) as c(o, w, id, me, own)),
taken as (update heads t set owner = c.me, epoch = t.epoch + 1,
    fruitless = case when t.owner is null or t.owner = c.me or t.since is null then t.fruitless else t.fruitless + 1 end
  from c where t.id = c.id and t.workspace = c.w and (t.owner = c.me or not c.own)
    and (t.owner is null or t.owner = c.me
      or not exists (select from nodes n where n.incarnation = t.owner and n.deadline > clock_timestamp()))
  returning c.o, t.epoch, t.pos, t.seq, t.rev, t.since, t.status, t.carry, t.fruitless,
    (extract(epoch from t.runnable_at) * 1000)::float8 as runnable, (extract(epoch from t.updated_at) * 1000)::float8
      as updated)
select c.o, taken.epoch is not null as taken, h.owner, taken.epoch, taken.pos, taken.seq, taken.rev, taken.since,
  taken.status, taken.carry,
  taken.fruitless, taken.runnable, taken.updated, h.parent, h.attributes, (extract(epoch from h.created_at) *
    1000)::float8 as created, h.id is not null as known
from c left join taken using (o) left join heads h on h.id = c.id and h.workspace = c.w`

interface Taken {
  o: number
  known: boolean
  taken: boolean
  /** Before the claim. */
  owner: string | null
  epoch: number
  pos: number
  seq: number
  rev: number
  since: number | null
  status: string
  carry: string
  fruitless: number
  runnable: number | null
  updated: number
  parent: string | null
  attributes: string
  created: number
}

export const claims = (database: Pick<Database["Service"], "query">, kinds: ReadonlyMap<string, KindNouns>) => {
  type ClaimRequest = Batched<Claim, Claimed, ClaimError>

  const claimedOf = ({ actor, owner }: Claim, row: Taken, doubtful: boolean): Claimed => {
    const parent = kinds.get(actor.kind)?.parent ?? null
    return {
      actor,
      parent: row.parent === null || parent === null ? null : fromUuid(parent, row.parent),
      attributes: long(row.attributes),
      createdAt: row.created,
      epoch: row.epoch,
      head: {
        pos: row.pos,
        seq: row.seq,
        rev: row.rev,
        status: row.status,
        runnableAt: row.runnable,
        since: row.since,
        carry: long(row.carry),
        updatedAt: row.updated
      },
      takeovers: row.fruitless,
      mine: !doubtful && row.owner === toUuid(owner)
    }
  }

  /** Those whom somebody was faster to take: the next look says who. */
  const take = async (requests: ReadonlyArray<ClaimRequest>, doubtful: boolean) => {
    record(claimsPerStatement, requests.length)
    const rows = await database.query<Taken>({
      name: "claim take",
      text: taking,
      values: [
        places(requests),
        uuids(requests, ({ item }) => item.actor.workspace),
        uuids(requests, ({ item }) => item.actor.id),
        uuids(requests, ({ item }) => item.owner),
        booleans(requests, ({ item }) => item.onlyMine)
      ]
    })
    const left: Array<ClaimRequest> = []
    let lapsed = 0
    for (const row of rows) {
      const { answer, item } = requests[row.o]!
      if (row.taken) {
        if (row.owner !== null && row.owner !== toUuid(item.owner)) lapsed++
        answer(Effect.sync(() => claimedOf(item, row, doubtful)))
      } else if (!row.known) answer(Effect.fail(new NoSuchActor({ actor: item.actor })))
      else if (item.onlyMine && (row.owner === null || row.owner === toUuid(item.owner)))
        answer(Effect.fail(new NotOwned({ actor: item.actor })))
      else if (row.owner !== null)
        answer(Effect.fail(new OwnedElsewhere({ actor: item.actor, node: fromUuid("node", row.owner) })))
      else left.push(requests[row.o]!)
    }
    if (lapsed > 0) record(actorTakeovers, lapsed)
    return left
  }

  return batched<Claim, Claimed, ClaimError>({
    max: 128,
    lanes: 2,
    key: (claim) => claim.actor.id,
    run: (requests) => {
      let doubtful = false
      const inOrder = [...requests].sort((a, b) => (a.item.actor.id < b.item.actor.id ? -1 : 1))
      return apart<ClaimRequest>(
        inOrder,
        (some) =>
          take(some, doubtful).catch((cause: unknown) => {
            doubtful ||= !isUndone(cause)
            throw cause
          }),
        (failed, cause) => {
          for (const { answer } of failed)
            answer(isUnavailable(cause) ? Effect.fail(new JournalUnavailable({ cause })) : Effect.die(cause))
        }
      )
    }
  })
}
