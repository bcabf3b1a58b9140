/** What may park of threads: to read one. */
import { Effect, Schema } from "effect"
import { defineAction } from "../actions/defineAction.ts"
import { Coverage } from "../Coverage.ts"
import { makeDetail } from "./detail.ts"

const One = Schema.Struct({ threadId: Schema.String })

export const makeThreadActions = Effect.gen(function* () {
  const coverage = yield* Coverage
  const detail = yield* makeDetail
  return {
    read: defineAction({
      name: "thread.read",
      params: One,
      scope: "read",
      agentOf: (workspace, { threadId }) => coverage.agentOf(workspace, threadId),
      way: { type: "read", read: ({ workspace }, { threadId }) => detail.read(workspace, threadId) }
    })
  }
})
