/**
 * Waits until a feed has the message that a page begins with.
 *
 * W1. Listens first, reads then: what is committed in between rings.
 * W2. The feed is read again every two seconds all the same: hints may be lost.
 * W3. When the node leaves, so does whoever waits here: with what there is. When the credential ends, it is refused.
 */
import { Deferred, Duration, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Bus } from "../../src/bus/Bus.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import type { MessagePage } from "../../src/feeds/reading.ts"
import type { Caller } from "../Caller.ts"
import { isRefused } from "../errors.ts"
import type { Ended, Streams } from "../streams/Streams.ts"

const rereadMs = 2_000

export const makeFeedPoll = (bus: Bus["Service"], streams: Streams["Service"]) =>
  Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    caller: Caller["Service"],
    feedId: string,
    waitMs: number,
    read: Effect.Effect<MessagePage | undefined, DatabaseUnavailable>
  ) {
    const until = performance.now() + waitMs
    const wakers = new Set<() => void>()
    const ring = () => {
      for (const wake of wakers) wake()
    }
    let ended: Ended | undefined
    const waiting = streams.wait(request, caller, (why) => {
      ended = why
      ring()
    })
    if (isRefused(waiting)) return yield* waiting
    /** Nothing more is told to whoever may not ask again. */
    const admitted = Effect.suspend(() => (ended === undefined ? Effect.void : Effect.fail(ended)))
    yield* Effect.addFinalizer(() => Effect.sync(waiting.release))
    yield* bus.subscribe({ workspace: caller.workspace }, (hint) => {
      if (hint.type === "look" || (hint.type === "feed" && hint.feedId === feedId)) ring()
    })
    for (;;) {
      const rung = Deferred.makeUnsafe<void>()
      const wake = () => Deferred.doneUnsafe(rung, Effect.void)
      wakers.clear()
      wakers.add(wake)
      const found = yield* read
      yield* admitted
      const left = until - performance.now()
      const isWorthWaiting = found !== undefined && found.from > found.lastSeq && !found.archived
      if (!isWorthWaiting || left <= 0 || streams.draining()) return found
      yield* Effect.timeoutOption(Deferred.await(rung), Duration.millis(Math.min(left, rereadMs)))
      yield* admitted
    }
  }, Effect.scoped)
