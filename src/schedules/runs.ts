/** Runs of a schedule, as its log tells of them: newest first. */
import type { Db } from "../database/handle.ts"
import { readEvent } from "../journal/storedFact.ts"
import { toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import type { ScheduleRun } from "./schedule.ts"

export interface LoggedRun {
  readonly seq: number
  readonly run: ScheduleRun
}

export const listRuns = async (
  db: Db,
  workspace: string,
  scheduleId: string,
  { before, limit, now }: { readonly before: number | undefined; readonly limit: number; readonly now: number }
): Promise<ReadonlyArray<LoggedRun>> => {
  const rows = await db
    .selectFrom("facts as f")
    .innerJoin("heads as h", "h.id", "f.actor")
    .select(["f.seq", "f.event"])
    .where("h.workspace", "=", toUuid(workspace))
    .where("f.actor", "=", toUuid(scheduleId))
    .where("f.seq", "is not", null)
    .where("f.at", ">", new Date(now - limits.scheduleRunDays * 86_400_000))
    .$if(before !== undefined, (query) => query.where("f.seq", "<", before ?? 0))
    .orderBy("f.pos", "desc")
    .limit(limit)
    .execute()
  return rows.flatMap(({ event, seq }) =>
    seq === null ? [] : [{ seq, run: { ...JSON.parse(readEvent(event).event), scheduleId } }]
  )
}
