/**
 * Follows the hints of an agent or of a whole workspace for one watcher: best effort, no replay. What
 * does not fit into its buffer, or was lost on its way here, is left out, and `gap` says so as soon as
 * there is room.
 */
import { Effect, type Scope } from "effect"
import { record, streamGaps } from "../../src/telemetry/metrics.ts"
import type { Bus } from "../../src/bus/Bus.ts"
import type { Watch } from "../../src/bus/hints.ts"
import * as frames from "./frames.ts"
import type { Watcher } from "./Streams.ts"
import type { Wanted } from "./wanted.ts"

export const followHints =
  (bus: Bus["Service"]) =>
  (watch: Watch, wanted: Wanted) =>
  ({ outbox, streamId }: Watcher): Effect.Effect<void, never, Scope.Scope> =>
    Effect.gen(function* () {
      let lost = false
      // From the first frame that is left out until the gap is told, everything is: order is kept.
      const tellGap = () => {
        if (!lost) return
        lost = !outbox.offer({ text: frames.gap() })
        if (!lost) record(streamGaps)
      }
      outbox.onRoom = tellGap
      let ready = false
      yield* bus.subscribe({ ...watch, deltas: wanted.delta }, (hint) => {
        if (!ready) return
        if (hint.type === "look") {
          lost = true
          return tellGap()
        }
        if (!wanted[hint.type === "events" ? "event" : hint.type]) return
        for (const frame of frames.framesOf(hint)) if (lost || !outbox.offer(frame)) lost = true
      })
      outbox.offer({ text: frames.ready({ streamId }) })
      ready = true
    })
