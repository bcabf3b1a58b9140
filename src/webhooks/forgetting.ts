/** Chores of webhooks: what is not listed any more is removed, and what nobody sends ends as failed. */
import { Effect } from "effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { limits } from "../domain/limits.ts"
import { record, webhooksPending } from "../telemetry/metrics.ts"

/** Rows a statement: no long locks, no large transactions. */
const portion = 2_000

const gone = ["webhook_deliveries", "webhook_events"] as const

/** One round; how many rows went. */
export const forgetDeliveries = Effect.fnUntraced(function* () {
  const database = yield* Database
  let sum = 0
  for (const table of gone) {
    for (let went = portion; went === portion; sum += went) {
      const { numAffectedRows = 0n } = yield* database.run(`forget ${table}`, (db) =>
        sql`delete from ${sql.table(table)} where ctid = any (array(select ctid from ${sql.table(table)}
          where created_at < now() - ${`${limits.webhookDays} days`}::interval limit ${portion} for update skip
            locked))`.execute(db)
      )
      went = Number(numAffectedRows)
    }
  }
  // An event that was told of while its webhook was disabled or deleted has a delivery nevertheless: nobody sends it.
  const { numAffectedRows: left = 0n } = yield* database.run("fail orphans of webhooks", (db) =>
    sql`update webhook_deliveries set state = 'failed', last_error = 'the webhook was disabled'
      where ctid = any (array(select d.ctid from webhook_deliveries d
        where d.state = 'pending' and not exists (select from webhooks k where k.workspace = d.workspace
          and k.id = d.webhook and k.enabled) limit ${portion} for update skip locked))`.execute(db)
  )
  return sum + Number(left)
})

/** More are not counted: whoever reads the figure has seen enough. */
const counted = 100_000

/** For the metric: how many deliveries wait; nothing has been done by it. */
export const countPending = Effect.fnUntraced(function* () {
  const database = yield* Database
  const { rows } = yield* database.run("count webhook deliveries", (db) =>
    sql<{ readonly waiting: number }>`select count(*)::int as waiting from (select from webhook_deliveries
      where state = 'pending' limit ${counted}) waiting`.execute(db)
  )
  record(webhooksPending, rows[0]?.waiting ?? 0)
  return 0
})
