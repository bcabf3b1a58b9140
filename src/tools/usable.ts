/**
 * Whether the schemas of tools can be used. Compiling one can take many milliseconds, so every tool has a turn of the
 * event loop of its own.
 */
import { Effect } from "effect"
import { limits } from "../domain/limits.ts"
import { type ClientTool, schemaShape } from "../domain/toolset.ts"
import { checkSchema, deeperThan } from "./jsonSchema.ts"

/** What a schema should be; undefined where it is. */
export const schemaProblem = (schema: unknown, bytes: number, input: boolean): string | undefined => {
  if (deeperThan(schema, limits.jsonDepth)) return `a JSON Schema of at most ${limits.jsonDepth} levels`
  const shape = schemaShape(schema, bytes, input)
  if (shape !== undefined) return shape
  const problem = checkSchema(schema)
  return problem === undefined ? undefined : `a usable JSON Schema (${problem})`
}

/** The first schema of a client's tools that cannot be used: its path, and what it should be. */
export const unusableSchema = Effect.fnUntraced(function*(tools: ReadonlyArray<ClientTool>) {
  for (const [i, { inputSchema, outputSchema }] of tools.entries()) {
    yield* Effect.yieldNow
    const input = schemaProblem(inputSchema, limits.clientToolSchemaBytes, true)
    if (input !== undefined) return { path: `tools[${i}].inputSchema`, expected: input }
    const output = outputSchema === undefined ? undefined : schemaProblem(outputSchema, limits.clientToolSchemaBytes, false)
    if (output !== undefined) return { path: `tools[${i}].outputSchema`, expected: output }
  }
  return undefined
})
