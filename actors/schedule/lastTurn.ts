/** Whether a turn is over, or will never be: asked of the log, whoever has the thread. */
import { Effect } from "effect"
import { AnyEvent } from "../../src/domain/event.ts"
import { sibling } from "../../src/domain/ids.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import type { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { Schema } from "effect"

export type IsOver = (
  workspace: string,
  threadId: string,
  turnId: string
) => Effect.Effect<boolean, DatabaseUnavailable>

const readEvent = Schema.decodeUnknownSync(AnyEvent)
const ends = new Set(["turn_completed", "turn_failed", "turn_cancelled"])

export const makeIsOver =
  (reads: Pick<ThreadReads["Service"], "events" | "input">): IsOver =>
  (workspace, threadId, turnId) =>
    Effect.gen(function* () {
      const found = yield* reads.events({ workspace, threadId, turnId, order: "desc", limit: 1 })
      if (found === undefined) return true
      const [last] = found.events
      if (last !== undefined) return ends.has(readEvent(JSON.parse(last)).type)
      // Its message waits, or was taken out of the queue.
      const input = yield* reads.input(workspace, threadId, sibling("input", turnId))
      return input === undefined || input.state === "cancelled"
    })
