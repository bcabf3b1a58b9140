/** Whether the schemas of a toolset's tools can be used. */
import { Effect } from "effect"
import { nestsDeeper } from "../domain/jsonValue.ts"
import { limits } from "../domain/limits.ts"
import { type ClientTool, schemaShape } from "../toolsets/toolset.ts"
import { type Schemas, Unjudged } from "./Schemas.ts"

/** For all schemas of a toolset together: each may wait, and there may be a thousand. */
const allMs = 60_000

/** Why a schema of the workspace cannot be used. */
export type Reads = (schema: unknown) => ReturnType<Schemas["Service"]["unusable"]>

/** What a schema should be; undefined where it is. */
export const schemaProblem = (unusable: Reads, schema: unknown, bytes: number, input: boolean): ReturnType<Reads> => {
  if (nestsDeeper(schema, limits.jsonDepth))
    return Effect.succeed(`a JSON Schema of at most ${limits.jsonDepth} levels`)
  const shape = schemaShape(schema, bytes, input)
  if (shape !== undefined) return Effect.succeed(shape)
  return Effect.map(unusable(schema), (problem) =>
    problem === undefined ? undefined : `a usable JSON Schema (${problem})`
  )
}

/** Ends what reads the schemas of a whole toolset when its time is over. */
export const inTime = <A, E, R>(reading: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(reading, {
    duration: allMs,
    orElse: () =>
      Effect.fail(
        new Unjudged({ reason: "busy", message: `the tools' schemas could not be read within ${allMs / 1_000} s` })
      )
  })

/** The first schema of a client's tools that cannot be used: its path, and what it should be. */
export const unusableSchema = Effect.fnUntraced(function* (unusable: Reads, tools: ReadonlyArray<ClientTool>) {
  for (const [i, { inputSchema, outputSchema }] of tools.entries()) {
    const input = yield* schemaProblem(unusable, inputSchema, limits.clientToolSchemaBytes, true)
    if (input !== undefined) return { path: `tools[${i}].inputSchema`, expected: input }
    const output =
      outputSchema === undefined
        ? undefined
        : yield* schemaProblem(unusable, outputSchema, limits.clientToolSchemaBytes, false)
    if (output !== undefined) return { path: `tools[${i}].outputSchema`, expected: output }
  }
  return undefined
}, inTime)
