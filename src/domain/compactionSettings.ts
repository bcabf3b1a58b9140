/** When a conversation gives way to a summary of its beginning, as a profile says (contract C36.1). */
import { Schema } from "effect"
import { described } from "./described.ts"
import { limits } from "./limits.ts"
import { ModelSelector } from "./modelSelector.ts"
import { maxBytes } from "./text.ts"

const { instructionsBytes, keepTurns, triggerRatio } = limits.compaction

const Ratio = Schema.Finite.check(Schema.isBetween({ minimum: triggerRatio.least, maximum: triggerRatio.most }))
const Turns = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: keepTurns.most }))
const Instructions = Schema.String.check(maxBytes(instructionsBytes))

const says = {
  enabled: "Whether a conversation that gets too long for its model is summarised. True when absent.",
  triggerRatio:
    "Part of the model's context window above which a summary is made before the model is asked. " +
    `${triggerRatio.usual} when absent.`,
  keepTurns: `Newest turns that stay as they are, the running one included. ${keepTurns.usual} when absent.`,
  model: "Model that summarises. Absent: the model that is asked.",
  instructions: "Things that a summary has to keep, in words for the model."
}

/** As it holds, defaults filled in. */
export const CompactionSettings = Schema.Struct({
  enabled: described(Schema.Boolean, says.enabled),
  triggerRatio: described(Ratio, says.triggerRatio),
  keepTurns: described(Turns, says.keepTurns),
  model: described(Schema.optionalKey(ModelSelector), says.model),
  instructions: described(Schema.optionalKey(Instructions), says.instructions)
}).annotate({ identifier: "CompactionSettings" })
export type CompactionSettings = typeof CompactionSettings.Type

export const CompactionInput = Schema.Struct({
  enabled: described(Schema.optionalKey(Schema.Boolean), says.enabled),
  triggerRatio: described(Schema.optionalKey(Ratio), says.triggerRatio),
  keepTurns: described(Schema.optionalKey(Turns), says.keepTurns),
  model: described(Schema.optionalKey(ModelSelector), says.model),
  instructions: described(Schema.optionalKey(Instructions), says.instructions)
}).annotate({ identifier: "CompactionInput" })

/** In a merge patch: null clears. */
export const CompactionPatch = Schema.Struct({
  enabled: described(Schema.optionalKey(Schema.NullOr(Schema.Boolean)), says.enabled),
  triggerRatio: described(Schema.optionalKey(Schema.NullOr(Ratio)), says.triggerRatio),
  keepTurns: described(Schema.optionalKey(Schema.NullOr(Turns)), says.keepTurns),
  model: described(Schema.optionalKey(Schema.NullOr(ModelSelector)), says.model),
  instructions: described(Schema.optionalKey(Schema.NullOr(Instructions)), says.instructions)
}).annotate({ identifier: "CompactionPatch" })

export const defaultCompaction: CompactionSettings = {
  enabled: true,
  triggerRatio: triggerRatio.usual,
  keepTurns: keepTurns.usual
}
