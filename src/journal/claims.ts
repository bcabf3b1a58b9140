/**
 * Takes actors over, many in a statement, and reads what they are loaded from.
 *
 * K1. The rows are read after the claim is committed: from then on nobody else can add to them (J5).
 * K2. A claim that is mine already keeps its epoch, so that one of unknown outcome may be repeated.
 * K3. Only an owner whose lease is over counts as a death; an actor that was given back counts nothing.
 */
import { Effect } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { batched, type Request } from "../store/batches.ts"
import { type Database, isUnavailable } from "../store/Database.ts"
import { actorTakeovers, claimsPerStatement, record } from "../telemetry/metrics.ts"
import { ints, places, uuids } from "../store/parameters.ts"
import { type ActorRef, type InputRow, JournalUnavailable, type Loaded, NoSuchActor, OwnedElsewhere, type StoredFact } from "./Journal.ts"
import { nouns } from "./nouns.ts"
import { long } from "./shorthand.ts"
import { storedFact } from "./storedFact.ts"

export interface Claim {
  readonly actor: ActorRef
  readonly owner: string
}

const taking = `with c as (select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[]) as c(o, w, id, me)),
taken as (update heads t set owner = c.me,
    epoch = case when t.owner = c.me then t.epoch else t.epoch + 1 end,
    fruitless = case when t.owner is null or t.owner = c.me or t.since is null then t.fruitless else t.fruitless + 1 end
  from c where t.id = c.id and t.workspace = c.w
    and (t.owner is null or t.owner = c.me or not exists (select from nodes n where n.incarnation = t.owner and n.deadline > clock_timestamp()))
  returning c.o, t.epoch, t.pos, t.seq, t.rev, t.since, t.status, t.carry, t.fruitless,
    (extract(epoch from t.runnable_at) * 1000)::float8 as runnable, (extract(epoch from t.updated_at) * 1000)::float8 as updated)
select c.o, taken.epoch is not null as taken, h.owner, taken.epoch, taken.pos, taken.seq, taken.rev, taken.since, taken.status, taken.carry,
  taken.fruitless, taken.runnable, taken.updated, h.parent, h.attributes, (extract(epoch from h.created_at) * 1000)::float8 as created, h.id is not null as known
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

const loading = `with c as (select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::int[]) as c(o, w, id, since))
select c.o, 'fact' as what, f.pos, f.seq, f.n, f.turn as id, null as state, f.once, f.event as body, f.detail, (extract(epoch from f.at) * 1000)::float8 as at
  from c join facts f on f.actor = c.id and f.pos >= c.since where c.since is not null
union all select c.o, 'input', i.ord, null, 0, i.id, i.state, null, i.body, null, 0
  from c join inputs i on i.workspace = c.w and i.actor = c.id where i.state = 'pending'
order by 1, 2, 3, 6`

interface Part {
  o: number
  what: "fact" | "input"
  pos: number
  seq: number | null
  n: number
  id: string | null
  state: string | null
  once: string | null
  body: string
  detail: string | null
  at: number
}

const isPresent = (taken: Taken) => taken.taken

export const claims = (database: Database["Service"]) => {
  type ClaimRequest = Request<Claim, Loaded, NoSuchActor | OwnedElsewhere | JournalUnavailable>

  const load = async (taken: ReadonlyArray<Taken>, requests: ReadonlyArray<ClaimRequest>) => {
    const parts = await database.query<Part>({
      name: "claim load",
      text: loading,
      values: [
        ints(taken, (row) => row.o),
        uuids(taken, (row) => requests[row.o]!.item.actor.workspace),
        uuids(taken, (row) => requests[row.o]!.item.actor.id),
        ints(taken, (row) => row.since)
      ]
    })
    const byRequest = Map.groupBy(parts, (part) => part.o)
    for (const row of taken) {
      const facts: Array<StoredFact> = []
      const inputs: Array<InputRow> = []
      for (const part of byRequest.get(row.o) ?? []) {
        if (part.what === "fact") {
          facts.push(storedFact({ ...part, turn: part.id, event: part.body }))
        } else inputs.push({ id: fromUuid("input", part.id!), ord: part.pos, state: "pending", body: part.body })
      }
      const { actor } = requests[row.o]!.item
      const parent = nouns[actor.kind].parent
      requests[row.o]!.answer(Effect.succeed({
        actor,
        parent: row.parent === null || parent === null ? null : fromUuid(parent, row.parent),
        attributes: long(row.attributes),
        createdAt: row.created,
        epoch: row.epoch,
        head: {
          pos: row.pos, seq: row.seq, rev: row.rev, status: row.status, runnableAt: row.runnable, since: row.since, carry: long(row.carry),
          updatedAt: row.updated
        },
        facts,
        inputs,
        fruitless: row.fruitless
      }))
    }
  }

  const take = async (requests: ReadonlyArray<ClaimRequest>) => {
    record(claimsPerStatement, requests.length)
    const rows = await database.query<Taken>({
      name: "claim take",
      text: taking,
      values: [
        places(requests),
        uuids(requests, ({ item }) => item.actor.workspace),
        uuids(requests, ({ item }) => item.actor.id),
        uuids(requests, ({ item }) => item.owner)
      ]
    })
    const again: Array<ClaimRequest> = []
    for (const row of rows) {
      const { answer, item } = requests[row.o]!
      if (row.taken) continue
      if (!row.known) answer(Effect.fail(new NoSuchActor({ actor: item.actor })))
      else if (row.owner !== null) answer(Effect.fail(new OwnedElsewhere({ actor: item.actor, node: fromUuid("node", row.owner) })))
      else again.push(requests[row.o]!) // Somebody was faster: the next look says who.
    }
    const taken = rows.filter(isPresent)
    const lapsed = taken.filter((row) => row.owner !== null && row.owner !== toUuid(requests[row.o]!.item.owner)).length
    if (lapsed > 0) record(actorTakeovers, lapsed)
    if (taken.length > 0) await load(taken, requests)
    return again
  }

  return batched<Claim, Loaded, NoSuchActor | OwnedElsewhere | JournalUnavailable>({
    max: 128,
    lanes: 2,
    key: (claim) => claim.actor.id,
    run: async (requests) => {
      let open: ReadonlyArray<ClaimRequest> = [...requests].sort((a, b) => a.item.actor.id < b.item.actor.id ? -1 : 1)
      for (let attempt = 0; open.length > 0; attempt++) {
        try {
          open = await take(open)
        } catch (cause) {
          if (!isUnavailable(cause)) throw cause
          // A deadlock or a lost connection: a claim may be repeated (K2), once at once; then it is the caller's.
          if (attempt >= 2) {
            for (const { answer } of open) answer(Effect.fail(new JournalUnavailable({ cause })))
            return
          }
        }
      }
    }
  })
}
