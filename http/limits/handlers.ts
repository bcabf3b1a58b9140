/** A workspace's limits: the table of quotas, with what is used of each. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { resources } from "../../src/quotas/quota.ts"
import { Quotas } from "../../src/quotas/Quotas.ts"
import { countAll } from "../../src/quotas/counts.ts"
import { Database } from "../../src/database/Database.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"

export const LimitsHandlers = HttpApiBuilder.group(
  Api,
  "limits",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const quotas = yield* Quotas
    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const { workspace } = yield* Caller
        const used = {
          ...(yield* database.run("limits.list", (db) => countAll(db, workspace))),
          ...(yield* quotas.used(workspace))
        }
        return json({
          limits: resources.map((resource) => ({
            resource,
            limit: quotas.limitOf(workspace, resource),
            used: used[resource]
          }))
        })
      })
    })
  })
)
