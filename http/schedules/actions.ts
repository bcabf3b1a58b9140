/** What may park of schedules: to make, change and delete one, and to run it now. */
import { Effect, Schema } from "effect"
import { Bus } from "../../src/bus/Bus.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { shardOf } from "../../src/journal/shard.ts"
import { agentArchived, notMade, notThere, unfit } from "../../src/schedules/refusals.ts"
import {
  askForRun,
  type ScheduleCreateRefusal,
  createSchedule,
  deleteSchedule,
  type ScheduleNotThere,
  type SchedulePatchRefusal,
  patchSchedule
} from "../../src/schedules/rows.ts"
import { ScheduleInput, SchedulePatch } from "../../src/schedules/schedule.ts"
import { shownSchedule, startingRun, type StoredSchedule } from "../../src/schedules/shown.ts"
import type { Asking } from "../actions/Action.ts"
import { defineAction } from "../actions/defineAction.ts"
import { refuseBody } from "../badInput.ts"
import { Refused } from "../errors.ts"
import { etag, meets } from "../etag.ts"
import { emptyAnswer, jsonAnswer } from "../writes.ts"

export const noSchedule = new Refused({ error: "not_found", message: "no such schedule" })

// Two branches, since words that every endpoint may refuse with are typed apart from those that it declares.

const isNotMade = (why: ScheduleCreateRefusal) => {
  const said = notMade(why)
  return said.error === "not_found" || said.error === "invalid_request" ? new Refused(said) : new Refused(said)
}

const isNotThere = (why: ScheduleNotThere) => {
  const said = notThere(why)
  return said.error === "not_found" ? new Refused(said) : new Refused(said)
}

const isNotChanged = (why: SchedulePatchRefusal) => {
  switch (why.refused) {
    case "invalid":
      return refuseBody(why.cause)
    case "not_found":
    case "precondition":
      return isNotThere({ refused: why.refused })
    case "agent_archived":
      return new Refused(agentArchived)
    default: {
      const said = unfit(why)
      return said.error === "invalid_request" ? new Refused(said) : new Refused(said)
    }
  }
}

const pathOf = ({ agentId, id }: StoredSchedule) => `/v1/agents/${agentId}/schedules/${id}`
const answer = (schedule: StoredSchedule) =>
  jsonAnswer({ schedule: shownSchedule(schedule) }, 200, { etag: etag(schedule.rev) })

const One = { agentId: Schema.String, scheduleId: Schema.String }
const ifMatch = Schema.optionalKey(Schema.String)
const NewOne = Schema.Struct({ agentId: Schema.String, input: ScheduleInput })
const ChangeOfOne = Schema.Struct({ ...One, ifMatch, patch: SchedulePatch })
const DeleteOne = Schema.Struct({ ...One, ifMatch })
const RunOne = Schema.Struct(One)
/** Of the turn in which it is asked. */
const hopsOf = (from: Asking["from"]) => from?.hops ?? 0
const agentOf = (_: string, { agentId }: { readonly agentId: string }) => Effect.succeed(agentId)

export const makeScheduleActions = Effect.gen(function* () {
  const bus = yield* Bus
  const lease = yield* Lease
  /** By the request that has made one: whose actor is to be woken. */
  const made = new WeakMap<object, string>()
  const wake = (scheduleId: string | undefined) => {
    if (scheduleId !== undefined) bus.wake(shardOf(scheduleId))
  }

  return {
    create: defineAction({
      name: "schedule.create",
      params: NewOne,
      scope: "write",
      agentOf,
      tool: ({ input }) => ({ name: "schedules.create", input }),
      way: {
        type: "change",
        change: async (tx, { from, principal, workspace }, params) => {
          const by = { principal, hops: hopsOf(from) }
          const created = await createSchedule(tx, workspace, params.agentId, params.input, by, lease.now())
          if ("refused" in created) return isNotMade(created)
          made.set(params, created.id)
          return jsonAnswer({ schedule: shownSchedule(created) }, 201, {
            location: pathOf(created),
            etag: etag(created.rev)
          })
        },
        changed: (_, params) => wake(made.get(params))
      }
    }),

    update: defineAction({
      name: "schedule.update",
      params: ChangeOfOne,
      scope: "write",
      agentOf,
      tool: ({ patch, scheduleId }) => ({ name: "schedules.update", input: { scheduleId, ...patch } }),
      way: {
        type: "change",
        change: async (tx, { from, workspace }, { agentId, ifMatch, patch, scheduleId }) => {
          const fits = meets(ifMatch)
          const hops = hopsOf(from)
          const patched = await patchSchedule(tx, workspace, agentId, scheduleId, patch, hops, fits, lease.now())
          return "refused" in patched ? isNotChanged(patched) : answer(patched)
        },
        changed: (_, { scheduleId }) => wake(scheduleId)
      }
    }),

    delete: defineAction({
      name: "schedule.delete",
      params: DeleteOne,
      scope: "write",
      agentOf,
      tool: ({ scheduleId }) => ({ name: "schedules.delete", input: { scheduleId } }),
      way: {
        type: "change",
        change: async (tx, { workspace }, { agentId, ifMatch, scheduleId }) => {
          const refused = await deleteSchedule(tx, workspace, agentId, scheduleId, meets(ifMatch), lease.now())
          return refused === undefined ? emptyAnswer : isNotThere(refused)
        },
        changed: (_, { scheduleId }) => wake(scheduleId)
      }
    }),

    run: defineAction({
      name: "schedule.run",
      params: RunOne,
      scope: "run",
      agentOf,
      tool: ({ scheduleId }) => ({ name: "schedules.run", input: { scheduleId } }),
      way: {
        type: "change",
        change: async (tx, { from, workspace }, { agentId, scheduleId }) => {
          const placed = await askForRun(tx, workspace, agentId, scheduleId, hopsOf(from), lease.now())
          if ("refused" in placed) return placed.refused === "agent_archived" ? new Refused(agentArchived) : noSchedule
          const run = startingRun(scheduleId, placed.runId, placed.at, "manual")
          return jsonAnswer({ run }, 201, { location: `/v1/agents/${agentId}/schedules/${scheduleId}/runs` })
        },
        changed: (_, { scheduleId }) => wake(scheduleId)
      }
    })
  }
})
