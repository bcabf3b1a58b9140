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

/** Behind a run of the log; or behind some that were not in it yet, which is known by their ids. */
interface Place {
  readonly before: number | undefined
  readonly shown: ReadonlyArray<string>
}

/** As a cursor has it: the seq of the last run, and the ids of those that had none when they were shown. */
export const readPlace = (after: ReadonlyArray<string | number> | undefined): Place | undefined =>
  after && {
    before: after.find((each) => typeof each === "number"),
    shown: after.filter((each) => typeof each === "string")
  }

/**
 * A page of runs, and the place behind it where there are more. What is beginning, or waits, is in front of the log; it
 * may have come into it since that was read, or since the page before.
 */
export const pageOfRuns = ({
  behind,
  limit,
  logged,
  open
}: {
  readonly open: ReadonlyArray<ScheduleRun>
  readonly logged: ReadonlyArray<LoggedRun>
  readonly limit: number
  readonly behind: Place | undefined
}) => {
  const { before, shown = [] } = behind ?? {}
  const inLog = new Set(logged.map(({ run }) => run.id))
  const rows = [
    ...(before === undefined ? open : []).filter(({ id }) => !inLog.has(id)).map((run) => ({ seq: undefined, run })),
    ...logged
  ].filter(({ run }) => !shown.includes(run.id))
  const page = rows.slice(0, limit)
  const seq = page.at(-1)?.seq
  const next = seq === undefined ? [...shown, ...page.map(({ run }) => run.id)] : [seq, ...shown]
  return { runs: page.map(({ run }) => run), next: rows.length > limit ? next : undefined }
}
