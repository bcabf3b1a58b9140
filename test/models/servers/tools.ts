/**
 * What every provider demands of the tools that a model is shown, told once: each protocol only says where they stand.
 */
import { Ajv2020 } from "ajv/dist/2020.js"
import { field } from "./json.ts"

export interface Shown {
  readonly name: string | undefined
  readonly schema: unknown
}

const ajv = new Ajv2020({ strict: false })
// Google's letters are the fewest: a name that it takes is taken by all.
const safe = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** Answers what is wrong. */
export const problemInTools = (tools: ReadonlyArray<Shown>): string | undefined => {
  const seen = new Set<string>()
  for (const [index, { name = "", schema }] of tools.entries()) {
    if (!safe.test(name)) return `tools.${index}: the name ${name} has other letters than a name may have, or too many`
    if (seen.has(name)) return `tools.${index}: the name ${name} stands twice`
    seen.add(name)
    if (field(schema, "type") !== "object") return `tools.${index}: a schema of another type than object`
    // "object schema missing properties" (OpenAI)
    if (typeof field(schema, "properties") !== "object")
      return `tools.${index}: the object schema is missing properties`
    // OpenAI and Anthropic alike
    const choice = ["allOf", "anyOf", "oneOf", "not", "enum"].find((word) => field(schema, word) !== undefined)
    if (choice !== undefined) return `tools.${index}: ${choice} at the top of a schema is not supported`
    if (ajv.validateSchema(Object(schema)) !== true)
      return `tools.${index}: the schema is not valid: ${ajv.errorsText()}`
  }
  return undefined
}
