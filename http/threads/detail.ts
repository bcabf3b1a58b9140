/** Thread detail as an answer, from what the store says. */
import { Effect } from "effect"
import { Threads } from "../../actors/thread/Threads.ts"
import { Lease } from "../../src/journal/Lease.ts"
import { flatMapNow } from "../../src/now.ts"
import { threadDetail } from "../../src/threads/detail.ts"
import { makeThreadModel } from "../../src/threads/shownModel.ts"
import { type ThreadDetailRows, ThreadReads } from "../../src/threads/ThreadReads.ts"
import { threadRows } from "../../src/threads/view.ts"
import { etag } from "../etag.ts"
import { jsonAnswer } from "../writes.ts"
import { noThread } from "./refusals.ts"

export const makeDetail = Effect.gen(function* () {
  const threads = yield* Threads
  const reads = yield* ThreadReads
  const lease = yield* Lease
  const modelOf = yield* makeThreadModel

  const find = (workspace: string, threadId: string) =>
    Effect.flatMap(reads.detail(workspace, threadId), (rows) =>
      rows === undefined ? noThread() : Effect.succeed(rows)
    )

  const answer = (workspace: string, found: ThreadDetailRows) => {
    const {
      head: { status },
      id,
      inputs,
      owner,
      spend,
      version
    } = found
    const rows = threadRows(workspace, found, inputs)
    const waiting = status === "running" ? threads.waitingFor(workspace, id, owner) : Effect.succeed(undefined)
    return flatMapNow(waiting, (waitingFor) =>
      Effect.map(modelOf(rows), (model) =>
        jsonAnswer(
          {
            ...threadDetail(rows, { ...spend, at: lease.now() }, model),
            ...(waitingFor === undefined ? {} : { waitingFor })
          },
          200,
          { etag: etag(version) }
        )
      )
    )
  }

  return {
    find,
    answer,
    read: (workspace: string, threadId: string) =>
      Effect.flatMap(find(workspace, threadId), (rows) => answer(workspace, rows))
  }
})
