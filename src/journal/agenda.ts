/**
 * The agenda: which actors have something to do, and when. It stands in for an index on the heads' moments, which
 * would make every turn rewrite all index entries of its head.
 *
 * G1. An actor that has a moment has a note of it: in a row of the incarnation that owns the actor, or in one without
 *     owner. An append notes a new moment with the head that has it; a release notes the moment of the actor that it
 *     gives back, in a row without owner; whoever takes an actor over leaves its note where it is.
 * G2. Rows of living incarnations are not opened by others: those have their actors in memory, or owe them. So a look
 *     costs what nobody alive answers for, not what runs.
 * G3. Every node keeps its own rows short (`tend`). Rows of the dead lose their owner, and of rows without owner a
 *     living owner's actors are noted anew under its name. A node of an earlier version is no such owner: it gives
 *     actors back without a note.
 * G4. Moments that are more than a minute ahead lie in `agenda_later`, whatever there is of them, until they are near.
 */
import { Effect } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import type { Database } from "../database/Database.ts"
import { ints, uuids } from "../database/parameters.ts"
import type { ActorRef, KindNouns } from "./Journal.ts"
import type { Shards } from "./shard.ts"

/** What is further ahead than this lies in `agenda_later`. */
export const nearMs = 60_000
const near = `interval '${nearMs} milliseconds'`

/**
 * Moments of so short a time share a row, which is opened at the last of them: what all of them may be late by.
 */
export const shared = (at: string) => `date_bin(interval '100 milliseconds', ${at}, timestamptz '2000-01-01 00:00+00')`

// The moment of an actor that is due is now: all of them share a row.
const releasing = `with given as (update heads t set owner = null from unnest($1::uuid[], $2::uuid[], $3::int[],
  $4::uuid[]) as g(w, id, epoch, me)
  where t.id = g.id and t.workspace = g.w and t.epoch = g.epoch and t.owner = g.me returning t.id,
    greatest(t.runnable_at, now()) as at, t.runnable_at is not null as waits),
noted as (insert into agenda (at, actors) select max(at), array_agg(id) from given where waits and at <= now() +
  ${near} group by ${shared("at")})
insert into agenda_later (at, actors) select max(at), array_agg(id) from given where waits and at > now() + ${near}
  group by ${shared("at")}`

const living = `living as materialized (select n.incarnation, coalesce((n.status ->> 'notes')::boolean, false) as notes
  from
  nodes n where n.deadline > clock_timestamp())`

// Between the living: whoever's name stands there is dead, whether it ever had a row in `nodes` or has none any more.
const gaps = `gaps as materialized (select lo, coalesce(lead(lo) over (order by lo),
  'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid) as hi
  from (select incarnation as lo from living union all select '00000000-0000-0000-0000-000000000000'::uuid) as bounds)`

// Heads are looked up one by one as rows come, until enough are found. The lateral joins keep the planner from turning
// that around.
const due = `with ${living}, ${gaps},
horizon as materialized (select now() + $4 * interval '1 millisecond' as at)
select distinct on (runnable_at, id) workspace, id, kind from (select h.* from (
    select a.actors from agenda a where a.owner is null and a.at <= (select at from horizon)
    union all
    select orphaned.actors from gaps g cross join lateral (
      select a.actors from agenda a where a.owner > g.lo and a.owner < g.hi and a.at <= (select at from horizon)
        order by a.owner, a.at offset 0) orphaned) as notes
  cross join lateral unnest(notes.actors) as n(id)
  cross join lateral (select h.workspace, h.id, h.kind, h.runnable_at from heads h where h.id = n.id and h.runnable_at
    <= (select at from horizon) and h.kind = any($3::text[])
    and (h.owner is null or h.owner not in (select incarnation from living)) offset 0) h
  where get_bit($2::bytea, fine_shard_of(n.id)) = 1 limit $1) as found
order by runnable_at, id`

const approaching = `with coming as (select ctid as place from agenda_later where at <= now() + ${near} order by at
  limit $1 for update skip locked),
taken as (delete from agenda_later where ctid = any (array(select place from coming)) returning owner, at, actors),
put as (insert into agenda (owner, at, actors) select owner, at, actors from taken)
select count(*)::int as size from taken`

const disowning = `with ${living}, ${gaps},
orphaned as (select a.place from gaps g cross join lateral (
  select a.ctid as place from agenda a where a.owner > g.lo and a.owner < g.hi order by a.owner, a.at limit $1 for
    update skip locked) a limit $1),
freed as (update agenda set owner = null where ctid = any (array(select place from orphaned)) returning 1)
select count(*)::int as size from freed`

// A row none of whose actors has anything to do goes. One keeps its actors until half of them have nothing to do any
// more, or until some are noted elsewhere. `fetch ... with ties` so that the next portion begins at a later moment.
const tidying = (whose: string) => `with ${living},
picked as materialized (select a.ctid as place, a.at, a.actors from agenda a where a.owner ${whose} and a.at <= now()
  and a.at > $2
  order by a.owner, a.at fetch first ($1) rows with ties),
opened as materialized (select p.place, n.id, h.runnable_at <= now() as due, l.incarnation as holder from picked p
  cross join lateral unnest(p.actors) as n(id)
  left join lateral (select h.owner, h.runnable_at from heads h where h.id = n.id offset 0) h on true
  left join living l on l.incarnation = h.owner and l.notes and l.incarnation is distinct from $3::uuid and
    h.runnable_at <= now()),
changed as materialized (select place, rest from (
    select place, count(*) as size, bool_or(holder is not null) as renoted, array_agg(id) filter (where due and holder
      is null) as rest from opened group by place) as rows
  where rest is null or renoted or cardinality(rest) * 2 <= size),
renoted as (insert into agenda (owner, at, actors) select holder, now(), array_agg(id) from opened where holder is not
  null group by holder, place),
gone as (delete from agenda where ctid = any (array(select place from changed where rest is null)) returning 1),
shrunk as (update agenda a set actors = c.rest from changed c where a.ctid = c.place and c.rest is not null)
select count(*)::int as size, (select count(*) from gone)::int as gone, max(at)::text as last from picked`

const tidyings = {
  own: { name: "tidy own agenda", text: tidying("= $3::uuid") },
  ownerless: { name: "tidy ownerless agenda", text: tidying("is null and $3::uuid is null") }
}

/** Rows of the agenda that a statement takes on. */
const portion = 200
/** Portions that one call takes on at most, while they are worth it. */
const portions = 20

interface ActorColumns {
  workspace: string
  id: string
  kind: string
}

/** A kind that this version does not know is left to nodes that do. */
export const refOf = (
  kinds: ReadonlyMap<string, KindNouns>,
  { workspace, id, kind }: ActorColumns
): ReadonlyArray<ActorRef> => {
  const nouns = kinds.get(kind)
  return nouns === undefined ? [] : [{ workspace: fromUuid("workspace", workspace), kind, id: fromUuid(nouns.id, id) }]
}

export const makeAgenda = (
  database: Pick<Database["Service"], "read">,
  me: () => string,
  kinds: ReadonlyMap<string, KindNouns>
) => {
  /** Where the next portion begins: all rows are opened in turn. */
  const begin = { own: "-infinity", ownerless: "-infinity" }

  const tidy = Effect.fnUntraced(function* (which: "own" | "ownerless") {
    for (let i = 0; i < portions; i++) {
      const values = [portion, begin[which], which === "own" ? toUuid(me()) : null]
      const [found] = yield* database.read<{ size: number; gone: number; last: string | null }>({
        ...tidyings[which],
        values
      })
      const full = found !== undefined && found.size >= portion
      begin[which] = full ? (found.last ?? "-infinity") : "-infinity"
      if (!full || found.gone * 2 < found.size) return
    }
  })

  const repeat = Effect.fnUntraced(function* (name: string, text: string) {
    for (let i = 0; i < portions; i++) {
      const [found] = yield* database.read<{ size: number }>({ name, text, values: [portion] })
      if (found === undefined || found.size < portion) return
    }
  })

  return {
    release: (actors: ReadonlyArray<{ readonly actor: ActorRef; readonly epoch: number }>) => {
      if (actors.length === 0) return Effect.void
      const sorted = [...actors].sort((a, b) => (a.actor.id < b.actor.id ? -1 : 1))
      const owner = me()
      return Effect.asVoid(
        database.read({
          name: "release",
          text: releasing,
          values: [
            uuids(sorted, ({ actor }) => actor.workspace),
            uuids(sorted, ({ actor }) => actor.id),
            ints(sorted, ({ epoch }) => epoch),
            uuids(sorted, () => owner)
          ]
        })
      )
    },
    due: (limit: number, shards: Shards, aheadMs: number) =>
      Effect.map(
        database.read<ActorColumns>({ name: "due", text: due, values: [limit, shards, [...kinds.keys()], aheadMs] }),
        (rows) => rows.flatMap((row) => refOf(kinds, row))
      ),
    tend: Effect.fnUntraced(function* (others: boolean) {
      yield* repeat("agenda approaching", approaching)
      yield* tidy("own")
      if (!others) return
      yield* repeat("agenda disowning", disowning)
      yield* tidy("ownerless")
    })
  }
}
