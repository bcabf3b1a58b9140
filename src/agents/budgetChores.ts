/**
 * What time leaves to do of budgets: reservations that nobody told of, minutes that are looked at as hours or as all
 * time, and sums of all time.
 */
import { Effect } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { toUuid } from "../domain/ids.ts"
import { Lease } from "../journal/Lease.ts"
import { bookedPrompts } from "./cutOff.ts"

/** Rows a statement: no long locks, no large transactions. */
const portion = 1_000

/**
 * B3 of Budgets.ts: calls that nobody told of, and no node keeps, cost their prompt's price. How many there were.
 */
export const settleOverdue = Effect.fnUntraced(function* () {
  const database = yield* Database
  const { incarnation } = yield* Lease
  const { rows } = yield* database.run("settle overdue", (db) =>
    sql<{ readonly settled: number }>`with me as (select ${toUuid(incarnation())}::uuid as node),
      gone as (delete from reservations where ctid = any (array(select ctid from reservations
          where created_at < now() - interval '15 minutes' limit ${portion} for update skip locked))
        returning workspace, subject, threads, prompt),
      ${sql.raw(bookedPrompts)}
      select count(*)::int as settled from gone`.execute(db)
  )
  return rows[0]?.settled ?? 0
})

/** Of no node: what several have booked is one row then. */
const nobody = "00000000-0000-0000-0000-000000000000"

/**
 * Minutes that are older than 25 hours become the first minute of their hour, what is older than eight days minute 0:
 * windows are looked at by the minute for 24 hours, and by the hour for seven days. How many rows went.
 */
export const rollUpSpend = Effect.fnUntraced(function* () {
  const database = yield* Database
  let gone = 0
  for (;;) {
    const { rows } = yield* database.run("roll up spend", (db) =>
      sql<{ readonly gone: number }>`with
        now_minute as (select floor(extract(epoch from now()) / 60)::int as minute),
        gone as (delete from spend_by_node where ctid = any (array(select s.ctid from spend_by_node s, now_minute n
            where s.minute < n.minute - 1500 and s.minute > 0
              and (s.minute < n.minute - 11520 or s.minute % 60 <> 0 or s.node <> ${nobody}::uuid)
            limit ${portion} for update of s skip locked))
          returning workspace, subject, minute, amount),
        rolled as (insert into spend_by_node (workspace, subject, minute, node, amount)
          select workspace, subject, case when gone.minute < n.minute - 11520 then 0 else gone.minute / 60 * 60 end,
              ${nobody}::uuid, sum(amount)
            from gone, now_minute n group by 1, 2, 3 order by 1, 2, 3
          on conflict (workspace, subject, minute, node) do update set amount = spend_by_node.amount + excluded.amount)
        select count(*)::int as gone from gone`.execute(db)
    )
    const some = rows[0]?.gone ?? 0
    gone += some
    if (some < portion) return gone
  }
})

/** Minutes before now that are not summed up yet: whatever is under way is booked by then. */
const unsettledMinutes = 60
/** A total that is this much older than it could be is made anew. */
const totalLag = 15

/**
 * Sums up what agents with a budget for all time have spent, so that what is set aside for a call looks at an hour of
 * theirs. A total of the last day goes on from where it is: nothing after it is rolled up yet. How many were made.
 */
export const totalSpend = Effect.fnUntraced(function* () {
  const database = yield* Database
  let made = 0
  for (;;) {
    const { rows } = yield* database.run("total spend", (db) =>
      sql<{ readonly made: number }>`with
        clock as (select floor(extract(epoch from now()) / 60)::int as minute),
        due as (select a.workspace, a.id, c.minute - ${unsettledMinutes} as until,
            coalesce(t.until, 0) as since, coalesce(t.amount, 0) as amount
          from agents a cross join clock c left join spend_totals t
            on t.workspace = a.workspace and t.subject = a.id and t.until > c.minute - 1440
          where a.body::text like '%"window":"total"%' and readable(a.body::text) #>> '{budget,window}' = 'total'
            and coalesce(t.until, 0) < c.minute - ${unsettledMinutes + totalLag}
            and exists (select from spent s where s.workspace = a.workspace and s.subject = a.id
              and s.minute >= greatest(coalesce(t.until, 0), c.minute - 1440)
              and s.minute < c.minute - ${unsettledMinutes})
          limit ${portion}),
        written as (insert into spend_totals (workspace, subject, until, amount)
          select d.workspace, d.id, d.until, d.amount + (select coalesce(sum(s.amount), 0) from spent s
              where s.workspace = d.workspace and s.subject = d.id and s.minute >= d.since and s.minute < d.until)
            from due d order by d.workspace, d.id
          on conflict (workspace, subject) do update set until = excluded.until, amount = excluded.amount
            where spend_totals.until < excluded.until)
        select count(*)::int as made from due`.execute(db)
    )
    const some = rows[0]?.made ?? 0
    made += some
    if (some < portion) return made
  }
})
