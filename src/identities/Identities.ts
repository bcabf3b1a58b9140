/**
 * Commands to identity actors: what the interface asks, and `actors/` answers.
 *
 * I1. Both calls are idempotent, also for an identity that was never seen: it is born by the call.
 * I2. They answer after the commit. A second `disable` answers with the moment and person of the first.
 */
import { Context, Data, type Effect } from "effect"
import type { Principal } from "../domain/principal.ts"

/** `at` (ms since 1970) and `by` say when and by whom it was disabled; absent when it is enabled. */
export type IdentityState =
  | { readonly disabled: false }
  | { readonly disabled: true; readonly at: number; readonly by: Principal }

/** The actor could not be reached in time: nothing is known to have changed, and asking again is safe. */
export class IdentityUnavailable extends Data.TaggedError("IdentityUnavailable")<{ readonly cause?: unknown }> {}

export class Identities extends Context.Service<
  Identities,
  {
    readonly disable: (
      workspace: string,
      identity: string,
      by: Principal
    ) => Effect.Effect<IdentityState, IdentityUnavailable>
    readonly enable: (
      workspace: string,
      identity: string,
      by: Principal
    ) => Effect.Effect<IdentityState, IdentityUnavailable>
  }
>()("troupe/Identities") {}
