/** Operations: contract to rows, and to decisions. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import { Database } from "../../src/database/Database.ts"
import { makeMonotonic } from "../../src/monotonic.ts"
import { isRead, isTerminal, type Operation, operationStates } from "../../src/operations/operation.ts"
import { hasAsked } from "../../src/operations/requester.ts"
import { listOperations, readOperation, type StoredOperation } from "../../src/operations/rows.ts"
import { Decisions } from "./Decisions.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { isRefused, Refused } from "../errors.ts"
import { idempotent } from "../Idempotency.ts"
import { makePages, positionOf } from "../newestFirst.ts"
import { type Ended, Streams } from "../streams/Streams.ts"
import { jsonAnswer, makeWrites } from "../writes.ts"

const noOperation = new Refused({ error: "not_found", message: "no such operation" })

/** How often a long poll looks again. */
const lookAgain = "500 millis"

/**
 * What the caller may see of it: who asked for what is for those who decide, and for who asked. So is what a read has
 * found: the policy made it wait so that it is not for everybody.
 */
const shownTo = (caller: Caller["Service"], { operation, request, requester }: StoredOperation): Operation => {
  if (requester !== undefined && (caller.scopes.has("approve") || hasAsked(requester, caller)))
    return { ...operation, request, requestedBy: requester.principal }
  if (operation.state !== "completed" || !isRead(operation.action)) return operation
  const { result: _, ...rest } = operation
  return rest
}

export const OperationsHandlers = HttpApiBuilder.group(
  Api,
  "operations",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const decisions = yield* Decisions
    const pages = yield* makePages
    const writes = yield* makeWrites
    const streams = yield* Streams
    const monotonic = yield* makeMonotonic

    const read = Effect.fnUntraced(function* (operationId: string) {
      const caller = yield* Caller
      const found = yield* database.run("operations.get", (db) => readOperation(db, caller.workspace, operationId))
      return found === undefined ? yield* noOperation : shownTo(caller, found)
    })

    /** A decision says the same however often it is sent; with a key its answer is kept all the same. */
    const decided = <E>(
      name: string,
      decide: (caller: Caller["Service"]) => Effect.Effect<StoredOperation, E | DatabaseUnavailable>
    ) =>
      idempotent((key, caller) =>
        Effect.gen(function* () {
          const operation = shownTo(caller, yield* decide(caller))
          return yield* writes.keep(name, caller.workspace, key, jsonAnswer({ operation }))
        })
      )

    return handlers.handleAll({
      get: Effect.fnUntraced(function* ({ params, query, request }) {
        const deadline = monotonic() + (query.waitSeconds ?? 0) * 1000
        let operation = yield* read(params.operationId)
        if (isTerminal(operation.state) || deadline <= monotonic()) return json({ operation })
        let ended: Ended | undefined
        const waiting = streams.wait(request, yield* Caller, (why) => {
          ended = why
        })
        if (isRefused(waiting)) return yield* waiting
        const admitted = Effect.suspend(() => (ended === undefined ? Effect.void : Effect.fail(ended)))
        yield* Effect.addFinalizer(() => Effect.sync(waiting.release))
        while (!isTerminal(operation.state) && monotonic() < deadline && !streams.draining()) {
          yield* Effect.sleep(lookAgain)
          yield* admitted
          operation = yield* read(params.operationId)
        }
        return json({ operation })
      }, Effect.scoped),

      list: Effect.fnUntraced(function* ({ query: { action, agentId, state, ...query } }) {
        const caller = yield* Caller
        const { workspace } = caller
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
          position: ({ operation }: StoredOperation) => positionOf(operation)
        })
        return json({ operations: rows.map((row) => shownTo(caller, row)), nextCursor })
      }),

      approve: ({ params: { operationId } }) =>
        decided("operations.approve", (caller) => decisions.approve(caller, operationId)),
      deny: ({ params: { operationId }, payload: { reason } }) =>
        decided("operations.deny", (caller) => decisions.deny(caller, operationId, reason)),
      cancel: ({ params: { operationId } }) =>
        decided("operations.cancel", (caller) => decisions.cancel(caller, operationId))
    })
  })
)
