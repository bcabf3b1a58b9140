/** A summary is wanted only where the conversation has turns whose place it could take. */
import { Effect } from "effect"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { ResolvedProfile } from "../../src/agents/Directory.ts"
import { defaultCompaction } from "../../src/domain/compactionSettings.ts"
import type { Unreachable } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import { unreachable } from "../live.ts"
import { boundaryOf } from "./memory/boundaries.ts"
import { type Prompts, stretchOf } from "./memory/prompts.ts"

/** `profileOf`: the one that a turn would run by now. */
export const makeCompactable =
  (
    prompts: Prompts,
    profileOf: (being: ActorView<Snapshot>) => Effect.Effect<ResolvedProfile | undefined, Unreachable>
  ) =>
  (being: ActorView<Snapshot>): Effect.Effect<boolean, Unreachable> =>
    Effect.gen(function* () {
      const { keepTurns } = (yield* profileOf(being))?.compaction ?? defaultCompaction
      const messages = yield* Effect.mapError(prompts.upTo(being.ref, stretchOf(being.snapshot.context)), unreachable)
      // Of no turn: what could be cut within the running one does not count.
      return boundaryOf(messages, { turnId: "", keepTurns, room: Infinity }) !== undefined
    })
