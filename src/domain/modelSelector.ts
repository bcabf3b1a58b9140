/** How a model is named where several may be meant. */
import { Schema } from "effect"
import { limits } from "./limits.ts"
import { controls, maxChars, singleLineOfPattern } from "./text.ts"

const selector = `^(?:@[^\\s/${controls}]+|[^\\s@/${controls}][^\\s/${controls}]*/[^\\s${controls}]+)$`

/** Exact id (`provider/name`), `provider/*` or `@alias`; at most 512 characters. */
export const ModelSelector = Schema.String.check(
  maxChars(limits.selectorChars),
  singleLineOfPattern,
  Schema.isPattern(new RegExp(selector, "u"), {
    expected: "a model selector: provider/name, provider/* or @alias",
    toJsonSchema: () => ({ pattern: selector })
  })
).annotate({ identifier: "ModelSelector" })
