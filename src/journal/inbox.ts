/**
 * Commands that are stored for actors whose owners cannot be reached, until an append accepts them.
 *
 * X1. A look brings the first rows of several actors, so many of each: an actor with many rows does not stand
 *     before the others.
 * X2. Rows that cannot be read here, of kinds that this version does not know or named by the caller, are passed over:
 *     they take nobody's place.
 */
import { Effect } from "effect"
import { toUuid } from "../domain/ids.ts"
import type { Database } from "../database/Database.ts"
import { refOf } from "./agenda.ts"
import type { ActorRef, IdempotencyRow, InboxRow, InboxWanted, KindNouns, PostedWanted } from "./Journal.ts"

const columns = "i.id, i.workspace, i.actor, i.kind, i.command"

// From actor to actor by the index, not through all rows of each; as far as it takes to find enough.
const waiting = `with recursive actors as (
  (select i.actor from inbox i where i.actor > $5::uuid order by i.actor limit 1)
  union all
  select following.actor from actors a cross join lateral (select i.actor from inbox i where i.actor > a.actor order by
    i.actor limit 1) following)
select ${columns} from (select a.actor, h.workspace from actors a
    cross join lateral (select h.workspace, h.owner from heads h where h.id = a.actor offset 0) h
    where (h.owner = $1 or (get_bit($4::bytea, fine_shard_of(a.actor)) = 1
        and (h.owner is null or h.owner not in (select n.incarnation from nodes n where n.deadline >
          clock_timestamp()))))
      and exists (select from inbox i where i.actor = a.actor and i.workspace = h.workspace and i.kind = any
        ($6::text[]) and i.id <> all ($7::text[]))
    limit $2) as found
cross join lateral (select * from inbox i where i.actor = found.actor and i.workspace = found.workspace and i.kind =
  any ($6::text[]) and i.id <> all ($7::text[])
  order by i.created_at, i.id limit $3) i
order by i.actor, i.created_at, i.id`

const posted = `select ${columns} from inbox i where i.actor = $2 and i.workspace = $1 and i.kind = any ($3::text[]) and
  i.id <> all ($4::text[]) order by i.created_at, i.id limit $5`

const posting = `insert into inbox (workspace, id, actor, kind, command) values ($1, $2, $3, $4, $5) on conflict do
  nothing`

// The answer is kept with it, unless another answer has been: then that one counts, and nothing is stored.
const postingOnce = `with kept as (insert into idempotency (workspace, scope, created_at, status, fingerprint, body)
  values ($1, $6, now(), $7, $8, $9)
  on conflict (workspace, scope) do update set status = excluded.status, fingerprint = excluded.fingerprint, body =
    excluded.body, created_at = excluded.created_at
  where idempotency.created_at <= now() - interval '24 hours' returning scope)
insert into inbox (workspace, id, actor, kind, command) select $1, $2, $3, $4, $5 from kept on conflict do nothing
  returning id`

interface InboxColumns {
  id: string
  workspace: string
  actor: string
  kind: string
  command: string
}

const rowsOf = (kinds: ReadonlyMap<string, KindNouns>, rows: ReadonlyArray<InboxColumns>) =>
  rows.flatMap(
    (row): ReadonlyArray<InboxRow> =>
      refOf(kinds, { ...row, id: row.actor }).map((actor) => ({ id: row.id, actor, command: row.command }))
  )

const first = "00000000-0000-0000-0000-000000000000"

export const makeInbox = (
  database: Pick<Database["Service"], "read">,
  me: () => string,
  kinds: ReadonlyMap<string, KindNouns>
) => ({
  post: ({ actor, command, id }: InboxRow, kept?: IdempotencyRow) => {
    const row = [toUuid(actor.workspace), id, toUuid(actor.id), actor.kind, command]
    return kept === undefined
      ? database.read({ name: "post", text: posting, values: row }).pipe(Effect.as(true))
      : database
          .read({
            name: "post once",
            text: postingOnce,
            values: [...row, kept.scope, kept.status, kept.fingerprint, kept.body]
          })
          .pipe(Effect.map((rows) => rows.length > 0))
  },
  inbox: ({ actors, after, except, rows, shards }: InboxWanted) =>
    Effect.map(
      database.read<InboxColumns>({
        name: "inbox",
        text: waiting,
        values: [
          toUuid(me()),
          actors,
          rows,
          shards,
          after === undefined ? first : toUuid(after),
          [...kinds.keys()],
          except
        ]
      }),
      (found) => rowsOf(kinds, found)
    ),
  posted: ({ id, workspace }: ActorRef, { except, rows }: PostedWanted) =>
    Effect.map(
      database.read<InboxColumns>({
        name: "posted",
        text: posted,
        values: [toUuid(workspace), toUuid(id), [...kinds.keys()], except, rows]
      }),
      (found) => rowsOf(kinds, found)
    )
})
