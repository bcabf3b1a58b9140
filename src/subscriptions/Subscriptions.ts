/**
 * Commands to subscription actors: what the interface and tools ask. The actors submit to threads, whose tools ask in
 * turn: so they appoint themselves once they are there (actors/subscription/layer.ts).
 *
 * S1. Both calls may come again: a change is known by its id, and what is deleted stays deleted.
 * S2. They answer after the commit.
 */
import { Context, Data, Effect, Layer } from "effect"
import type { Principal } from "../domain/principal.ts"
import type { SubscriptionSettings } from "../domain/subscription.ts"

export interface Configuring {
  readonly workspace: string
  readonly id: string
  /** Known by it where it comes again. */
  readonly change: string
  readonly settings: SubscriptionSettings
  readonly enabled: boolean
  readonly cursor?: number
  /** Of the feed, as read before it is changed. */
  readonly lastSeq?: number
  /** The version that it changes: 0 of one that is to be made. */
  readonly version: number
  readonly by: Principal
  /** Of one that is to be made. */
  readonly born?: { readonly agentId: string; readonly feedId: string }
}

/** It is not there, or not any more. */
export class NoSubscription extends Data.TaggedError("NoSubscription") {}
/** It was changed meanwhile. */
export class SubscriptionChanged extends Data.TaggedError("SubscriptionChanged") {}
/** The actor could not be reached in time: nothing is known to have changed, and asking again is safe. */
export class SubscriptionUnavailable extends Data.TaggedError("SubscriptionUnavailable")<{
  readonly cause?: unknown
}> {}

export type SubscriptionFailure = NoSubscription | SubscriptionChanged | SubscriptionUnavailable

export interface Telling {
  readonly configure: (change: Configuring) => Effect.Effect<void, SubscriptionFailure>
  /** `version`: it is deleted only while it is at that. */
  readonly remove: (
    workspace: string,
    id: string,
    version: number | undefined
  ) => Effect.Effect<void, SubscriptionFailure>
}

export class Subscriptions extends Context.Service<
  Subscriptions,
  Telling & {
    /** Who does it from now on. */
    readonly appoint: (by: Telling) => void
  }
>()("troupe/Subscriptions") {
  /** Until somebody is appointed nothing can be reached. */
  static readonly layer = Layer.sync(Subscriptions, () => {
    const nobody = Effect.fail(new SubscriptionUnavailable({}))
    let appointed: Telling = { configure: () => nobody, remove: () => nobody }
    return Subscriptions.of({
      configure: (change) => appointed.configure(change),
      remove: (workspace, id, version) => appointed.remove(workspace, id, version),
      appoint: (by) => {
        appointed = by
      }
    })
  })
}
