/** What preparing takes and gives. */
import type { Effect } from "effect"
import type { Spend } from "../../src/agents/Spending.ts"
import type { Attributes, Journal } from "../../src/journal/Journal.ts"
import type { Command } from "../../machines/thread/commands.ts"
import type { Snapshot } from "../../machines/thread/chart.ts"
import type { Reply, Unreachable } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import type { AdmissionOf, Selects } from "./admissions.ts"
import type { Payable } from "./caps.ts"
import type { Tools } from "./tools/toolkit.ts"

/** A command with what its answer needs. `command` is absent of a birth without a message. */
export interface Prepared {
  readonly at: number
  readonly command?: Command
  /** The input was taken before, and this is its answer: nothing is decided. */
  readonly earlier?: Reply
  /** The thread begins with this command: it answers with Thread detail. */
  readonly creating?: true
  /** For answers that are a Thread detail. */
  readonly spend?: Spend
  readonly attributes?: Attributes
}

export interface Preparing {
  readonly admissionOf: AdmissionOf
  readonly selects: Selects
  /** Whether too many turns of the workspace wait for a slot here. */
  readonly isLineFull: (workspace: string) => boolean
  readonly journal: Pick<Journal["Service"], "attributes" | "input" | "log">
  readonly spendOf: (workspace: string, agentId: string) => Effect.Effect<Spend, Unreachable>
  readonly tools: Tools
  /** Whether a turn is left that a summary could take the place of. */
  readonly compactable: (being: ActorView<Snapshot>) => Effect.Effect<boolean, Unreachable>
  /** Refuses a fresh input that could not be paid for. */
  readonly payable: Payable
}
