/** A registry as the sweep and the end of a node have it, whatever its kind. */
import { Effect } from "effect"
import type { InboxRow } from "../src/journal/Journal.ts"
import type { Lease } from "../src/journal/Lease.ts"
import type { makeActivation } from "./activation.ts"
import type { ActorError, Reply } from "./Actor.ts"
import type { Bulkheads } from "./Bulkheads.ts"
import type { Envelope } from "./envelope.ts"
import { steadyMsOf } from "./Host.ts"
import type { Kind } from "./Kind.ts"
import type { makeLeaving } from "./leaving.ts"
import type { Activation, DropReason } from "./live.ts"
import type { Obligations } from "./obligations.ts"
import type { Wakeable } from "./Registries.ts"
import type { Residents } from "./residents.ts"

/** Actors that are told the time at once: moments that come together do not arrive as one herd. */
const mostTold = 500

type Waking<Snapshot, Request> = Pick<
  ReturnType<typeof makeActivation<Snapshot, Request>>,
  "find" | "serve" | "unasked" | "wake"
> &
  Pick<ReturnType<typeof makeLeaving<Snapshot, Request>>, "drain" | "evict" | "isEmpty" | "passivate"> & {
    readonly kind: Pick<Kind<Snapshot, Request, never, never>, "due" | "inspected" | "unready">
    readonly host: {
      readonly drop: (actor: Activation<Snapshot, Request>, why: DropReason) => void
      readonly tell: (
        actor: Activation<Snapshot, Request>,
        envelope: Envelope<Request>
      ) => Effect.Effect<Reply, ActorError>
      readonly tellAll: (
        actor: Activation<Snapshot, Request>,
        envelopes: ReadonlyArray<Envelope<Request>>
      ) => Effect.Effect<void>
      readonly deliverable: (rows: ReadonlyArray<InboxRow>) => ReadonlyArray<Envelope<Request>>
      readonly passedOverUntil: (row: InboxRow) => number | undefined
    }
    readonly lease: Pick<Lease["Service"], "beatEvery" | "fenced" | "now">
    readonly residents: Residents<Snapshot, Request>
    readonly obligations: Obligations<Request>
    readonly bulkheads: Pick<Bulkheads, "filling">
    readonly mostActors: number
    readonly fork: (effect: Effect.Effect<unknown>) => unknown
    readonly close: () => void
    /** Closed, and what is here leaves. */
    readonly leave: () => void
  }

export const makeWakeable = <Snapshot, Request>({
  bulkheads,
  close,
  drain,
  evict,
  find,
  fork,
  host,
  isEmpty,
  kind,
  lease,
  leave,
  mostActors,
  obligations,
  passivate,
  residents,
  serve,
  unasked,
  wake
}: Waking<Snapshot, Request>): Wakeable => {
  /** A process that was stopped for less than the lease lasts is fenced from the first tick on, until it has beaten. */
  const ticksToAbort = Math.max(1, Math.floor(steadyMsOf(lease) / 100))
  let fencedTicks = 0
  let evicting = false
  const makeRoom = () => {
    if (evicting || residents.size <= mostActors) return
    evicting = true
    fork(
      Effect.ensuring(
        evict,
        Effect.sync(() => {
          evicting = false
        })
      )
    )
  }

  let telling = 0
  const tellTime = (actor: Activation<Snapshot, Request>, request: Request) => {
    telling++
    fork(
      host.tell(actor, { request }).pipe(
        Effect.ignore,
        Effect.ensuring(
          Effect.sync(() => {
            telling--
          })
        )
      )
    )
  }

  const tick = Effect.sync(() => {
    const now = lease.now()
    // What runs without a lease is aborted, once no beat has come to its rescue. Those actors are owed, and taken up
    // again if the lease comes back.
    fencedTicks = lease.fenced() ? fencedTicks + 1 : 0
    if (fencedTicks >= ticksToAbort) {
      for (const actor of residents.all()) if (actor.desk.running > 0) host.drop(actor, "fenced")
      obligations.cutOff()
    }
    if (kind.due !== undefined) for (const actor of residents.due(now, mostTold - telling)) tellTime(actor, kind.due)
    makeRoom()
  })

  return {
    wake,
    passedOverUntil: host.passedOverUntil,
    accept: (ref, rows) => {
      const envelopes = host.deliverable(rows)
      return envelopes.length === 0
        ? Effect.void
        : unasked(
            ref,
            Effect.flatMap(find(ref, true), (actor) => host.tellAll(actor, envelopes))
          )
    },
    isLive: (ref) => residents.has(ref.id),
    inspected: kind.inspected,
    serve,
    tick,
    passivate,
    holds: (shard) => residents.holds(shard),
    dropAll: () => {
      for (const actor of residents.all()) host.drop(actor, "lapsed")
      obligations.released()
      obligations.cutOff()
    },
    close,
    drain: (ms, isOver) =>
      Effect.suspend(() => {
        leave()
        return drain(ms, isOver)
      }),
    isEmpty,
    size: () => residents.size,
    hasRoom: () => residents.size < mostActors,
    jobs: () => residents.all().reduce((sum, actor) => sum + actor.desk.running, 0),
    unready: kind.unready,
    slots: () => bulkheads.filling(),
    owed: () => obligations.size
  }
}
