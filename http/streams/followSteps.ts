/**
 * Tells one watcher of the steps that an actor takes, read from its log whenever something is heard of it: nothing more
 * is made or sent for a step where nobody asks for steps.
 *
 * F5. A step is told after the events that it wrote, once, in order, and none is left out: what does not fit into the
 *     buffer is told once there is room. Steps for a watcher that falls behind come together.
 * F6. The log is looked at now and then all the same, as in F4.
 */
import { Effect, Latch, Option, Schedule } from "effect"
import type { FoundActor, Inspecting } from "../../actors/inspecting.ts"
import type { Bus } from "../../src/bus/Bus.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import { shownStep } from "../inspection/shown.ts"
import * as frames from "./frames.ts"
import type { Outbox } from "./Outbox.ts"

export interface FollowedSteps {
  readonly workspace: string
  readonly actorId: string
  /** Position behind which to begin. */
  readonly after: number
  /** Seq up to which the watcher has been told of events. */
  readonly passed: () => number
  /** Hints may have been lost: the log has events up to this seq, which the watcher will not be told of any more. */
  readonly looked?: (seq: number) => void
}

const lookEvery = "15 seconds"
/** While no hint can come from another node. */
const lookEveryAlone = "2 seconds"
/** What is read of an actor that does much is read together. */
const pause = "50 millis"
const together = 100

export const makeStepTeller = (
  inspecting: Inspecting["Service"],
  bus: Pick<Bus["Service"], "state">,
  { actorId, after, looked, passed, workspace }: FollowedSteps,
  outbox: Pick<Outbox, "awaitRoom" | "hasRoom" | "offer">
) => {
  const news = Latch.makeUnsafe(true)
  let lastTold = after
  let looks = false

  /** Whether to go on at once: what is left waits for room, or for the events before it. */
  const tellPage = Effect.fnUntraced(function* (found: FoundActor) {
    const steps = yield* inspecting.steps(workspace, found, { after: lastTold, order: "asc", limit: together })
    for (const step of steps) {
      if (step.toSeq !== undefined && step.toSeq > passed()) return false
      if (!outbox.offer(frames.step(actorId, shownStep(step)))) return false
      lastTold = step.pos
    }
    return steps.length > together
  })

  const tell: Effect.Effect<void, DatabaseUnavailable> = Effect.gen(function* () {
    if (!outbox.hasRoom) return outbox.awaitRoom()
    const found = yield* inspecting.find(workspace, actorId)
    if (found === undefined) return
    if (looks) looked?.(found.head.seq)
    looks = false
    if (found.head.pos <= lastTold) return
    while (yield* tellPage(found));
  })

  return {
    /** Something has happened, or may have. */
    ring: () => {
      news.openUnsafe()
    },
    /** The same, where hints may have been lost. */
    look: () => {
      looks = true
      news.openUnsafe()
    },
    /** Never ends. */
    run: Effect.gen(function* () {
      const heard = yield* Effect.timeoutOption(news.await, bus.state() === "disconnected" ? lookEveryAlone : lookEvery)
      if (Option.isNone(heard)) looks = true
      news.closeUnsafe()
      yield* tell
      yield* Effect.sleep(pause)
    }).pipe(
      // The database may be away for a while: nothing wrong has been told.
      Effect.tapError(() => Effect.sync(() => news.openUnsafe())),
      Effect.retry(Schedule.spaced("1 second")),
      Effect.forever
    )
  }
}
