/**
 * Follows the hints of an agent or of a whole workspace for one watcher: best effort, no replay. Hints that do not fit
 * into its buffer, or were lost on their way here, are left out, and `gap` says so as soon as there is room. The steps
 * of one actor are told as well.
 */
import { Effect, type Scope } from "effect"
import type { Inspecting } from "../../actors/inspecting.ts"
import { record, streamGaps } from "../../src/telemetry/metrics.ts"
import type { Bus } from "../../src/bus/Bus.ts"
import type { Hint, Watch } from "../../src/bus/hints.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import { isIdOf } from "../../src/domain/ids.ts"
import { makeStepTeller } from "./followSteps.ts"
import * as frames from "./frames.ts"
import type { Watcher } from "./Streams.ts"
import type { Wanted } from "./wanted.ts"

const isThread = isIdOf("thread")

/** Listens before it reads: what the actor does from then on is told, once its events have been heard of. */
const followActor = Effect.fnUntraced(function* (
  bus: Bus["Service"],
  inspecting: Inspecting["Service"],
  { actorId, workspace }: { readonly workspace: string; readonly actorId: string },
  { outbox }: Watcher
) {
  let heard = 0
  let steps: ReturnType<typeof makeStepTeller> | undefined
  const hear = (hint: Hint) => {
    if (hint.type === "look") return steps?.look()
    if (hint.type === "events" && hint.threadId === actorId) heard = Math.max(heard, hint.events.at(-1)?.seq ?? 0)
    else if (hint.type !== "moved" || hint.actorId !== actorId) return
    steps?.ring()
  }
  yield* bus.subscribe(isThread(actorId) ? { workspace, threadId: actorId } : { workspace }, hear)
  // Like any filter's, an id that nobody has is of nothing yet: an identity's actor is born when it is needed first.
  const { pos: after = 0, seq = 0 } = (yield* inspecting.find(workspace, actorId))?.head ?? {}
  heard = Math.max(heard, seq)
  const passed = () => (isThread(actorId) ? heard : Number.POSITIVE_INFINITY)
  const looked = (seq: number) => {
    heard = Math.max(heard, seq)
  }
  steps = makeStepTeller(inspecting, bus, { workspace, actorId, after, passed, looked }, outbox)
  return steps
})

export const makeFollowHints =
  (bus: Bus["Service"], inspecting: Inspecting["Service"]) =>
  (watch: Watch, wanted: Wanted, actorId?: string) =>
  (watcher: Watcher): Effect.Effect<void, DatabaseUnavailable, Scope.Scope> =>
    Effect.gen(function* () {
      const { outbox, streamId } = watcher
      let hasGap = false
      // From the first frame that is left out until the gap is told, everything is: order is kept.
      const tellGap = () => {
        if (!hasGap) return
        hasGap = !outbox.offer({ text: frames.gap() })
        if (!hasGap) record(streamGaps)
      }
      let ready = false
      yield* bus.subscribe({ ...watch, deltas: wanted.delta }, (hint) => {
        if (!ready) return
        if (hint.type === "look") {
          hasGap = true
          return tellGap()
        }
        if (hint.type === "moved" || !wanted[hint.type === "events" ? "event" : hint.type]) return
        for (const frame of frames.framesOf(hint)) if (hasGap || !outbox.offer(frame)) hasGap = true
      })
      const { workspace } = watch
      const steps =
        actorId === undefined || !wanted.step
          ? undefined
          : yield* followActor(bus, inspecting, { workspace, actorId }, watcher)
      outbox.onRoom = () => {
        tellGap()
        steps?.ring()
      }
      outbox.offer({ text: frames.ready({ streamId }) })
      ready = true
      if (steps !== undefined) yield* Effect.forkScoped(steps.run)
    })
