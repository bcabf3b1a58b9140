/**
 * Operations: contract to rows. Nothing parks yet, so every row is terminal: a decision that agrees
 * with what happened is answered with it, another is refused.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { isTerminal, type Operation, operationStates, type OperationState } from "../../src/operations/operation.ts"
import { Database } from "../../src/database/Database.ts"
import { listOperations, readOperation } from "../../src/operations/rows.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { isRefused, Refused } from "../errors.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { type Ended, Streams } from "../streams/Streams.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"

const noOperation = new Refused({ error: "not_found", message: "no such operation" })

/** The states that a decision leads to. */
const outcomes = {
  approve: ["approved", "completed", "failed"],
  deny: ["denied"],
  cancel: ["cancelled"]
} as const satisfies Record<string, ReadonlyArray<OperationState>>
type Decision = keyof typeof outcomes

const agrees = (decision: Decision, { state }: Operation) => outcomes[decision].some((outcome) => outcome === state)

const resolved = ({ state }: Operation) =>
  new Refused({ error: "operation_resolved", code: state, message: `the operation is ${state} already` })

/** How often a long poll looks again. */
const lookAgain = "500 millis"

export const OperationsHandlers = HttpApiBuilder.group(
  Api,
  "operations",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const pages = yield* makePages
    const writes = yield* makeWrites
    const streams = yield* Streams

    const read = Effect.fnUntraced(function* (operationId: string) {
      const { workspace } = yield* Caller
      const found = yield* database.run("operations.get", (db) => readOperation(db, workspace, operationId))
      return found === undefined ? yield* noOperation : found
    })

    const decide = (decision: Decision) =>
      Effect.fnUntraced(function* ({ params }: { readonly params: { readonly operationId: string } }) {
        const { workspace } = yield* Caller
        return yield* writes.post(`operations.${decision}`, async (tx) => {
          const operation = await readOperation(tx, workspace, params.operationId)
          if (operation === undefined) return noOperation
          return agrees(decision, operation) ? jsonAnswer({ operation }) : resolved(operation)
        })
      })

    return handlers.handleAll({
      get: Effect.fnUntraced(function* ({ params, query, request }) {
        const deadline = performance.now() + (query.waitSeconds ?? 0) * 1000
        let operation = yield* read(params.operationId)
        if (isTerminal(operation.state) || deadline <= performance.now()) return json({ operation })
        let ended: Ended | undefined
        const waiting = streams.wait(request, yield* Caller, (why) => {
          ended = why
        })
        if (isRefused(waiting)) return yield* waiting
        const admitted = Effect.suspend(() => (ended === undefined ? Effect.void : Effect.fail(ended)))
        yield* Effect.addFinalizer(() => Effect.sync(waiting.release))
        while (!isTerminal(operation.state) && performance.now() < deadline && !streams.draining()) {
          yield* Effect.sleep(lookAgain)
          yield* admitted
          operation = yield* read(params.operationId)
        }
        return json({ operation })
      }, Effect.scoped),

      list: Effect.fnUntraced(function* ({ query: { action, agentId, state, ...query } }) {
        const { workspace } = yield* Caller
        const { rows, nextCursor } = yield* pages({
          list: "operations",
          place: `operations ${workspace}`,
          query,
          filter: { action, agentId, state },
          fetch: (db, { after, filter, limit }) =>
            listOperations(db, workspace, {
              after,
              limit,
              state: operationStates.find((state) => state === filter.state),
              action: filter.action,
              agentId: filter.agentId
            }),
          position: positionOf
        })
        return json({ operations: rows, nextCursor })
      }),

      approve: decide("approve"),
      deny: decide("deny"),
      cancel: decide("cancel")
    })
  })
)
