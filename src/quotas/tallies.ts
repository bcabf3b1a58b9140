/**
 * What nodes have counted, as rows: one a workspace, minute, resource and node.
 *
 * T1. A node adds to its own rows only, in the minute of the database's clock: a minute is over for good when the next
 *     but one has begun, since no statement runs for a minute.
 * T2. Minutes that no window reaches any more are folded: threads into one row a workspace, bytes into nothing.
 */
import { Effect } from "effect"
import { sql } from "kysely"
import { type Gathered, gatheredLimits } from "./quota.ts"
import { fromUuid, toUuid } from "../domain/ids.ts"
import { Database } from "../database/Database.ts"
import { floats, ints, texts, uuids } from "../database/parameters.ts"

export interface Amount {
  readonly workspace: string
  readonly resource: Gathered
  readonly amount: number
}

/** A sum over minutes that are over. */
export interface ClosedAmount extends Amount {
  /** Of the window of 24 hours: 0 for its first hour, 23 for its last. */
  readonly hour: number
}

/** Minutes before `until` are over (T1). */
export interface Closed {
  readonly workspace: string
  readonly until: number
  readonly amounts: ReadonlyArray<ClosedAmount>
}

const windowMinutes = 24 * 60
/** Longer than the window: a fold never takes away what a reader still sums. */
const keptMinutes = windowMinutes + 60

const minute = `floor(extract(epoch from now()) / 60)::int`

const adding = `insert into tallies (workspace, minute, resource, node, amount)
  select w, ${minute}, r, $4, a::bigint from unnest($1::uuid[], $2::text[], $3::float8[]) as given (w, r, a)
  on conflict (workspace, minute, resource, node) do update set amount = tallies.amount + excluded.amount`

const closed = `select w.id as workspace, n.minute - 1 as until, t.resource, greatest(0, t.minute - (n.minute -
  ${windowMinutes})) / 60 as hour, sum(t.amount)::float8 as amount
  from unnest($1::uuid[]) as w (id) cross join (select ${minute} as minute) n
  left join tallies t on t.workspace = w.id and t.minute < n.minute - 1 and (t.resource = 'threads' or t.minute >=
    n.minute - ${windowMinutes})
  group by 1, 2, 3, 4`

const recent = `select t.workspace, t.resource, sum(t.amount)::float8 as amount
  from unnest($1::uuid[], $2::int[]) as w (id, since) join tallies t on t.workspace = w.id and t.minute >= w.since
    group by 1, 2`

interface Row {
  readonly workspace: string
  /** Null of a workspace that nothing was counted of. */
  readonly resource: string | null
  readonly amount: number | null
}

const isGathered = (name: string | null): name is Gathered => name !== null && Object.hasOwn(gatheredLimits, name)

/** Resources of a newer version are passed over. */
const amountOf = ({ amount, resource, workspace }: Row): ReadonlyArray<Amount> =>
  isGathered(resource) && amount !== null ? [{ workspace: fromUuid("workspace", workspace), resource, amount }] : []

export const addTallies = (database: Database["Service"], node: string, amounts: ReadonlyArray<Amount>) =>
  Effect.asVoid(
    database.read({
      name: "tallies add",
      text: adding,
      values: [
        uuids(amounts, (a) => a.workspace),
        texts(amounts, (a) => a.resource),
        floats(amounts, (a) => a.amount),
        toUuid(node)
      ]
    })
  )

/** Sums over the minutes that are over. */
export const closedTallies = (database: Database["Service"], workspaces: ReadonlyArray<string>) =>
  database
    .read<Row & { readonly until: number; readonly hour: number | null }>({
      name: "tallies closed",
      text: closed,
      values: [uuids(workspaces, (id) => id)]
    })
    .pipe(
      Effect.map((rows) =>
        [...Map.groupBy(rows, (row) => row.workspace)].map(
          ([workspace, own]): Closed => ({
            workspace: fromUuid("workspace", workspace),
            until: own[0]?.until ?? 0,
            amounts: own.flatMap((row) => amountOf(row).map((amount) => ({ ...amount, hour: row.hour ?? 0 })))
          })
        )
      )
    )

/** Sums over the minutes from `since` on, of several workspaces. */
export const recentTallies = (
  database: Database["Service"],
  wanted: ReadonlyArray<{ readonly workspace: string; readonly since: number }>
) =>
  database
    .read<Row>({
      name: "tallies recent",
      text: recent,
      values: [uuids(wanted, (w) => w.workspace), ints(wanted, (w) => w.since)]
    })
    .pipe(Effect.map((rows) => rows.flatMap(amountOf)))

/** Rows a statement. */
const portion = 2_000

/** T2: one round; how many rows went. */
export const foldTallies = Effect.fnUntraced(function* () {
  const database = yield* Database
  let gone = 0
  for (;;) {
    const {
      rows: [round]
    } = yield* database.run("fold tallies", (db) =>
      sql<{ readonly gone: number }>`with old as (
        delete from tallies where ctid = any (array(
          select ctid from tallies where minute > 0 and minute < ${sql.raw(minute)} - ${keptMinutes}::int limit
            ${portion} for update skip locked))
        returning workspace, resource, amount),
      folded as (insert into tallies (workspace, minute, resource, node, amount)
        select workspace, 0, resource, '00000000-0000-0000-0000-000000000000'::uuid, sum(amount) from old where
          resource = 'threads' group by workspace, resource order by workspace
        on conflict (workspace, minute, resource, node) do update set amount = tallies.amount + excluded.amount)
      select count(*)::int as gone from old`.execute(db)
    )
    gone += round?.gone ?? 0
    if ((round?.gone ?? 0) < portion) return gone
  }
})
