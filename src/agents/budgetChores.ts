/**
 * What time leaves to do of budgets: reservations that nobody told of, and minutes that are looked at as hours, or as
 * all time.
 */
import { Effect } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { toUuid } from "../domain/ids.ts"
import { Lease } from "../journal/Lease.ts"

/** Rows a statement: no long locks, no large transactions. */
const portion = 1_000

/**
 * B3 of Budgets.ts: calls that nobody told of, and no node keeps, cost their prompt's price. How many there were.
 * Threads stand before the agents, each in order, as in an append (src/journal/appendStatement.ts): the two never wait
 * for each other.
 */
export const settleOverdue = Effect.fnUntraced(function* () {
  const database = yield* Database
  const { incarnation } = yield* Lease
  const { rows } = yield* database.run("settle overdue", (db) =>
    sql<{ readonly settled: number }>`with
      gone as (delete from reservations where ctid = any (array(select ctid from reservations
          where created_at < now() - interval '15 minutes' limit ${portion} for update skip locked))
        returning workspace, subject, threads, prompt),
      threads as (insert into thread_spend (workspace, thread, amount)
        select workspace, t, sum(prompt) from gone, unnest(threads) t group by 1, 2 order by 1, 2
        on conflict (workspace, thread) do update set amount = thread_spend.amount + excluded.amount),
      booked as (insert into spend_by_node (workspace, subject, minute, node, amount)
        select workspace, subject, floor(extract(epoch from now()) / 60)::int, ${toUuid(incarnation())}::uuid,
          sum(prompt)
          from gone group by 1, 2 order by 1, 2
        on conflict (workspace, subject, minute, node) do update set amount = spend_by_node.amount + excluded.amount)
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
