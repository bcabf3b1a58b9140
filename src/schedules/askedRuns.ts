/** Runs by hand that a schedule's actor has not heard of yet: rows of its inbox, written as they were asked for. */
import { Result, Schema } from "effect"
import type { Db } from "../database/handle.ts"
import { idOf, toUuid } from "../domain/ids.ts"
import type { ScheduleRun } from "./schedule.ts"
import { startingRun } from "./shown.ts"

/** As a transaction leaves it in the inbox. `hops`: of the turn that asks; absent: none. */
export const AskedRun = Schema.Struct({
  type: Schema.Literal("run"),
  runId: idOf("scheduleRun"),
  /** When it was asked for, milliseconds. */
  scheduledAt: Schema.Int,
  hops: Schema.optionalKey(Schema.Int)
})

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(AskedRun))

export const listAskedRuns = async (
  db: Db,
  workspace: string,
  scheduleId: string
): Promise<ReadonlyArray<ScheduleRun>> => {
  const rows = await db
    .selectFrom("inbox")
    .select("command")
    .where("workspace", "=", toUuid(workspace))
    .where("actor", "=", toUuid(scheduleId))
    .where("kind", "=", "schedule")
    .execute()
  return rows.flatMap(({ command }) => {
    const decoded = decode(command)
    // Anything else that it is told of is no run.
    if (Result.isFailure(decoded)) return []
    const { runId, scheduledAt } = decoded.success
    return [startingRun(scheduleId, runId, scheduledAt, "manual")]
  })
}
