/**
 * Tools of the runtime itself: the API seen from inside, in families, under the same roles as all tools.
 *
 * U1. A tool of a family is called `family.tool`, and hidden until `tool_search` has revealed its family, unless the
 *     profile shows families always.
 * U2. Its marks are true: what is marked read-only changes nothing, what is marked idempotent may run again after a
 *     crash.
 */
import { Effect, Schema } from "effect"
import type { ProfileMemory } from "../../../src/agents/profile.ts"
import type { ToolReveal } from "../../../src/domain/event.ts"
import { wordsOf } from "../../../src/domain/problems.ts"
import type { JournalUnavailable } from "../../../src/journal/Journal.ts"
import type { DatabaseUnavailable } from "../../../src/database/Database.ts"
import { cutOutput } from "../../../src/tools/output.ts"
import type { Unreachable } from "../../Actor.ts"
import type { BuiltInOutcome } from "./toolkit.ts"
import type { CallBy } from "../settings.ts"

export type FamilyName = NonNullable<ToolReveal["families"]>[number]

/** Whose call it is, with what the profile of its turn says. */
export interface BuiltInBy extends CallBy {
  readonly memory: ProfileMemory
}

export interface BuiltIn {
  readonly kind: "built-in"
  /** Exact: `family.tool`, or `tool_search`. */
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
  readonly outputSchema?: undefined
  readonly annotations: { readonly readOnlyHint: boolean; readonly idempotentHint: boolean }
  /** It does nothing but wait for another agent's turn. */
  readonly asksAgent: boolean
  /** Never fails: a failure is an outcome. Interruption stops what it has begun. */
  readonly run: (by: BuiltInBy, input: unknown, toolCallId: string) => Effect.Effect<BuiltInOutcome>
}

export interface Family {
  readonly name: FamilyName
  /** For models: when to look here. */
  readonly description: string
  readonly tools: ReadonlyArray<BuiltIn>
}

interface Made<Input> {
  readonly name: string
  /** For models. */
  readonly description: string
  readonly input: Schema.Decoder<Input>
  readonly readOnly: boolean
  /** What only reads is idempotent. */
  readonly idempotent?: boolean
  readonly asksAgent?: boolean
  readonly run: (
    by: BuiltInBy,
    input: Input,
    toolCallId: string
  ) => Effect.Effect<BuiltInOutcome, DatabaseUnavailable | JournalUnavailable | Unreachable>
}

/** The input of a tool that takes none: a struct without fields would take anything. */
export const noParameters = Schema.Record(Schema.String, Schema.Never)

export const toolError = (text: string): BuiltInOutcome => ({ failure: { code: "tool_error", text } })

const notNow = toolError("The server's database does not answer at the moment. Try again.")

/** In the place of a reference what it leads to: not every provider follows them. */
const inlined = (value: unknown, definitions: Readonly<Record<string, unknown>>): unknown => {
  if (Array.isArray(value)) return value.map((item) => inlined(item, definitions))
  if (typeof value !== "object" || value === null) return value
  if ("$ref" in value) return inlined(definitions[String(value.$ref).replace("#/$defs/", "")], definitions)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inlined(item, definitions)]))
}

const schemaOf = (input: Schema.Top) => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(input, { onExcessProperty: "error" })
  return inlined(schema, definitions)
}

export const builtIn = <Input>({
  asksAgent = false,
  description,
  idempotent,
  input,
  name,
  readOnly,
  run
}: Made<Input>): BuiltIn => {
  const decode = Schema.decodeUnknownExit(input, { onExcessProperty: "error" })
  return {
    kind: "built-in",
    name,
    description,
    asksAgent,
    inputSchema: schemaOf(input),
    annotations: { readOnlyHint: readOnly, idempotentHint: idempotent ?? readOnly },
    run: (by, given, toolCallId) =>
      decode(given).pipe(
        Effect.matchEffect({
          // What JSON Schema has no word for.
          onFailure: ({ issue }) =>
            Effect.succeed<BuiltInOutcome>({
              failure: { code: "tool_input_invalid", text: wordsOf(issue, "the input") }
            }),
          onSuccess: (input) => run(by, input, toolCallId)
        }),
        Effect.catch(() => Effect.succeed(notNow)),
        Effect.map((outcome) =>
          outcome.output === undefined ? outcome : { ...outcome, output: cutOutput(outcome.output) }
        )
      )
  }
}
