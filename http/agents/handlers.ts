/** Agents: contract to actions and rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listAgents } from "../../src/agents/rows.ts"
import { Actions } from "../actions/Actions.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { makeAgentActions } from "./actions.ts"

/** As an action has it: without the header where there is none. */
const withIfMatch = <A extends object>(params: A, ifMatch: string | undefined) =>
  ifMatch === undefined ? params : { ...params, ifMatch }

export const AgentsHandlers = HttpApiBuilder.group(
  Api,
  "agents",
  Effect.fnUntraced(function* (handlers) {
    const { perform } = yield* Actions
    const actions = yield* makeAgentActions
    const pages = yield* makePages

    return handlers.handleAll({
      create: ({ payload }) => perform(actions.create, payload),

      list: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* Caller
        const { rows, nextCursor } = yield* pages({
          list: "agents",
          place: `agents ${workspace}`,
          query,
          filter: { includeArchived: query.includeArchived === undefined ? undefined : String(query.includeArchived) },
          defaults: { includeArchived: "false" },
          fetch: (db, page) =>
            listAgents(db, workspace, { ...page, includeArchived: page.filter.includeArchived === "true" }),
          position: positionOf
        })
        return json({ agents: rows, nextCursor })
      }),

      get: ({ params }) => perform(actions.read, params),

      update: ({ headers, params, payload }) =>
        perform(actions.update, withIfMatch({ ...params, patch: payload }, headers["if-match"])),

      archive: ({ headers, params }) => perform(actions.archive, withIfMatch(params, headers["if-match"]))
    })
  })
)
