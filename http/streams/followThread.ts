/**
 * Follows one thread for one watcher: its log without gaps, and what hints tell beside it.
 *
 * F1. It listens before it reads, and says `ready` after both.
 * F2. An event from a hint is passed on only if its seq is the next; else the log is read from there.
 * F3. With a position to replay from, no event is left out however slow the watcher: what does not
 *     fit into its buffer is read again. Without one, what does not fit is left out and named by `gap`.
 * F4. The log is looked at every now and then all the same, and at once where hints are known to be
 *     lost ("look"): a status that was missed is told then.
 */
import { Deferred, Effect, Option, type Scope } from "effect"
import { record, streamGaps } from "../../src/telemetry/metrics.ts"
import type { Bus } from "../../src/bus/Bus.ts"
import type { Hint } from "../../src/bus/hints.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import type { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { readStatus } from "../../src/threads/view.ts"
import { Refused } from "../errors.ts"
import * as frames from "./frames.ts"
import type { Frame } from "./Outbox.ts"
import type { Watcher } from "./Streams.ts"
import type { Wanted } from "./wanted.ts"

export interface Follow {
  readonly workspace: string
  readonly threadId: string
  readonly wanted: Wanted
  /** Replay from behind this seq; undefined begins with what comes. */
  readonly after: number | undefined
}

const lookEvery = "15 seconds"
/** While no hint can come from another node. */
const lookEveryAlone = "2 seconds"
/** After an outage of the bus all streams of a node look again, but not all at once. */
const spreadMs = 500
const pageRows = 200

export const followThread =
  (bus: Bus["Service"], reads: ThreadReads["Service"]) =>
  (follow: Follow) =>
  ({ outbox, streamId }: Watcher): Effect.Effect<void, DatabaseUnavailable | Refused<"not_found">, Scope.Scope> =>
    Effect.gen(function* () {
      const { threadId, wanted, workspace } = follow
      /** seq of the next event to pass on. */
      let next = 1
      /** Highest seq that is known to exist. */
      let newest = 0
      /** Everything known has been passed on: hints may go straight through. */
      let live = false
      /** First event that was left out (F3). */
      let lost: number | undefined
      let lastStatus: Extract<Hint, { readonly type: "status" }> | undefined
      /** The newest status that is known. */
      let known: string | undefined
      /** Hints may have been lost since the head was read (F4). */
      let stale = false
      let bell = Deferred.makeUnsafe<void>()
      const ring = () => {
        Deferred.doneUnsafe(bell, Effect.void)
      }
      outbox.onRoom = ring

      const fall = () => {
        live = false
        ring()
      }

      /** Whether the event was passed on. */
      const pass = (seq: number, frame: Frame) => {
        if (wanted.event && !outbox.offer(frame)) {
          if (follow.after === undefined) lost ??= seq
          return false
        }
        next = seq + 1
        return true
      }

      const offered = (hint: Exclude<Hint, { readonly type: "look" }>) =>
        frames.framesOf(hint).every((frame) => outbox.offer(frame))

      const listen = (hint: Hint) => {
        switch (hint.type) {
          case "events":
            for (const event of hint.events) {
              const { seq } = event
              if (seq > newest) newest = seq
              if (!live || seq < next) continue
              const frame = frames.broughtEvent(event)
              if (seq > next || frame === undefined || !pass(seq, frame)) fall()
            }
            return
          case "status":
            known = hint.status
            if (!wanted.status) return
            if (!live || !offered(hint)) lastStatus = hint
            return
          case "look":
            stale = true
            ring()
            return
          default:
            if (live && wanted[hint.type]) offered(hint)
        }
      }

      yield* bus.subscribe({ workspace, threadId, deltas: wanted.delta }, listen)
      const head = yield* reads.head(workspace, threadId)
      if (head === undefined) return yield* new Refused({ error: "not_found", message: "no such thread" })
      newest = Math.max(newest, head.seq)
      known ??= head.status
      next = (follow.after ?? head.seq) + 1
      outbox.offer({ text: frames.ready({ streamId, lastSeq: head.seq }) })

      /** One step towards being live; true when there, or when there is nothing to do but wait. */
      const step = Effect.gen(function* () {
        if (!outbox.hasRoom) {
          outbox.awaitRoom()
          return true
        }
        if (lost !== undefined) {
          const range = { fromSeq: lost, toSeq: newest }
          lost = undefined
          next = newest + 1
          record(streamGaps)
          outbox.offer({ text: frames.gap(range) })
        }
        if (newest < next) {
          live = true
          if (lastStatus !== undefined) outbox.offer(frames.status(lastStatus))
          lastStatus = undefined
          return true
        }
        const page = yield* reads.events({ workspace, threadId, order: "asc", limit: pageRows, afterSeq: next - 1 })
        if (page === undefined || page.events.length === 0) {
          newest = next - 1
          return false
        }
        newest = Math.max(newest, page.lastSeq)
        // The log has no gaps, so the last one's seq tells all of them.
        const first = page.seq - page.events.length + 1
        for (const [i, text] of page.events.entries()) if (!pass(first + i, frames.event(first + i, text))) break
        return false
      })

      const look = Effect.gen(function* () {
        stale = false
        const head = yield* Effect.tapError(reads.head(workspace, threadId), () =>
          Effect.sync(() => {
            stale = true
          })
        )
        if (head === undefined || head.seq < newest) return
        if (head.status !== known && wanted.status) {
          const status = {
            workspace,
            agentId: "",
            threadId,
            type: "status",
            status: readStatus(head.status),
            lastSeq: head.seq
          } as const
          if (head.seq > newest || !live || !outbox.offer(frames.status(status))) lastStatus = status
        }
        known = head.status
        if (head.seq === newest) return
        newest = head.seq
        live = false
      })

      const catchUp = Effect.gen(function* () {
        for (;;) {
          while (!live) if (yield* step) break
          if (!stale) {
            const rung = yield* Effect.timeoutOption(
              Deferred.await(bell),
              bus.state() === "disconnected" ? lookEveryAlone : lookEvery
            )
            if (Option.isNone(rung)) stale = true
            else bell = Deferred.makeUnsafe<void>()
            if (stale) yield* Effect.sleep(Math.random() * spreadMs)
          }
          if (stale) yield* look
        }
      })
      // The database may be away for a while: the watcher has been told nothing wrong, and waits.
      yield* catchUp.pipe(
        Effect.catch(() => Effect.sleep("1 second")),
        Effect.forever,
        Effect.forkScoped
      )
    })
