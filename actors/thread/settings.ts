/** What is fixed at a thread's birth, from its attributes' text. */
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { ThreadAttributes } from "../../src/threads/detail.ts"
import type { ActorView } from "../Kind.ts"
import type { Carry } from "../../machines/thread/context.ts"
import type { Principal } from "../../src/domain/principal.ts"

/** What is fixed at a thread's birth and a turn depends on. */
export interface ThreadSettings {
  readonly workspace: string
  readonly agentId: string
  readonly identity?: string
  readonly model?: string
  /** The profile that it is pinned to. A thread of an earlier version knows the version only. */
  readonly profileId?: string
  readonly profileVersion?: number
  /** The thread judges for a hook of another one. */
  readonly reviews?: { readonly agentId: string; readonly threadId: string }
  /** Another agent asked for it; `depth` is how many such questions lead here. */
  readonly asked?: { readonly agentId: string; readonly threadId: string; readonly depth: number }
}

/** Whose call it is. */
export interface CallBy extends ThreadSettings {
  readonly threadId: string
  readonly carry: Carry
  /** Who began the turn. */
  readonly principal?: Principal
}

/** Parsed once for as long as the thread lives. */
const known = new WeakMap<ActorView<Snapshot>, ThreadSettings>()

export const settingsOf = (being: ActorView<Snapshot>): ThreadSettings => {
  const found = known.get(being)
  if (found !== undefined) return found
  // The journal holds what `create` wrote.
  const { asked, identity, model, profileId, profileVersion, reviews } = JSON.parse(
    being.attributes
  ) as ThreadAttributes
  const settings: ThreadSettings = {
    workspace: being.ref.workspace,
    agentId: being.parent ?? "",
    ...(identity === undefined ? {} : { identity }),
    ...(model === undefined ? {} : { model }),
    ...(profileId === undefined ? {} : { profileId }),
    ...(profileVersion === undefined ? {} : { profileVersion }),
    ...(reviews === undefined ? {} : { reviews }),
    ...(asked === undefined ? {} : { asked })
  }
  known.set(being, settings)
  return settings
}

/** Whose calls the thread's are. */
export const callBy = (being: ActorView<Snapshot>): CallBy => {
  const { carry, turn } = being.snapshot.context
  return {
    ...settingsOf(being),
    threadId: being.ref.id,
    carry,
    ...(turn === null ? {} : { principal: turn.principal })
  }
}
