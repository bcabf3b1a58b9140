/**
 * Follows the hints of an agent or of a whole workspace for one watcher: best effort, no replay. What
 * does not fit into its buffer is left out, and `gap` says so as soon as there is room.
 */
import { Effect, type Scope } from "effect"
import type { Bus, Hint, Watch } from "../../src/bus/Bus.ts"
import * as frames from "./frames.ts"
import type { Frame } from "./Outbox.ts"
import type { Watcher } from "./Streams.ts"
import type { Wanted } from "./wanted.ts"

const framesOf = (hint: Hint, wanted: Wanted): ReadonlyArray<Frame> => {
  switch (hint.type) {
    case "events":
      return wanted.event ? hint.events.map((event) => frames.hintedEvent(hint, event)) : []
    case "status":
      return wanted.status ? [frames.status(hint)] : []
    case "queue":
      return wanted.queue ? [frames.queue(hint)] : []
    case "delta":
      return wanted.delta ? [frames.delta(hint)] : []
    case "discard":
      return wanted.discard ? [frames.discard(hint)] : []
  }
}

export const followHints = (bus: Bus["Service"]) => (watch: Watch, wanted: Wanted) =>
  ({ outbox, streamId }: Watcher): Effect.Effect<void, never, Scope.Scope> =>
    Effect.gen(function*() {
      let lost = false
      // From the first frame that is left out until the gap is told, everything is: order is kept.
      outbox.onRoom = () => { if (lost) lost = !outbox.offer({ text: frames.gap() }) }
      let ready = false
      yield* bus.subscribe(watch, (hint) => {
        if (!ready) return
        for (const frame of framesOf(hint, wanted)) if (lost || !outbox.offer(frame)) lost = true
      })
      outbox.offer({ text: frames.ready({ streamId }) })
      ready = true
    })
