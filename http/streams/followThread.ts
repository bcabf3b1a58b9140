/**
 * Follows one thread for one watcher: listens, reads, and waits, as its follower (`Follower.ts`) asks.
 *
 * F1. It listens before it reads, and says `ready` after both.
 * F4. The log is looked at every now and then all the same, and at once where hints are known to be
 *     lost ("look"): a status that was missed is told then.
 */
import { Deferred, Effect, Option, Schedule, type Scope } from "effect"
import type { Inspecting } from "../../actors/inspecting.ts"
import type { Bus } from "../../src/bus/Bus.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import type { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { Refused } from "../errors.ts"
import { Follower, type Watched } from "./Follower.ts"
import { makeStepTeller } from "./followSteps.ts"
import type { Watcher } from "./Streams.ts"

export interface Follow extends Watched {
  readonly workspace: string
}

/**
 * Where in the log steps begin: with the one that wrote the event behind which events are replayed, or with what comes.
 */
const stepsBehind = Effect.fnUntraced(function* (
  inspecting: Inspecting["Service"],
  { after, threadId, workspace }: Follow
) {
  const found = yield* inspecting.find(workspace, threadId)
  if (found === undefined || after === 0) return 0
  const position = after === undefined ? undefined : yield* inspecting.positionOf(workspace, found, after)
  return position === undefined ? found.head.pos : position - 1
})

const lookEvery = "15 seconds"
/** While no hint can come from another node. */
const lookEveryAlone = "2 seconds"
/** After an outage of the bus all streams of a node look again, but not all at once. */
const spreadMs = 500
const pageRows = 200
/** After the database did not answer. */
const pauses = Schedule.spaced("1 second")

export const makeFollowThread =
  (bus: Bus["Service"], reads: ThreadReads["Service"], inspecting: Inspecting["Service"]) =>
  (follow: Follow) =>
  ({ outbox, streamId }: Watcher): Effect.Effect<void, DatabaseUnavailable | Refused<"not_found">, Scope.Scope> =>
    Effect.gen(function* () {
      const { threadId, wanted, workspace } = follow
      const follower = new Follower(follow, outbox)
      /** Hints may have been lost since the head was read (F4). */
      let stale = false
      let bell = Deferred.makeUnsafe<void>()
      const ring = () => {
        Deferred.doneUnsafe(bell, Effect.void)
      }
      let steps: ReturnType<typeof makeStepTeller> | undefined
      outbox.onRoom = () => {
        ring()
        steps?.ring()
      }

      yield* bus.subscribe({ workspace, threadId, deltas: wanted.delta }, (hint) => {
        if (hint.type === "look") stale = true
        if (hint.type !== "delta") steps?.ring()
        if (hint.type === "moved" || (hint.type !== "look" && !follower.hear(hint))) return
        ring()
      })
      const head = yield* reads.head(workspace, threadId)
      if (head === undefined) return yield* new Refused({ error: "not_found", message: "no such thread" })
      if (wanted.step) {
        const after = yield* stepsBehind(inspecting, follow)
        steps = makeStepTeller(
          inspecting,
          bus,
          { workspace, actorId: threadId, after, passed: () => follower.passed },
          outbox
        )
      }
      follower.begin(head, streamId)

      const look = Effect.gen(function* () {
        stale = false
        const head = yield* Effect.tapError(reads.head(workspace, threadId), () =>
          Effect.sync(() => {
            stale = true
          })
        )
        follower.look(head)
      })

      const rest = Effect.gen(function* () {
        const rung = yield* Effect.timeoutOption(
          Deferred.await(bell),
          bus.state() === "disconnected" ? lookEveryAlone : lookEvery
        )
        if (Option.isNone(rung)) stale = true
        else bell = Deferred.makeUnsafe<void>()
        if (stale) yield* Effect.sleep(Math.random() * spreadMs)
      })

      const catchUp = Effect.gen(function* () {
        for (;;) {
          while (follower.isBehind && follower.step() === "read") {
            const behind = { workspace, threadId, order: "asc", limit: pageRows, afterSeq: follower.passed } as const
            follower.read(yield* reads.events(behind))
            steps?.ring()
          }
          if (!stale) yield* rest
          if (stale) yield* look
        }
      })
      // The database may be away for a while: the watcher has been told nothing wrong, and waits.
      yield* catchUp.pipe(Effect.retry(pauses), Effect.forkScoped)
      if (steps !== undefined) yield* Effect.forkScoped(steps.run)
    })
