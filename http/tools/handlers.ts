/** Tool calls of clients: rows of open waits, and results to their threads. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { toUuid } from "../../src/domain/ids.ts"
import { toTimestamp } from "../../src/domain/time.ts"
import { returned } from "../../src/waits/answer.ts"
import { Database } from "../../src/database/Database.ts"
import { findCallWait, listOwedCalls, type OwedCall } from "../../src/waits/reads.ts"
import { json } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { idempotent } from "../Idempotency.ts"
import { Cursors } from "../Cursors.ts"
import { pageSize } from "../pagination.ts"
import { makeResolveWait } from "../waits/resolving.ts"
import type { PendingToolCall } from "./api.ts"

const callOf = ({ agentId, createdAt, threadId, wait }: OwedCall): PendingToolCall => {
  const { expiresAt, id: waitId, toolCallId, toolInput, toolName, toolsetId, turnId } = wait
  // A call has a name, its wait an end: whoever wrote the row knew them.
  if (toolCallId === undefined || toolName === undefined || expiresAt === undefined)
    throw new Error(`${waitId} is not for a call`)
  return {
    waitId,
    threadId,
    agentId,
    turnId,
    toolCallId,
    toolName,
    toolInput: toolInput ?? null,
    ...(toolsetId !== undefined && { toolsetId }),
    createdAt: toTimestamp(createdAt),
    expiresAt
  }
}

export const ToolsHandlers = HttpApiBuilder.group(
  Api,
  "tools",
  Effect.fnUntraced(function* (handlers) {
    const cursors = yield* Cursors
    const database = yield* Database
    const resolve = yield* makeResolveWait

    return handlers.handleAll({
      calls: Effect.fnUntraced(function* ({ query: { cursor, limit, ...sent } }) {
        const { workspace } = yield* Caller
        const place = `tool calls ${workspace}`
        const { after, filter } = yield* cursors.open(place, cursor, sent, { state: "pending" })
        const [at, id] = after ?? []
        const rows = pageSize("toolCalls", limit)
        const found = yield* listOwedCalls(database, {
          workspace,
          toolsetId: filter.toolsetId,
          limit: rows + 1,
          after: typeof at === "number" && typeof id === "string" ? { at, id } : undefined
        })
        const last = found.length > rows ? found[rows - 1] : undefined
        return json({
          calls: found.slice(0, rows).map(callOf),
          ...(last !== undefined && { nextCursor: cursors.seal(place, filter, [last.createdAt, toUuid(last.wait.id)]) })
        })
      }),

      result: Effect.fnUntraced(function* ({ params: { toolCallId }, payload }) {
        const caller = yield* Caller
        return yield* idempotent((key) =>
          resolve(caller, key, findCallWait(database, caller.workspace, toolCallId), returned(payload))
        )
      })
    })
  })
)
