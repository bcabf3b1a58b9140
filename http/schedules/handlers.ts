/** Schedules: contract to actions and rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { makeAgentMayName } from "../../src/agents/agentModels.ts"
import { Directory } from "../../src/agents/Directory.ts"
import { Database } from "../../src/database/Database.ts"
import { toUuid } from "../../src/domain/ids.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { listAskedRuns } from "../../src/schedules/askedRuns.ts"
import { listSchedules, readAnySchedule, readSchedule } from "../../src/schedules/reading.ts"
import { listRuns, pageOfRuns, readPlace } from "../../src/schedules/runs.ts"
import { modelNotInProfile } from "../../src/schedules/refusals.ts"
import { openRuns, shownSchedule } from "../../src/schedules/shown.ts"
import { Actions } from "../actions/Actions.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Cursors } from "../Cursors.ts"
import { Refused } from "../errors.ts"
import { etag } from "../etag.ts"
import { makeLeaseMay } from "../leaseMay.ts"
import { makePages } from "../newestFirst.ts"
import { refuseForeign, refuseGiven } from "../ownIdentity.ts"
import { pageSize } from "../pagination.ts"
import { ownIdentity } from "../threads/threadCaller.ts"
import { makeScheduleActions, noSchedule } from "./actions.ts"

const noAgent = new Refused({ error: "not_found", message: "no such agent" })
const foreignModel = new Refused(modelNotInProfile)
const denied = new Refused({
  error: "permission_denied",
  message: "the agent's profile and roles do not let it do this with its schedules"
})

/** As an action has it: without the header where there is none. */
const withIfMatch = <A extends object>(params: A, ifMatch: string | undefined) =>
  ifMatch === undefined ? params : { ...params, ifMatch }

export const SchedulesHandlers = HttpApiBuilder.group(
  Api,
  "schedules",
  Effect.fnUntraced(function* (handlers) {
    const { perform } = yield* Actions
    const actions = yield* makeScheduleActions
    const cursors = yield* Cursors
    const database = yield* Database
    const directory = yield* Directory
    const lease = yield* Lease
    const may = yield* makeLeaseMay
    const mayName = yield* makeAgentMayName
    const pages = yield* makePages

    /** Under a lease: whether its agent may read, by the tool that stands for the same. */
    const reader = Effect.fnUntraced(function* (verb: "get" | "list", input: object) {
      const caller = yield* Caller
      // Nobody is asked about a read: a grant that wants their word lets it not.
      if (caller.lease !== undefined && (yield* may(caller, `schedules.${verb}`, input)) !== "allow")
        return yield* denied
      return caller.workspace
    })

    /** The same of a change: refused, or to be parked whatever the policy says. */
    const granted = Effect.fnUntraced(function* (verb: "create" | "update" | "delete" | "run", input: unknown) {
      const caller = yield* Caller
      const verdict = yield* may(caller, `schedules.${verb}`, input)
      if (verdict === "deny") return yield* denied
      return { parks: verdict === "park" }
    })

    /** Whoever is bound to an identity has schedules work for no other one. */
    const refuseOther = Effect.fnUntraced(function* (identity: string | null | undefined) {
      if (identity === undefined) return
      const caller = yield* Caller
      const given = identity ?? undefined
      const foreign = refuseForeign(ownIdentity(caller), given) ?? refuseGiven(caller, given)
      if (foreign !== undefined) return yield* foreign
    })

    /** An agent names the models that its profile selects: keys that may make schedules may name any. */
    const refuseModel = Effect.fnUntraced(function* (model: string | null | undefined) {
      const { lease, workspace } = yield* Caller
      if (lease !== undefined && !(yield* mayName(workspace, lease.agentId, model))) return yield* foreignModel
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ params: { agentId }, payload }) {
        const also = yield* granted("create", payload)
        yield* refuseOther(payload.identity)
        yield* refuseModel(payload.model)
        return yield* perform(actions.create, { agentId, input: payload }, also)
      }),

      list: Effect.fnUntraced(function* ({ params: { agentId }, query }) {
        const workspace = yield* reader("list", query)
        if ((yield* directory.agent(workspace, agentId)) === undefined) return yield* noAgent
        const { rows, nextCursor } = yield* pages({
          list: "schedules",
          place: `schedules ${workspace} ${agentId}`,
          query,
          fetch: (db, page) => listSchedules(db, workspace, agentId, page),
          position: ({ createdAt, id }) => ({ at: createdAt, id: toUuid(id) })
        })
        return json({ schedules: rows.map(shownSchedule), nextCursor })
      }),

      get: Effect.fnUntraced(function* ({ params: { agentId, scheduleId } }) {
        const workspace = yield* reader("get", { scheduleId })
        const found = yield* database.run("schedules.get", (db) => readSchedule(db, workspace, agentId, scheduleId))
        return found === undefined
          ? yield* noSchedule
          : json({ schedule: shownSchedule(found) }, 200, { etag: etag(found.rev) })
      }),

      update: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const also = yield* granted("update", { scheduleId: params.scheduleId, ...payload })
        yield* refuseOther(payload.identity)
        yield* refuseModel(payload.model)
        return yield* perform(actions.update, withIfMatch({ ...params, patch: payload }, headers["if-match"]), also)
      }),

      delete: Effect.fnUntraced(function* ({ headers, params }) {
        const also = yield* granted("delete", { scheduleId: params.scheduleId })
        return yield* perform(actions.delete, withIfMatch(params, headers["if-match"]), also)
      }),

      run: Effect.fnUntraced(function* ({ params }) {
        return yield* perform(actions.run, params, yield* granted("run", { scheduleId: params.scheduleId }))
      }),

      runs: Effect.fnUntraced(function* ({ params: { agentId, scheduleId }, query }) {
        const workspace = yield* reader("get", { scheduleId })
        const place = `schedule runs ${workspace} ${scheduleId}`
        const { after, filter } = yield* cursors.open(place, query.cursor, {})
        const limit = pageSize("scheduleRuns", query.limit)
        const behind = readPlace(after)
        // A run goes from the inbox to its actor and from there to the log: whoever reads in this order misses none.
        const unheard = yield* database.run("schedules.asked", (db) => listAskedRuns(db, workspace, scheduleId))
        const schedule = yield* database.run("schedules.get", (db) => readAnySchedule(db, workspace, scheduleId))
        if (schedule?.agentId !== agentId) return yield* noSchedule
        const most = limit + 1 + (behind?.shown.length ?? 0)
        const logged = yield* database.run("schedules.runs", (db) =>
          listRuns(db, workspace, scheduleId, { before: behind?.before, limit: most, now: lease.now() })
        )
        const { runs, next } = pageOfRuns({ open: openRuns(schedule, unheard), logged, limit, behind })
        return json({ runs, ...(next && { nextCursor: cursors.seal(place, filter, next) }) })
      })
    })
  })
)
