/** Schedules of an agent: create, list, get, patch, delete, run, runs (contract C38.1 to C38.6). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { limits } from "../../src/domain/limits.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { AgentId, ScheduleId } from "../../src/domain/resourceIds.ts"
import { Schedule, ScheduleInput, SchedulePatch, ScheduleRun } from "../../src/schedules/schedule.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"

export const ScheduleAnswer = Schema.Struct({ schedule: described(Schedule, "The schedule.") }).annotate({
  identifier: "ScheduleAnswer"
})
export const SchedulePage = Schema.Struct({
  schedules: described(Schema.Array(Schedule), "Schedules of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "SchedulePage" })
export const ScheduleRunAnswer = Schema.Struct({ run: described(ScheduleRun, "The run.") }).annotate({
  identifier: "ScheduleRunAnswer"
})
export const ScheduleRunPage = Schema.Struct({
  runs: described(Schema.Array(ScheduleRun), "Runs of this page, newest first."),
  nextCursor: NextCursor
}).annotate({ identifier: "ScheduleRunPage" })

const says = (summary: string, text: string) => OpenApi.annotations({ summary, description: text })

const path = "/agents/:agentId/schedules"
const onePath = `${path}/:scheduleId` as const
const one = { agentId: AgentId, scheduleId: ScheduleId }

export const SchedulesApi = HttpApiGroup.make("schedules")
  .add(
    HttpApiEndpoint.post("create", path, {
      params: { agentId: AgentId },
      payload: ScheduleInput,
      success: ScheduleAnswer.pipe(HttpApiSchema.status(201)),
      error: refuses(
        "too_many_schedules",
        "agent_archived",
        "thread_archived",
        "thread_not_found",
        "image_not_found",
        "queue_full"
      )
    })
      .annotateMerge(access("write", { stores: "rows", parks: true, lease: true }))
      .annotateMerge(
        says(
          "Create a schedule",
          `An agent has at most ${limits.schedules}. A cron expression without an instant within 28 years is ` +
            "refused, and so is a single instant that is past."
        )
      ),
    HttpApiEndpoint.get("list", path, {
      params: { agentId: AgentId },
      query: { limit: limitOf("schedules"), cursor: CursorParam },
      success: SchedulePage
    })
      .annotateMerge(access("read", { lease: true }))
      .annotateMerge(says("List schedules", "Newest first.")),
    HttpApiEndpoint.get("get", onePath, { params: one, success: ScheduleAnswer })
      .annotateMerge(access("read", { lease: true }))
      .annotateMerge(
        says("Get a schedule", "With its next instants. The ETag is what `If-Match` of a patch is held against.")
      ),
    HttpApiEndpoint.patch("update", onePath, {
      params: one,
      headers: IfMatch,
      payload: SchedulePatch,
      success: ScheduleAnswer,
      error: refuses(
        "precondition_failed",
        "agent_archived",
        "thread_archived",
        "thread_not_found",
        "image_not_found",
        "queue_full"
      )
    })
      .annotateMerge(access("write", { parks: true, lease: true }))
      .annotateMerge(
        says(
          "Change a schedule",
          "JSON Merge Patch (RFC 7396): absent keeps, null clears; a trigger of another type takes the place of " +
            "the one that was. Enabling begins with the next instant, and counts failures anew."
        )
      ),
    HttpApiEndpoint.delete("delete", onePath, {
      params: one,
      headers: IfMatch,
      success: HttpApiSchema.NoContent,
      error: refuses("precondition_failed", "queue_full")
    })
      .annotateMerge(access("write", { parks: true, lease: true }))
      .annotateMerge(says("Delete a schedule", "It fires no more. Its runs stay listed.")),
    HttpApiEndpoint.post("run", `${onePath}/run`, {
      params: one,
      success: ScheduleRunAnswer.pipe(HttpApiSchema.status(201)),
      error: refuses("agent_archived", "queue_full")
    })
      .annotateMerge(access("run", { stores: "rows", parks: true, lease: true }))
      .annotateMerge(
        says(
          "Run a schedule now",
          "Whatever its overlap says, and also while it is disabled. The run begins by itself."
        )
      ),
    HttpApiEndpoint.get("runs", `${onePath}/runs`, {
      params: one,
      query: { limit: limitOf("scheduleRuns"), cursor: CursorParam },
      success: ScheduleRunPage
    })
      .annotateMerge(access("read", { lease: true }))
      .annotateMerge(
        says("List runs", `Runs of the last ${limits.scheduleRunDays} days, newest first, also of a deleted schedule.`)
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Agent schedules." }))
