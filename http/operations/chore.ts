/** Every node looks after the workspaces' operations now and then: what is over, what was left, what is old. */
import { Effect, Layer } from "effect"
import type { Chore } from "../../src/chores/chores.ts"
import { Database } from "../../src/database/Database.ts"
import { expireOperations, forgetOperations, staleOperations } from "../../src/operations/due.ts"
import { Actions } from "../actions/Actions.ts"
import { Decisions } from "./Decisions.ts"

/** What may park, and what becomes of it. */
export const layerActions = Decisions.layer.pipe(Layer.provideMerge(Actions.layer))

export const operationsChores: ReadonlyArray<Chore<Actions | Database | Decisions>> = [
  {
    name: "tend operations",
    every: "5 seconds",
    work: Effect.gen(function* () {
      const { announce } = yield* Actions
      const database = yield* Database
      const { resume } = yield* Decisions
      const expired = yield* database.run("operations.expire", expireOperations)
      for (const { operation, workspace } of expired) announce(workspace, operation)
      const stale = yield* database.run("operations.stale", staleOperations)
      yield* Effect.forEach(stale, ({ id, workspace }) => resume(workspace, id), { concurrency: 4, discard: true })
      return expired.length + stale.length
    })
  },
  {
    name: "forget operations",
    every: "1 hour",
    work: Effect.gen(function* () {
      const database = yield* Database
      return yield* database.run("operations.forget", forgetOperations)
    })
  }
]
