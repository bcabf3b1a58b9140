/** Names and descriptions, as agents, profiles, keys, roles and their like have them. */
import { Schema } from "effect"
import { limits } from "./limits.ts"
import { maxBytes, maxChars, nonBlankLine } from "./text.ts"

/** One line, 1 to 128 characters, not blank. */
export const Name = Schema.String.check(maxChars(limits.agentNameChars), nonBlankLine)

export const Description = Schema.String.check(maxBytes(limits.agentDescriptionBytes))
