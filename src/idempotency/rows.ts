/** Rows of idempotency keys as repositories write them, beside their effects: actors write theirs as they append. */
import { sql } from "kysely"
import type { Tx } from "../database/handle.ts"
import { toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import type { IdempotencyRow } from "../journal/Journal.ts"

/** Stores an answer. False, and nothing stored, when one is kept already: its transaction must not be committed. */
export const keepAnswer = async (tx: Tx, workspace: string, row: IdempotencyRow): Promise<boolean> => {
  const kept = await tx
    .insertInto("idempotency")
    .values({
      workspace: toUuid(workspace),
      scope: row.scope,
      fingerprint: row.fingerprint,
      status: row.status,
      body: row.body
    })
    .onConflict((conflict) =>
      conflict
        .columns(["workspace", "scope"])
        // One that has outlived its day is as if it were not there.
        .doUpdateSet((given) => ({
          fingerprint: given.ref("excluded.fingerprint"),
          status: given.ref("excluded.status"),
          body: given.ref("excluded.body"),
          created_at: given.ref("excluded.created_at")
        }))
        .where("idempotency.created_at", "<=", sql<Date>`now() - make_interval(hours => ${limits.idempotencyHours})`)
    )
    .executeTakeFirst()
  return kept.numInsertedOrUpdatedRows === 1n
}
