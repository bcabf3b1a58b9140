/** Pages of a thread's turns. */
import { Effect } from "effect"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { json } from "../answers.ts"
import { Caller } from "../Caller.ts"
import { Cursors } from "../Cursors.ts"
import { pageSize } from "../pagination.ts"
import { noThread } from "./refusals.ts"

interface TurnsQuery {
  readonly order?: "asc" | "desc" | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export const makeTurns = Effect.gen(function* () {
  const reads = yield* ThreadReads
  const cursors = yield* Cursors
  return Effect.fnUntraced(function* (threadId: string, { cursor, limit, order }: TurnsQuery) {
    const { workspace } = yield* Caller
    const place = `turns ${threadId} ${workspace}`
    const { after, filter } = yield* cursors.open(place, cursor, { order }, { order: "desc" })
    const [position] = after ?? []
    const found = yield* reads.turns({
      workspace,
      threadId,
      order: filter.order === "asc" ? "asc" : "desc",
      limit: pageSize("turns", limit),
      ...(typeof position === "number" ? { position } : {})
    })
    if (found === undefined) return yield* noThread()
    return json({
      turns: found.turns,
      ...(found.position === undefined ? {} : { nextCursor: cursors.seal(place, filter, [found.position]) })
    })
  })
})
