/**
 * Waits until a thread has events after a position.
 *
 * W1. Listens first, reads then: what is committed in between rings.
 * W2. The log is read again every two seconds all the same: hints may be lost.
 * W3. When the node leaves, so does whoever waits here: with what there is. When the credential ends, it is refused.
 * W4. A hint that goes on where the log ended is the answer, and a thread that lives here knows where
 *     it ends: then nothing is read at all.
 */
import { Deferred, Duration, Effect, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Threads } from "../../actors/thread/Threads.ts"
import type { Bus } from "../../src/bus/Bus.ts"
import { limits } from "../../src/domain/limits.ts"
import { makeMonotonic } from "../../src/monotonic.ts"
import type { EventQuery, EventTexts } from "../../src/threads/events.ts"
import type { ThreadReads } from "../../src/threads/ThreadReads.ts"
import type { Caller } from "../Caller.ts"
import { isRefused } from "../errors.ts"
import type { Ended, Streams } from "../streams/Streams.ts"

const rereadMs = 2_000

/** A hint that is longer is read as a page, which knows where to end. */
const mostCharacters = limits.pageBytes / 4

export const makeLongPoll = (
  bus: Bus["Service"],
  reads: ThreadReads["Service"],
  streams: Streams["Service"],
  lastSeq: Threads["Service"]["lastSeq"]
) =>
  Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    caller: Caller["Service"],
    query: EventQuery,
    afterSeq: number,
    waitMs: number
  ) {
    const monotonic = yield* makeMonotonic
    const until = monotonic() + waitMs
    const { limit, threadId, turnId, workspace } = query
    let wake = Deferred.makeUnsafe<EventTexts | undefined>()
    let ended: Ended | undefined
    const waiting = streams.wait(request, caller, (why) => {
      ended = why
      Deferred.doneUnsafe(wake, Effect.succeed(undefined))
    })
    if (isRefused(waiting)) return yield* waiting
    /** Nothing more is told to whoever may not ask again. */
    const admitted = Effect.suspend(() => (ended === undefined ? Effect.void : Effect.fail(ended)))
    yield* Effect.addFinalizer(() => Effect.sync(waiting.release))
    /** seq up to which the log is known to hold nothing that was asked for; unknown until it was read. */
    let seen: number | undefined
    yield* bus.subscribe({ workspace, threadId }, (hint) => {
      if (hint.type === "look") Deferred.doneUnsafe(wake, Effect.succeed(undefined))
      if (hint.type !== "events") return
      const first = hint.events[0]
      const last = hint.events.at(-1)
      if (first === undefined || last === undefined || last.seq <= afterSeq) return
      const wanted = hint.events.filter(
        (event) => event.seq > afterSeq && (turnId === undefined || event.turnId === turnId)
      )
      const follows = seen !== undefined && first.seq === seen + 1
      if (wanted.length === 0) {
        if (follows) seen = last.seq
        return
      }
      const texts = wanted.flatMap(({ text }) => (text === undefined ? [] : [text]))
      const whole =
        follows &&
        texts.length === wanted.length &&
        wanted.length <= limit &&
        texts.reduce((sum, text) => sum + text.length, 0) < mostCharacters
      Deferred.doneUnsafe(
        wake,
        Effect.succeed(
          whole ? { events: texts, position: undefined, lastSeq: last.seq, seq: wanted.at(-1)!.seq } : undefined
        )
      )
    })
    const known = lastSeq(workspace, threadId)
    if (known !== undefined && known <= afterSeq) seen = known
    for (let first = true; ; first = false) {
      const found: EventTexts | undefined =
        first && seen !== undefined
          ? { events: [], position: undefined, lastSeq: seen, seq: 0 }
          : yield* reads.events(query)
      yield* admitted
      const left = until - monotonic()
      if (found === undefined || found.events.length > 0 || left <= 0 || streams.draining()) return found
      seen ??= found.lastSeq
      const rung = yield* Effect.timeoutOption(Deferred.await(wake), Duration.millis(Math.min(left, rereadMs)))
      yield* admitted
      if (Option.isNone(rung)) continue
      if (rung.value !== undefined) return rung.value
      wake = Deferred.makeUnsafe()
    }
  }, Effect.scoped)
