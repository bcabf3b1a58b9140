/**
 * The journal that lasts: PostgreSQL keeps J1 to J5 with one statement an append.
 *
 * Appends go through `appends.ts`, claims through `claims.ts`; here is what is left: giving back,
 * what is due, the inbox, whole logs, idempotency keys.
 */
import { Effect, Layer } from "effect"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Database, type DatabaseUnavailable } from "../store/Database.ts"
import { ints, uuids } from "../store/parameters.ts"
import { appends } from "./appends.ts"
import { claims } from "./claims.ts"
import { type ActorRef, type InboxRow, Journal, JournalUnavailable } from "./Journal.ts"
import { Lease } from "./Lease.ts"
import { loads } from "./loads.ts"
import { isActorKind, nouns } from "./nouns.ts"
import { long } from "./shorthand.ts"
import { storedInput } from "./storedInput.ts"
import { wholeLog } from "./wholeLog.ts"

const releasing = `update heads t set owner = null from unnest($1::uuid[], $2::uuid[], $3::int[], $4::uuid[]) as g(w, id, epoch, me)
where t.id = g.id and t.workspace = g.w and t.epoch = g.epoch and t.owner = g.me`

// A failed turn is news of its thread, as any other change of its head is.
const quarantining = `update heads t set status = 'failed', runnable_at = null, rev = t.rev + 1, updated_at = g.at, touched = floor(extract(epoch from g.at) / 60)
from (select greatest(h.updated_at, clock_timestamp()) as at from heads h where h.id = $2) g
where t.id = $2 and t.workspace = $1 and t.epoch = $3 and t.owner = $4`

const alive = "select n.incarnation from nodes n where n.deadline > clock_timestamp()"

// Entries none of whose actors has anything to do by now go; one that lost half of them keeps the rest. Of
// other shards nothing is known, and all is kept. The lateral join looks each head up by its key: a join
// that the planner may turn around reads them all.
const due = `with noted as materialized (select a.ctid as place, a.actors, n.id as noted, n.mine, h.* from agenda a
  cross join lateral (select u.id, get_bit($2::bytea, shard_of(u.id)) = 1 as mine from unnest(a.actors) as u(id)) n
  left join lateral (select h.workspace, h.id, h.kind, h.owner, h.runnable_at from heads h where n.mine and h.id = n.id offset 0) h on true
  where a.at <= clock_timestamp()),
open as (select place, cardinality(actors) as size, array_agg(noted) filter (where not mine or runnable_at <= clock_timestamp()) as rest
  from noted group by place, actors),
settled as (delete from agenda where ctid = any (array(select place from open where rest is null))),
shrunk as (update agenda a set actors = open.rest from open where a.ctid = open.place and cardinality(open.rest) * 2 <= open.size)
select distinct on (runnable_at, id) workspace, id, kind from noted
where runnable_at <= clock_timestamp() and (owner is null or owner not in (${alive}))
order by runnable_at, id limit $1`

const inboxColumns = "i.id, i.workspace, i.actor, i.kind, i.command"

const waiting = `select ${inboxColumns} from inbox i
cross join lateral (select h.owner from heads h where h.id = i.actor and h.workspace = i.workspace offset 0) h
where h.owner = $1 or (get_bit($3::bytea, shard_of(i.actor)) = 1 and (h.owner is null or h.owner not in (${alive})))
order by i.created_at, i.id limit $2`

const posted = `select ${inboxColumns} from inbox i where i.actor = $2 and i.workspace = $1 order by i.created_at, i.id`

const describing = `select attributes from heads where id = $2 and workspace = $1`

const posting = `insert into inbox (workspace, id, actor, kind, command) values ($1, $2, $3, $4, $5) on conflict do nothing`

// The answer is kept with it, unless another answer has been: then that one counts, and nothing is stored.
const postingOnce = `with kept as (insert into idempotency (workspace, scope, created_at, status, fingerprint, body) values ($1, $6, now(), $7, $8, $9)
  on conflict (workspace, scope) do update set status = excluded.status, fingerprint = excluded.fingerprint, body = excluded.body, created_at = excluded.created_at
  where idempotency.created_at <= now() - interval '24 hours' returning scope)
insert into inbox (workspace, id, actor, kind, command) select $1, $2, $3, $4, $5 from kept on conflict do nothing returning id`

const keeping = `select scope, fingerprint, status, body from idempotency where workspace = $1 and scope = $2 and created_at > now() - interval '24 hours'`

interface ActorColumns {
  workspace: string
  id: string
  kind: string
}

interface InboxColumns extends ActorColumns {
  actor: string
  command: string
}

const refOf = ({ workspace, id, kind }: ActorColumns): ReadonlyArray<ActorRef> =>
  // A kind that this version does not know is left to nodes that do.
  isActorKind(kind) ? [{ workspace: fromUuid("workspace", workspace), kind, id: fromUuid(nouns[kind].id, id) }] : []

const inboxRows = (rows: ReadonlyArray<InboxColumns>) =>
  rows.flatMap((row): ReadonlyArray<InboxRow> => refOf({ ...row, id: row.actor }).map((actor) => ({ id: row.id, actor, command: row.command })))

const unavailable = <A>(effect: Effect.Effect<A, DatabaseUnavailable>) => Effect.mapError(effect, ({ cause }) => new JournalUnavailable({ cause }))

export interface JournalOptions {
  /** Append statements under way at once: as many as the database has writer connections. */
  readonly lanes?: number
}

export const layerPostgres = (options: JournalOptions = {}) =>
  Layer.effect(Journal, Effect.gen(function*() {
    const database = yield* Database
    const lease = yield* Lease
    const append = appends(database, options.lanes ?? 1)
    const claim = claims(database)

    return Journal.of({
      append: (entry) => append({ ...entry, owner: lease.incarnation() }),
      claim: (actor) => claim({ actor, owner: lease.incarnation() }),
      load: loads(database),
      release: (actors) => {
        if (actors.length === 0) return Effect.void
        const sorted = [...actors].sort((a, b) => a.actor.id < b.actor.id ? -1 : 1)
        const me = lease.incarnation()
        return unavailable(database.read({
          name: "release",
          text: releasing,
          values: [
            uuids(sorted, ({ actor }) => actor.workspace),
            uuids(sorted, ({ actor }) => actor.id),
            ints(sorted, ({ epoch }) => epoch),
            uuids(sorted, () => me)
          ]
        })).pipe(Effect.asVoid)
      },
      quarantine: ({ id, workspace }, epoch) =>
        unavailable(database.read({ name: "quarantine", text: quarantining, values: [toUuid(workspace), toUuid(id), epoch, toUuid(lease.incarnation())] })).pipe(
          Effect.asVoid
        ),
      due: (limit, shards) =>
        unavailable(database.read<ActorColumns>({ name: "due", text: due, values: [limit, shards] })).pipe(
          Effect.map((rows) => rows.flatMap(refOf))
        ),
      log: (actor, afterPos, types) => unavailable(wholeLog(database, actor, afterPos, types)),
      key: (workspace, scope) =>
        unavailable(database.read<{ scope: string; fingerprint: string; status: number; body: string }>({
          name: "key",
          text: keeping,
          values: [toUuid(workspace), scope]
        })).pipe(Effect.map((rows) => rows[0])),
      attributes: ({ id, workspace }) =>
        unavailable(database.read<{ attributes: string }>({ name: "attributes", text: describing, values: [toUuid(workspace), toUuid(id)] })).pipe(
          Effect.map(([row]) => row && long(row.attributes))
        ),
      input: (actor, inputId) => unavailable(storedInput(database, actor, inputId)),
      post: ({ actor, command, id }, kept) => {
        const row = [toUuid(actor.workspace), id, toUuid(actor.id), actor.kind, command]
        return kept === undefined
          ? unavailable(database.read({ name: "post", text: posting, values: row })).pipe(Effect.as(true))
          : unavailable(database.read({ name: "post once", text: postingOnce, values: [...row, kept.scope, kept.status, kept.fingerprint, kept.body] })).pipe(
            Effect.map((rows) => rows.length > 0)
          )
      },
      inbox: (limit, shards) =>
        unavailable(database.read<InboxColumns>({ name: "inbox", text: waiting, values: [toUuid(lease.incarnation()), limit, shards] })).pipe(
          Effect.map(inboxRows)
        ),
      posted: ({ id, workspace }) =>
        unavailable(database.read<InboxColumns>({ name: "posted", text: posted, values: [toUuid(workspace), toUuid(id)] })).pipe(Effect.map(inboxRows))
    })
  }))
