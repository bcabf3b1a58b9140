/**
 * Schedules as rows: made, merged, deleted. Functions over a connection or a transaction.
 *
 * L1. `rev` rises by one with every change of what a client has said; it is the ETag.
 * L2. Each change tells the schedule's actor in the same transaction, by a row of its inbox; the birth of the actor is
 *     part of the transaction that makes the schedule.
 * L3. Whoever makes a schedule holds its agent's row: no two take the last place.
 */
import { Result, type Schema } from "effect"
import { sql } from "kysely"
import { isDeepStrictEqual } from "node:util"
import type { Db } from "../database/handle.ts"
import { short } from "../database/shorthand.ts"
import { toUuid } from "../domain/ids.ts"
import { limits } from "../domain/limits.ts"
import { mergePatch } from "../domain/mergePatch.ts"
import type { Principal } from "../domain/principal.ts"
import { strictly } from "../domain/strict.ts"
import { imagesNamedIn, missingImage } from "../images/naming.ts"
import { missingImages } from "../images/rows.ts"
import { freshId } from "../seed.ts"
import { type CronProblem, cronProblem } from "./cron.ts"
import { heldSchedule, readAnySchedule } from "./reading.ts"
import { ScheduleInput, type SchedulePatch } from "./schedule.ts"
import { type ScheduleSettings, settled } from "./settled.ts"
import { type StoredSchedule, scheduleSettingsOf } from "./shown.ts"
import { targetThread } from "./target.ts"

/** Who makes, changes or runs one: in a turn, with that turn's hops. */
export interface SchedulingBy {
  readonly principal: Principal
  readonly hops: number
}

export interface ScheduleNotThere {
  readonly refused: "not_found" | "precondition"
}
export type UnfitSchedule =
  | { readonly refused: "thread_not_found" | "thread_archived" }
  | { readonly refused: CronProblem | "moment" | "image_not_found"; readonly message: string }
export type SchedulePatchRefusal =
  | ScheduleNotThere
  | UnfitSchedule
  | { readonly refused: "agent_archived" }
  | { readonly refused: "invalid"; readonly cause: Schema.SchemaError }
export type ScheduleRunRefusal = { readonly refused: "not_found" | "agent_archived" }
export type ScheduleCreateRefusal = UnfitSchedule | { readonly refused: "no_agent" | "agent_archived" | "too_many" }

const decodeInput = strictly(ScheduleInput)
/** As it is stored. */
const bodyOf = (input: ScheduleSettings, hops: number) => JSON.stringify(hops === 0 ? input : { ...input, hops })

/** L2. */
const tell = (tx: Db, workspace: string, scheduleId: string, id: string, command: object) =>
  tx
    .insertInto("inbox")
    .values({
      workspace: toUuid(workspace),
      id,
      actor: toUuid(scheduleId),
      kind: "schedule",
      command: JSON.stringify(command)
    })
    .onConflict((c) => c.doNothing())
    .execute()

const tellOfRev = (tx: Db, workspace: string, scheduleId: string, rev: number) =>
  tell(tx, workspace, scheduleId, `${scheduleId} ${rev}`, { type: "configure" })

/** The actor as it is before it has been told anything. */
const bear = (tx: Db, workspace: string, scheduleId: string, agentId: string, by: Principal, at: Date) =>
  sql`insert into heads (workspace, id, parent, created_at, kind, attributes, owner, epoch, pos, seq, rev, touched,
      updated_at, since, runnable_at, status, carry)
    values (${toUuid(workspace)}::uuid, ${toUuid(scheduleId)}::uuid, ${toUuid(agentId)}::uuid, ${at}, 'schedule',
      ${short(JSON.stringify({ createdBy: by }))}, null, 0, 0, 0, 1, ${Math.floor(at.getTime() / 60_000)}, ${at}, null,
      null, 'resting', '{}')`.execute(tx)

/** What is further ahead is most likely a slip, and the database has no word for all of it. */
const farthestMs = 100 * 365.25 * 86_400_000

/** What a trigger may not be. */
const unfitTrigger = ({ enabled, trigger }: ScheduleSettings, now: number): UnfitSchedule | undefined => {
  if (trigger.type === "cron") {
    const problem = cronProblem(trigger.expression, trigger.timezone, now)
    return problem && { refused: problem.code, message: `trigger.${problem.message}` }
  }
  const [field, first] =
    trigger.type === "once" ? (["at", trigger.at] as const) : (["startAt", trigger.startAt] as const)
  if (first !== undefined && Date.parse(first) > now + farthestMs)
    return { refused: "moment", message: `trigger.${field}: expected a moment within a hundred years` }
  return trigger.type === "once" && enabled && Date.parse(trigger.at) <= now
    ? { refused: "moment", message: "trigger.at: expected a moment that is still to come" }
    : undefined
}

const unfitTarget = async (
  tx: Db,
  workspace: string,
  agentId: string,
  { target }: ScheduleSettings
): Promise<UnfitSchedule | undefined> => {
  if (target.mode === "spawn") return undefined
  const thread = await targetThread(tx, workspace, agentId, target.threadId)
  if (thread === undefined) return { refused: "thread_not_found" }
  return thread.archived ? { refused: "thread_archived" } : undefined
}

/** The images that it names are the agent's, as those of any message to it; most name none. */
const unfitMessage = async (
  tx: Db,
  workspace: string,
  agentId: string,
  { message: { content } }: ScheduleSettings
): Promise<UnfitSchedule | undefined> => {
  const named = imagesNamedIn(content)
  if (named.length === 0) return undefined
  const missing = missingImage(content, await missingImages(tx, workspace, agentId, named), "message.")
  return missing && { refused: missing.error, message: missing.message }
}

const agentOf = (tx: Db, workspace: string, agentId: string) =>
  tx
    .selectFrom("agents")
    .select("archived_at")
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(agentId))

/** Nothing wakes one that is. One that is archived just now tells its schedules of that itself. */
const isArchived = async (tx: Db, workspace: string, agentId: string) =>
  (await agentOf(tx, workspace, agentId).executeTakeFirst())?.archived_at != null

export const createSchedule = async (
  tx: Db,
  workspace: string,
  agentId: string,
  said: ScheduleInput,
  { hops, principal: by }: SchedulingBy,
  now: number,
  /** Of one that may have been made before: then it is the one that is there. */
  id = freshId("schedule")
): Promise<StoredSchedule | ScheduleCreateRefusal> => {
  const before = await readAnySchedule(tx, workspace, id)
  if (before !== undefined) return before
  const agent = await agentOf(tx, workspace, agentId).forUpdate().executeTakeFirst()
  if (agent === undefined) return { refused: "no_agent" }
  if (agent.archived_at !== null) return { refused: "agent_archived" }
  const input = settled(said)
  const unfit =
    unfitTrigger(input, now) ??
    (await unfitTarget(tx, workspace, agentId, input)) ??
    (await unfitMessage(tx, workspace, agentId, input))
  if (unfit !== undefined) return unfit
  const { count } = await tx
    .selectFrom("schedules")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("workspace", "=", toUuid(workspace))
    .where("agent", "=", toUuid(agentId))
    .where("deleted_at", "is", null)
    .executeTakeFirstOrThrow()
  if (Number(count) >= limits.schedules) return { refused: "too_many" }
  const at = new Date(Math.floor(now))
  await tx
    .insertInto("schedules")
    .values({
      workspace: toUuid(workspace),
      id: toUuid(id),
      agent: toUuid(agentId),
      body: bodyOf(input, hops),
      rev: 1,
      anchor: at,
      created_at: at,
      created_by: JSON.stringify(by),
      updated_at: at,
      deleted_at: null
    })
    .execute()
  await bear(tx, workspace, id, agentId, by, at)
  await tellOfRev(tx, workspace, id, 1)
  return {
    id,
    agentId,
    input,
    hops,
    rev: 1,
    anchor: at.getTime(),
    createdAt: at.getTime(),
    createdBy: by,
    updatedAt: at.getTime(),
    deleted: false,
    carry: "{}"
  }
}

/** A trigger or target of another type is a new one: what the other type had says nothing of it. */
const withoutOther = (input: ScheduleSettings, patch: SchedulePatch) => {
  const { target, trigger, ...rest } = input
  return {
    ...rest,
    ...(patch.trigger?.type !== undefined && patch.trigger.type !== trigger.type ? {} : { trigger }),
    ...(patch.target === undefined ? { target } : {})
  }
}

/** Whether instants count anew. */
const isNewClock = (before: ScheduleSettings, after: ScheduleSettings) =>
  !isDeepStrictEqual(before.trigger, after.trigger) || (!before.enabled && after.enabled)

export const patchSchedule = async (
  tx: Db,
  workspace: string,
  agentId: string,
  id: string,
  patch: SchedulePatch,
  hops: number,
  fits: (rev: number) => boolean,
  now: number
): Promise<StoredSchedule | SchedulePatchRefusal> => {
  const found = await heldSchedule(tx, workspace, agentId, id)
  if (found === undefined) return { refused: "not_found" }
  if (!fits(found.rev)) return { refused: "precondition" }
  const merged = decodeInput(mergePatch(withoutOther(found.input, patch), { ...patch }))
  if (Result.isFailure(merged)) return { refused: "invalid", cause: merged.failure }
  const input = settled(merged.success)
  const isForced = scheduleSettingsOf(found).disabledReason !== undefined
  // What was disabled by force is enabled again by saying so, and by nothing else.
  const enablesAnew = isForced && patch.enabled !== undefined && patch.enabled !== false
  if (isDeepStrictEqual(input, found.input) && !enablesAnew) return found
  const isSwitchedOn = input.enabled && (enablesAnew || !found.input.enabled)
  if (isSwitchedOn && (await isArchived(tx, workspace, agentId))) return { refused: "agent_archived" }
  const changesClock = isForced ? enablesAnew : isNewClock(found.input, input)
  // A thread that was taken before may have come to its end since.
  const isTarget = !isDeepStrictEqual(input.target, found.input.target)
  const unfit =
    (changesClock ? unfitTrigger(input, now) : undefined) ??
    (isTarget ? await unfitTarget(tx, workspace, agentId, input) : undefined) ??
    (isDeepStrictEqual(input.message, found.input.message)
      ? undefined
      : await unfitMessage(tx, workspace, agentId, input))
  if (unfit !== undefined) return unfit
  // Later than what was, so that an anchor tells one clock from another.
  const at = new Date(Math.max(Math.floor(now), found.updatedAt + 1))
  const rev = found.rev + 1
  const anchor = changesClock ? at : new Date(found.anchor)
  await tx
    .updateTable("schedules")
    .set({ body: bodyOf(input, hops), rev, anchor, updated_at: at })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .execute()
  await tellOfRev(tx, workspace, id, rev)
  return { ...found, input, hops, rev, anchor: anchor.getTime(), updatedAt: at.getTime() }
}

export const deleteSchedule = async (
  tx: Db,
  workspace: string,
  agentId: string,
  id: string,
  fits: (rev: number) => boolean,
  now: number
): Promise<ScheduleNotThere | undefined> => {
  const found = await heldSchedule(tx, workspace, agentId, id)
  if (found === undefined) return { refused: "not_found" }
  if (!fits(found.rev)) return { refused: "precondition" }
  const at = new Date(Math.floor(now))
  await tx
    .updateTable("schedules")
    .set({ rev: found.rev + 1, updated_at: at, deleted_at: at })
    .where("workspace", "=", toUuid(workspace))
    .where("id", "=", toUuid(id))
    .execute()
  await tellOfRev(tx, workspace, id, found.rev + 1)
  return undefined
}

/** A run by hand: its actor is told, and does it once. */
export const askForRun = async (
  tx: Db,
  workspace: string,
  agentId: string,
  id: string,
  hops: number,
  now: number,
  runId = freshId("scheduleRun")
): Promise<{ readonly runId: string; readonly at: number } | ScheduleRunRefusal> => {
  const found = await heldSchedule(tx, workspace, agentId, id)
  if (found === undefined) return { refused: "not_found" }
  if (await isArchived(tx, workspace, agentId)) return { refused: "agent_archived" }
  const at = Math.floor(now)
  await tell(tx, workspace, id, runId, { type: "run", runId, scheduledAt: at, ...(hops === 0 ? {} : { hops }) })
  return { runId, at }
}

/** Schedules of an agent that was archived hear of it. */
export const tellSchedulesOf = (tx: Db, workspace: string, agentId: string) =>
  sql`insert into inbox (workspace, id, actor, kind, command)
    select s.workspace, 'archived ' || s.id, s.id, 'schedule', ${JSON.stringify({ type: "configure" })}
    from schedules s where s.workspace = ${toUuid(workspace)}::uuid and s.agent = ${toUuid(agentId)}::uuid
      and s.deleted_at is null
    on conflict do nothing`.execute(tx)
