/** Waits: read from their rows, answered by their threads. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { readWaitAnswer } from "../../src/waits/answer.ts"
import { Database } from "../../src/database/Database.ts"
import { waitBody } from "../../src/waits/waitRow.ts"
import { findWait } from "../../src/waits/reads.ts"
import { jsonText } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller, holding } from "../Caller.ts"
import { idempotent } from "../Idempotency.ts"
import { makeResolveWait, noWait } from "./resolving.ts"

const scopes = { decision: "approve", tool_result: "run" } as const

export const WaitsHandlers = HttpApiBuilder.group(
  Api,
  "waits",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const resolve = yield* makeResolveWait

    const find = (workspace: string, threadId: string, waitId: string) =>
      Effect.map(findWait(database, workspace, waitId), (found) => (found?.threadId === threadId ? found : undefined))

    return handlers.handleAll({
      get: Effect.fnUntraced(function* ({ params: { threadId, waitId } }) {
        const { scopes, workspace } = yield* Caller
        const found = yield* find(workspace, threadId, waitId)
        if (found === undefined) return yield* noWait()
        const { subject, wait } = found
        return jsonText(waitBody(scopes.has("approve") ? { ...found, wait: { ...wait, ...subject } } : found))
      }),

      resolve: Effect.fnUntraced(function* ({ params: { threadId, waitId }, payload }) {
        const caller = yield* holding(scopes[payload.type])
        return yield* idempotent((key) =>
          resolve(caller, key, find(caller.workspace, threadId, waitId), readWaitAnswer(payload))
        )
      })
    })
  })
)
