/** Identities: contract to actions and rows. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listIdentities } from "../../src/identities/rows.ts"
import { Actions } from "../actions/Actions.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { makePages } from "../newestFirst.ts"
import { makeIdentityActions } from "./actions.ts"

export const IdentitiesHandlers = HttpApiBuilder.group(
  Api,
  "identities",
  Effect.fnUntraced(function* (handlers) {
    const { perform } = yield* Actions
    const actions = yield* makeIdentityActions
    const pages = yield* makePages

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const { workspace } = yield* Caller
        const { rows, nextCursor } = yield* pages({
          list: "identities",
          place: `identities ${workspace}`,
          query,
          fetch: (db, page) => listIdentities(db, workspace, page),
          position: (row) => row.position
        })
        return json({ identities: rows.map((row) => row.record), nextCursor })
      }),

      disable: ({ payload }) => perform(actions.disable, payload),

      enable: ({ payload }) => perform(actions.enable, payload)
    })
  })
)
