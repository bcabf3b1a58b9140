/** The kinds of actor in their registries, the sweep over them, and the ways to those of other nodes. */
import { Layer } from "effect"
import { Bulkheads, type SlotLimits } from "./Bulkheads.ts"
import * as Identity from "./identity/layer.ts"
import { Inspecting } from "./inspecting.ts"
import { Placement } from "./Placement.ts"
import { Registries } from "./Registries.ts"
import { Router } from "./Router.ts"
import * as Schedule from "./schedule/layer.ts"
import * as Subscription from "./subscription/layer.ts"
import { Sweep } from "./Sweep.ts"
import * as Thread from "./thread/layer.ts"

export interface ActorsOptions {
  /** Milliseconds at rest after which an actor leaves memory; 1 s unless told. */
  readonly idleMs?: number
  /** Bytes of kept prompts on this node; 16 MiB unless told. */
  readonly promptBytes?: number
  /**
   * Bytes of conversations that model calls under way hold together; 512 MiB unless told. What is above waits for its
   * turn: a node that takes over the long turns of a dead one must not come to that.
   */
  readonly underWayBytes?: number
  /** Characters of kept events on this node; 8 million unless told. */
  readonly tailCharacters?: number
  /**
   * Of one workspace on this node: turns that run at once, and calls of models, tools and hooks; no limit unless told.
   */
  readonly slots?: SlotLimits
  /**
   * Actors of a kind in this node's memory, as long as others rest; 10,000 unless told: five times what 2,000
   * births a second leave behind in the second that an actor rests here.
   */
  readonly mostActors?: number
}

/** Claims in a row from lapsed leases, without an append between them, after which a turn is given up. */
const takeoverLimit = 3

export const layer = ({
  idleMs = 1_000,
  promptBytes = 16 * 1024 * 1024,
  underWayBytes = 512 * 1024 * 1024,
  tailCharacters = 8_000_000,
  slots = { turns: 0, calls: 0 },
  mostActors = 10_000
}: ActorsOptions = {}) => {
  const options = { idleMs, takeoverLimit, mostActors, bulkheads: new Bulkheads(slots) }
  return Layer.mergeAll(Sweep.layer, Inspecting.layer).pipe(
    Layer.provideMerge(Schedule.layer(options)),
    Layer.provideMerge(Subscription.layer(options)),
    Layer.provideMerge([
      Thread.layer({ ...options, prompts: { keptBytes: promptBytes, underWayBytes }, tailCharacters }),
      Identity.layer(options)
    ]),
    Layer.provideMerge([Placement.layer, Registries.layer, Router.layer])
  )
}
