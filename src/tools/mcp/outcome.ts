/**
 * How a call ended, from the answer of its tool.
 *
 * The output is `structuredContent`, or else the text of a single text block, or else the array of content blocks. A
 * tool with an output schema must answer with `structuredContent` that fits it. What the output does not say, other
 * blocks, their annotations, `_meta`, is kept beside it, as far as there is room.
 */
import type { CallToolResult } from "@modelcontextprotocol/client"
import { Effect } from "effect"
import { nestsDeeper } from "../../domain/jsonValue.ts"
import { limits } from "../../domain/limits.ts"
import { besideOf } from "./beside.ts"
import { encodedBytes, fitBlocks, isBlocks, nameBytes } from "../blocks.ts"
import { cutOutput } from "../output.ts"
import type { Schemas } from "../Schemas.ts"
import type { Tool, ToolFailureCode, ToolOutcome } from "../Tool.ts"

const failureChars = 4096

export const failedOutcome = (code: ToolFailureCode, text: string): ToolOutcome => ({
  failure: { code, text: text.length <= failureChars ? text : `${text.slice(0, failureChars).toWellFormed()}…` }
})

const texts = ({ content }: CallToolResult) => content.flatMap((block) => (block.type === "text" ? [block.text] : []))

const toldError = (result: CallToolResult) =>
  texts(result).join("\n") ||
  (result.structuredContent === undefined
    ? "the tool failed without saying why"
    : JSON.stringify(result.structuredContent))

const outputOf = ({ content, structuredContent }: CallToolResult): unknown => {
  if (structuredContent !== undefined) return structuredContent
  const [only, ...more] = content
  return only?.type === "text" && more.length === 0 ? only.text : content
}

/**
 * An image gives way before a text does, and in a structure that repeats it to its name: half of its bytes say nothing.
 */
const lighter = (output: unknown, { content }: CallToolResult) => {
  if (isBlocks(output)) return fitBlocks(output, limits.toolOutputBytes) ?? output
  if (content.every(({ type }) => type === "text") || encodedBytes(output) <= limits.toolOutputBytes) return output
  return nameBytes(
    output,
    content.map((block) => ({ ...block }))
  ).value
}

export const outcomeOf = Effect.fnUntraced(function* (
  schemas: Schemas["Service"],
  workspace: string,
  result: CallToolResult,
  { outputSchema }: Pick<Tool, "outputSchema">
): Effect.fn.Return<ToolOutcome> {
  const output = outputOf(result)
  if (nestsDeeper(output, limits.jsonDepth))
    return failedOutcome("tool_error", `the tool's output nests deeper than ${limits.jsonDepth} levels`)
  if (result.isError === true) return failedOutcome("tool_error", toldError(result))
  if (outputSchema !== undefined) {
    if (result.structuredContent === undefined)
      return failedOutcome("tool_error", "the tool's output does not fit its schema: it has no structuredContent")
    const problem = yield* schemas.misfit(workspace, outputSchema, output).pipe(
      Effect.map((problem) => problem && `the tool's output does not fit its schema: ${problem}`),
      Effect.catch(({ message }) => Effect.succeed(`the tool's output was not checked: ${message}`))
    )
    if (problem !== undefined) return failedOutcome("tool_error", problem)
  }
  const kept = cutOutput(lighter(output, result))
  const beside = besideOf(result, output, () => limits.toolOutputBytes - encodedBytes(kept))
  return { output: kept, ...(beside !== undefined && { beside }) }
})
