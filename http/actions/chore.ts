/** Every node looks after the workspaces' operations now and then: what is over, what was left, what is old. */
import { Effect, Layer, Random } from "effect"
import { Database } from "../../src/database/Database.ts"
import { expireOperations, forgetOperations, staleOperations } from "../../src/operations/due.ts"
import { Actions } from "./Actions.ts"
import { Decisions } from "./Decisions.ts"

const everyMs = 5_000

/** One round. */
export const tendOperations = Effect.gen(function* () {
  const { announce } = yield* Actions
  const database = yield* Database
  const { resume } = yield* Decisions
  const expired = yield* database.run("operations.expire", expireOperations)
  for (const { operation, workspace } of expired) announce(workspace, operation)
  const stale = yield* database.run("operations.stale", staleOperations)
  yield* Effect.forEach(stale, ({ id, workspace }) => resume(workspace, id), { concurrency: 4, discard: true })
  yield* database.run("operations.forget", forgetOperations)
})

export const layerOperationsChore = Layer.effectDiscard(
  Effect.forkScoped(
    Effect.forever(
      Effect.gen(function* () {
        yield* Effect.sleep((yield* Random.nextBetween(0.5, 1.5)) * everyMs)
        yield* Effect.catch(tendOperations, (error) =>
          Effect.logWarning("operations are looked after a little later", error)
        )
      })
    )
  )
)
