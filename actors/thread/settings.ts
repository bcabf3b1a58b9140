/** What is fixed at a thread's birth, from its attributes' text. */
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { ThreadAttributes } from "../../src/threads/detail.ts"
import type { Being } from "../Kind.ts"
import type { ThreadSettings } from "./admission.ts"
import type { CallBy } from "./tools.ts"

/** Parsed once for as long as the thread lives. */
const known = new WeakMap<Being<Snapshot>, ThreadSettings>()

export const settingsOf = (being: Being<Snapshot>): ThreadSettings => {
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
export const callBy = (being: Being<Snapshot>): CallBy => {
  const { carry, turn } = being.snapshot.context
  return {
    ...settingsOf(being),
    threadId: being.ref.id,
    carry,
    ...(turn === null ? {} : { principal: turn.principal })
  }
}
