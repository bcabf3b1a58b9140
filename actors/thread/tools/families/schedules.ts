/**
 * The family `schedules`: messages that the agent gets by itself later, again and again or once.
 *
 * N1. A schedule that a call makes has an id that derives from the call: a call that runs again finds what it has made.
 */
import { Effect, Result, Schema } from "effect"
import type { AgentMayName } from "../../../../src/agents/agentModels.ts"
import type { Database } from "../../../../src/database/Database.ts"
import type { Tx } from "../../../../src/database/handle.ts"
import { withdrawable } from "../../../../src/database/withdrawable.ts"
import { wordsOf } from "../../../../src/domain/problems.ts"
import { ScheduleId } from "../../../../src/domain/resourceIds.ts"
import type { OperationAction } from "../../../../src/operations/operation.ts"
import { listSchedules, readSchedule } from "../../../../src/schedules/reading.ts"
import {
  agentArchived,
  modelNotInProfile,
  notMade,
  notRun,
  notThere,
  type ScheduleRefusal,
  unfit
} from "../../../../src/schedules/refusals.ts"
import {
  askForRun,
  createSchedule,
  deleteSchedule,
  type SchedulePatchRefusal,
  patchSchedule,
  type SchedulingBy
} from "../../../../src/schedules/rows.ts"
import { ScheduleInput, SchedulePatch } from "../../../../src/schedules/schedule.ts"
import { shownSchedule, startingRun } from "../../../../src/schedules/shown.ts"
import type { CallBy } from "../../settings.ts"
import type { ToolApproval } from "../approval.ts"
import { begunBy } from "../derivedIds.ts"
import type { BuiltInOutcome } from "../toolkit.ts"
import { builtIn, type Family, toolError } from "../builtIn.ts"
import { pageFields, pageOf, rowsAsked } from "./pages.ts"

export interface SchedulesOptions {
  readonly approval: ToolApproval
  readonly mayName: AgentMayName
  readonly database: Database["Service"]
  /** Milliseconds by the journal's clock. */
  readonly now: () => number
  /** Has the actor look at its inbox. */
  readonly wake: (scheduleId: string) => void
}

const scheduleId = ScheduleId.annotate({ description: "Id of the schedule, sch_…; schedules.list has them." })

// Its schedules work for whom the turn works for that makes them.
const { identity: _given, ...createFields } = ScheduleInput.fields
const { identity: _changed, ...patchFields } = SchedulePatch.fields
const CreateInput = Schema.Struct(createFields)
const UpdateInput = Schema.Struct({ scheduleId, ...patchFields })

const refusal = ({ error, message }: ScheduleRefusal<string>) => toolError(`${error}: ${message}.`)
const noSchedule = refusal(notThere({ refused: "not_found" }))

const notChanged = (why: SchedulePatchRefusal) => {
  switch (why.refused) {
    case "invalid":
      return toolError(`invalid_request: ${wordsOf(why.cause.issue, "the schedule")}`)
    case "not_found":
    case "precondition":
      return refusal(notThere({ refused: why.refused }))
    case "agent_archived":
      return refusal(agentArchived)
    default:
      return refusal(unfit(why))
  }
}

const authorOf = ({ agentId, hops, identity }: CallBy): SchedulingBy => ({
  principal: { type: "agent", id: agentId, ...(identity === undefined ? {} : { identity }) },
  hops
})

export const schedulesFamily = ({ approval, database, mayName, now, wake }: SchedulesOptions): Family => {
  const withdrawing = withdrawable(database)
  const always = () => true

  /** Parks where the policy says so, and nothing hopeless; else it is done. */
  const done = Effect.fnUntraced(function* (
    by: CallBy,
    action: OperationAction,
    request: object,
    scheduleId: string,
    toolCallId: string,
    work: (tx: Tx) => Promise<BuiltInOutcome>
  ) {
    const tried = withdrawing<never, BuiltInOutcome>(`${action} (tried)`, async (tx) =>
      Result.fail(await work(tx))
    ).pipe(
      Effect.catch((found) =>
        "_tag" in found ? Effect.fail(found) : Effect.succeed(found.failure === undefined ? undefined : found)
      )
    )
    const parked = yield* approval(by, { action, request: { agentId: by.agentId, ...request }, toolCallId }, tried)
    if (parked !== undefined) return parked
    const outcome = yield* database.atomically(action, work)
    if (outcome.failure === undefined) wake(scheduleId)
    return outcome
  })

  /** What names a model that the agent may not have is refused. */
  const withModel = (
    { agentId, workspace }: CallBy,
    { model }: { readonly model?: string | null },
    work: ReturnType<typeof done>
  ) =>
    Effect.flatMap(mayName(workspace, agentId, model), (may) =>
      may ? work : Effect.succeed(refusal(modelNotInProfile))
    )

  const reading = [
    builtIn({
      name: "schedules.list",
      description: "Lists your schedules, newest first: when each fires, what it says, and what came of it last.",
      input: Schema.Struct(pageFields),
      readOnly: true,
      run: ({ agentId, workspace }, page) =>
        Effect.map(
          database.run("schedules.list", (db) => listSchedules(db, workspace, agentId, rowsAsked(page))),
          (found) => {
            const { rows, ...more } = pageOf(page, found.map(shownSchedule))
            return { output: { schedules: rows, ...more } }
          }
        )
    }),
    builtIn({
      name: "schedules.get",
      description: "Gets one of your schedules, with its next instants.",
      input: Schema.Struct({ scheduleId }),
      readOnly: true,
      run: ({ agentId, workspace }, chosen) =>
        Effect.map(
          database.run("schedules.get", (db) => readSchedule(db, workspace, agentId, chosen.scheduleId)),
          (found) => (found === undefined ? noSchedule : { output: { schedule: shownSchedule(found) } })
        )
    })
  ]

  const changing = [
    builtIn({
      name: "schedules.create",
      description:
        "Makes a schedule: you get its message at its instants, in a new conversation each time (target spawn) or in " +
        "one thread of yours. Say in the message all that you will need to know then.",
      input: CreateInput,
      readOnly: false,
      idempotent: true,
      run: (by, input, toolCallId) => {
        const id = begunBy("schedule", toolCallId)
        const work = done(by, "schedule.create", { input }, id, toolCallId, async (tx) => {
          const made = await createSchedule(tx, by.workspace, by.agentId, input, authorOf(by), now(), id)
          return "refused" in made ? refusal(notMade(made)) : { output: { schedule: shownSchedule(made) } }
        })
        return withModel(by, input, work)
      }
    }),
    builtIn({
      name: "schedules.update",
      description: "Changes one of your schedules: what is left out stays, null clears.",
      input: UpdateInput,
      readOnly: false,
      idempotent: true,
      run: (by, { scheduleId, ...patch }, toolCallId) => {
        const work = done(by, "schedule.update", { scheduleId, patch }, scheduleId, toolCallId, async (tx) => {
          const found = await patchSchedule(tx, by.workspace, by.agentId, scheduleId, patch, by.hops, always, now())
          return "refused" in found ? notChanged(found) : { output: { schedule: shownSchedule(found) } }
        })
        return withModel(by, patch, work)
      }
    }),
    builtIn({
      name: "schedules.delete",
      description: "Deletes one of your schedules: it fires no more.",
      input: Schema.Struct({ scheduleId }),
      readOnly: false,
      run: (by, { scheduleId }, toolCallId) =>
        done(by, "schedule.delete", { scheduleId }, scheduleId, toolCallId, async (tx) => {
          const refused = await deleteSchedule(tx, by.workspace, by.agentId, scheduleId, always, now())
          return refused === undefined ? { output: { deleted: true } } : refusal(notThere(refused))
        })
    }),
    builtIn({
      name: "schedules.run",
      description: "Has one of your schedules fire now, whatever its instants say.",
      input: Schema.Struct({ scheduleId }),
      readOnly: false,
      idempotent: true,
      run: (by, { scheduleId }, toolCallId) =>
        done(by, "schedule.run", { scheduleId }, scheduleId, toolCallId, async (tx) => {
          const runId = begunBy("scheduleRun", toolCallId)
          const placed = await askForRun(tx, by.workspace, by.agentId, scheduleId, by.hops, now(), runId)
          return "refused" in placed
            ? refusal(notRun(placed))
            : { output: { run: startingRun(scheduleId, placed.runId, placed.at, "manual") } }
        })
    })
  ]

  return {
    name: "schedules",
    description: "Messages to yourself at moments to come: every morning, each hour, or once; see them, change them.",
    tools: [...reading, ...changing]
  }
}
