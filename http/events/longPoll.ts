/**
 * Waits until a thread has events after a position.
 *
 * W1. Listens first, reads then: what is committed in between rings.
 * W2. The log is read again every two seconds all the same: hints may be lost.
 */
import { Deferred, Duration, Effect, Option } from "effect"
import type { Bus } from "../../src/bus/Bus.ts"
import type { EventQuery, EventTexts } from "../../src/store/threadEvents.ts"
import type { ThreadReads } from "../../src/store/ThreadReads.ts"

const rereadMs = 2_000

export const makeLongPoll = (bus: Bus["Service"], reads: ThreadReads["Service"]) =>
  Effect.fnUntraced(function*(query: EventQuery, afterSeq: number, waitMs: number) {
    const until = performance.now() + waitMs
    const { threadId, turnId, workspace } = query
    let bell = Deferred.makeUnsafe<void>()
    yield* bus.subscribe({ workspace, threadId }, (hint) => {
      if (hint.type === "events" && hint.events.some((event) => event.seq > afterSeq && (turnId === undefined || event.turnId === turnId))) {
        Deferred.doneUnsafe(bell, Effect.void)
      }
    })
    for (;;) {
      const found: EventTexts | undefined = yield* reads.events(query)
      const left = until - performance.now()
      if (found === undefined || found.events.length > 0 || left <= 0) return found
      const rung = yield* Effect.timeoutOption(Deferred.await(bell), Duration.millis(Math.min(left, rereadMs)))
      if (Option.isSome(rung)) bell = Deferred.makeUnsafe<void>()
    }
  }, Effect.scoped)
