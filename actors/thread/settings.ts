/** What is fixed at a thread's birth, from its attributes' text. */
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { ThreadAttributes } from "../../src/threads/detail.ts"
import type { ActorView } from "../Kind.ts"
import type { Carry } from "../../machines/thread/context.ts"
import { dollars } from "../../src/domain/usage.ts"
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
  /** Threads that it was asked for by, the nearest first: what it costs is within what they may cost. */
  readonly spendsWithin?: ReadonlyArray<string>
  /** USD that it may cost, as it was when this node took the thread up. */
  readonly maxCost?: number
  /** Another agent asked for it; `depth` is how many such questions lead here. */
  readonly asked?: { readonly agentId: string; readonly threadId: string; readonly depth: number }
}

/** Whose call it is. */
export interface CallBy extends ThreadSettings {
  readonly threadId: string
  readonly carry: Carry
  /** Who began the turn. */
  readonly principal?: Principal
  readonly turnId?: string
  /** How many turns lead to its turn by way of feeds. */
  readonly hops: number
}

/** What was written as text last: a new thread's first command and its answer ask for the same text right after. */
let written: { readonly text: string; readonly attributes: ThreadAttributes } | undefined

/** JSON of what a thread is born with, as the journal keeps it. */
export const attributesText = (attributes: ThreadAttributes) => {
  const text = JSON.stringify(attributes)
  written = { text, attributes }
  return text
}

/** Attributes from their text, of a new thread or as the journal keeps it. */
export const attributesOf = (text: string): ThreadAttributes =>
  written?.text === text ? written.attributes : (JSON.parse(text) as ThreadAttributes)

/** Each is made once for as long as the thread is in memory. */
const known = new WeakMap<ActorView<Snapshot>, ThreadSettings>()

export const settingsOf = (being: ActorView<Snapshot>): ThreadSettings => {
  const found = known.get(being)
  if (found !== undefined) return found
  const { asked, identity, maxCost, model, profileId, profileVersion, reviews, spendsWithin } = attributesOf(
    being.attributes
  )
  const settings: ThreadSettings = {
    workspace: being.ref.workspace,
    agentId: being.parent ?? "",
    ...(identity === undefined ? {} : { identity }),
    ...(model === undefined ? {} : { model }),
    ...(profileId === undefined ? {} : { profileId }),
    ...(profileVersion === undefined ? {} : { profileVersion }),
    ...(reviews === undefined ? {} : { reviews }),
    ...(asked === undefined ? {} : { asked }),
    ...(spendsWithin === undefined ? {} : { spendsWithin }),
    ...(maxCost === undefined ? {} : { maxCost })
  }
  known.set(being, settings)
  return settings
}

/** The thread, and those that asked for it. */
export const spendingThreads = (being: ActorView<Snapshot>): readonly [string, ...ReadonlyArray<string>] => [
  being.ref.id,
  ...(settingsOf(being).spendsWithin ?? [])
]

/** The agent whose budget its models are paid from: of a reviewer that of whom it reviews. */
export const payerOf = (being: ActorView<Snapshot>): string => settingsOf(being).reviews?.agentId ?? being.parent ?? ""

/** USD that the thread has cost so far, as far as prices are known. */
export const costOfThread = ({ snapshot: { context } }: ActorView<Snapshot>): number =>
  dollars((context.carry.usage.estimatedCost ?? 0) + (context.turn?.usage.estimatedCost ?? 0))

/** Whose calls the thread's are. */
export const callBy = (being: ActorView<Snapshot>): CallBy => {
  const { carry, turn } = being.snapshot.context
  return {
    ...settingsOf(being),
    threadId: being.ref.id,
    carry,
    hops: turn?.hops ?? 0,
    ...(turn === null ? {} : { principal: turn.principal, turnId: turn.turnId })
  }
}
