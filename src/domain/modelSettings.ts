/** How a profile has its models write: what a model does not know is left out of what it is asked (contract C53). */
import { Schema } from "effect"
import { described } from "./described.ts"
import { limits } from "./limits.ts"

const MaxOutputTokens = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: limits.outputTokens }))
const Temperature = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 2 }))
const Reasoning = Schema.Literals(["low", "medium", "high"])

const says = {
  maxOutputTokens:
    "Tokens that a response may have at most. Absent: as many as the model writes. Under a budget exactly this " +
    "much is set aside for a call.",
  temperature: "How freely it chooses its words, from 0 to 2. Absent: the provider's default.",
  reasoning: "How long it thinks first. For models whose `features` have `reasoning`."
}

export const ModelSettings = Schema.Struct({
  maxOutputTokens: described(Schema.optionalKey(MaxOutputTokens), says.maxOutputTokens),
  temperature: described(Schema.optionalKey(Temperature), says.temperature),
  reasoning: described(Schema.optionalKey(Reasoning), says.reasoning)
}).annotate({ identifier: "ModelSettings" })
export type ModelSettings = typeof ModelSettings.Type

/** In a merge patch: null clears. */
export const ModelSettingsPatch = Schema.Struct({
  maxOutputTokens: described(Schema.optionalKey(Schema.NullOr(MaxOutputTokens)), says.maxOutputTokens),
  temperature: described(Schema.optionalKey(Schema.NullOr(Temperature)), says.temperature),
  reasoning: described(Schema.optionalKey(Schema.NullOr(Reasoning)), says.reasoning)
}).annotate({ identifier: "ModelSettingsPatch" })
