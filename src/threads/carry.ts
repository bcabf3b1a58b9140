/**
 * The carry of a thread's head as text: written with every append, so it says nothing that goes
 * without saying.
 */
import type { FinishReason } from "../domain/event.ts"
import { type ModelUsage, noUsage } from "../domain/usage.ts"

export interface ThreadCarry {
  /** Of turns that ended. */
  readonly usage: ModelUsage
  /** First model of the last admitted turn. */
  readonly model?: string
  /** The last turn, unless it completed. */
  readonly last?: { readonly turnId: string; readonly outcome: "failed" | "cancelled" }
  /** The newest turn, where the model has cut its newest response. */
  readonly cut?: { readonly turnId: string; readonly finishReason: FinishReason }
  /** What a person allowed once for all: a hook's id or a grant's key, and the tool. */
  readonly approvals?: ReadonlyArray<{ readonly by: string; readonly tool?: string }>
  /** Tools that results have made callable: families, and `toolsetId/name` of each. */
  readonly reveals?: { readonly families: ReadonlyArray<string>; readonly tools: ReadonlyArray<string> }
  /** Up to where a summary stands in the log's place. */
  readonly compaction?: { readonly pos: number; readonly throughSeq: number }
  /** The next model call comes after a summary. */
  readonly compactionWanted?: true
  /** Milliseconds: since when it takes no input. */
  readonly archivedAt?: number
  /** The running turn. */
  readonly turn?: { readonly turnId: string; readonly usage: ModelUsage }
}

/** Without the usage that is nothing yet. */
type WriteSet = Omit<ThreadCarry, "usage" | "turn"> & {
  readonly usage?: ModelUsage
  readonly turn?: { readonly turnId: string; readonly usage?: ModelUsage }
}

const spoken = (usage: ModelUsage) => (usage === noUsage ? {} : { usage })

export const carryText = ({ turn, usage, ...rest }: ThreadCarry) =>
  JSON.stringify({
    // What changes most comes first: an update logs what lies between the ends that stay.
    ...(turn === undefined ? {} : { turn: { turnId: turn.turnId, ...spoken(turn.usage) } }),
    ...spoken(usage),
    ...rest
  } satisfies WriteSet)

/** The text is what `carryText` wrote. */
export const readCarry = (text: string): ThreadCarry => {
  const { turn, usage = noUsage, ...rest }: WriteSet = JSON.parse(text)
  return {
    ...rest,
    usage,
    ...(turn === undefined ? {} : { turn: { turnId: turn.turnId, usage: turn.usage ?? noUsage } })
  }
}
