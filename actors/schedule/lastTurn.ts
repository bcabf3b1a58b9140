/**
 * The end of the turn that a schedule began last: whether it has come, asked of the log, whoever has the thread; and
 * the wait for it.
 *
 * E1. The log alone says that a turn is over. A hint only brings the look at it forward.
 * E2. A waiter listens first and looks then: an end in between rings.
 */
import { Duration, Effect, Latch, Schema } from "effect"
import type { Bus } from "../../src/bus/Bus.ts"
import type { Hint } from "../../src/bus/hints.ts"
import { AnyEvent } from "../../src/domain/event.ts"
import { sibling } from "../../src/domain/ids.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import type { ThreadReads } from "../../src/threads/ThreadReads.ts"

export interface BegunTurn {
  readonly threadId: string
  readonly turnId: string
}

/** Whether a turn is over, or will never be. */
export type IsOver = (workspace: string, turn: BegunTurn) => Effect.Effect<boolean, DatabaseUnavailable>

/** Ends when the turn is over, or will never be. */
export type UntilOver = (workspace: string, turn: BegunTurn) => Effect.Effect<void>

const readEvent = Schema.decodeUnknownSync(AnyEvent)
const ends = new Set(["turn_completed", "turn_failed", "turn_cancelled"])

export const makeIsOver =
  (reads: Pick<ThreadReads["Service"], "events" | "input">): IsOver =>
  (workspace, { threadId, turnId }) =>
    Effect.gen(function* () {
      const found = yield* reads.events({ workspace, threadId, turnId, order: "desc", limit: 1 })
      if (found === undefined) return true
      const [last] = found.events
      if (last !== undefined) return ends.has(readEvent(JSON.parse(last)).type)
      // Its message waits, or was taken out of the queue.
      const input = yield* reads.input(workspace, threadId, sibling("input", turnId))
      return input === undefined || input.state === "cancelled"
    })

/** How long an end may go unnoticed whose hint was lost. */
const lookAgain = Duration.seconds(2)

/** Whether a turn of the thread may be over by what was heard. A message that leaves the queue ends its turn too. */
const mayEnd = (hint: Hint, turnId: string) =>
  hint.type === "look" ||
  hint.type === "queue" ||
  (hint.type === "events" && hint.events.some((event) => event.turnId === turnId && ends.has(event.type)))

export const makeUntilOver =
  (bus: Pick<Bus["Service"], "subscribe">, isOver: IsOver): UntilOver =>
  (workspace, turn) =>
    Effect.scoped(
      Effect.gen(function* () {
        const news = Latch.makeUnsafe()
        yield* bus.subscribe({ workspace, threadId: turn.threadId }, (hint) => {
          if (mayEnd(hint, turn.turnId)) news.openUnsafe()
        })
        for (;;) {
          if (yield* Effect.orElseSucceed(isOver(workspace, turn), () => false)) return
          yield* Effect.timeoutOption(news.await, lookAgain)
          news.closeUnsafe()
        }
      })
    )
