/**
 * From what a server lists to tools that can be used, within bounds: what does not fit is left out, and a note says so.
 *
 * I1. At most 512 tools and 1 MiB of text; names that turns can use; schemas that can be compiled; no two tools that a
 *     provider of models would take for one.
 */
import type { ListToolsResult } from "@modelcontextprotocol/client"
import { Effect, Schema } from "effect"
import { limits } from "../../domain/limits.ts"
import { isToolName, ToolAnnotations, type ToolContent } from "../../toolsets/toolset.ts"
import { utf8Bytes } from "../../domain/text.ts"
import { toProviderName } from "../../models/toolNames.ts"
import { inTime, type Reads, schemaProblem } from "../usable.ts"

type Offer = ListToolsResult["tools"][number]

/** What a server lists, as it says it. */
export interface Listed {
  readonly offers: ReadonlyArray<Offer>
  /** False where there is more than was read. */
  readonly complete: boolean
  /** Whether the server runs calls as tasks. */
  readonly tasks: boolean
  readonly note?: string
}

export interface Listing {
  readonly tools: ReadonlyArray<ToolContent>
  /** What was left out and why; undefined where nothing was. */
  readonly note?: string
}

/** Of what a schema cannot take (a title of a megabyte) nothing is kept. */
const annotationsOf = Schema.decodeUnknownOption(ToolAnnotations)

const cut = (text: string, bytes: number) =>
  utf8Bytes(text) <= bytes
    ? text
    : `${Buffer.from(text)
        .subarray(0, bytes - 3)
        .toString("utf8")
        .replace(/\ufffd+$/u, "")}…`

const listed = ({
  annotations,
  description,
  execution,
  inputSchema,
  name,
  outputSchema,
  title
}: Offer): ToolContent => {
  const shown = annotationsOf({ ...(title !== undefined && { title }), ...annotations })
  return {
    name,
    ...(description !== undefined && { description: cut(description, limits.toolDescriptionBytes * 4) }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(execution?.taskSupport === "required" && { execution: { taskSupport: "required" as const } }),
    ...(shown._tag === "Some" && Object.keys(shown.value).length > 0 && { annotations: shown.value })
  }
}

/** Why a tool cannot be used. Of a server's own words only the name is repeated, and only where it is one. */
const problemOf = Effect.fnUntraced(function* (
  unusable: Reads,
  { execution, inputSchema, name, outputSchema }: Offer,
  tasks: boolean,
  seen: ReadonlySet<string>,
  provider: ReadonlySet<string>,
  namespace: string
) {
  if (!isToolName(name)) return "a tool whose name is not 1 to 128 letters, digits, _, . and -"
  if (seen.has(name)) return `a second ${name}`
  if (provider.has(toProviderName(`${namespace}.${name}`)))
    return `${name}: providers could not tell its name from another's`
  if (execution?.taskSupport === "required" && !tasks)
    return `${name}: it has to be run as a task, and its server does not declare that it runs tasks`
  const bytes = limits.mcpToolSchemaBytes
  const input = yield* schemaProblem(unusable, inputSchema, bytes, true)
  if (input !== undefined) return `${name}: its inputSchema is not ${input}`
  const output = outputSchema === undefined ? undefined : yield* schemaProblem(unusable, outputSchema, bytes, false)
  return output === undefined ? undefined : `${name}: its outputSchema is not ${output}`
})

const notes = (left: ReadonlyArray<string>) =>
  left.length === 0
    ? {}
    : {
        note: cut(
          `left out: ${left.slice(0, 5).join("; ")}${left.length > 5 ? `; and ${left.length - 5} more` : ""}`,
          2048
        )
      }

export const listingOf = Effect.fnUntraced(function* (
  unusable: Reads,
  namespace: string,
  { complete, note, offers, tasks }: Listed
) {
  const tools: Array<ToolContent> = []
  const left: Array<string> = []
  let goesOn = !complete
  const [seen, provider] = [new Set<string>(), new Set<string>()]
  let bytes = 0
  for (const offer of offers) {
    const problem = yield* problemOf(unusable, offer, tasks, seen, provider, namespace)
    if (problem !== undefined) {
      left.push(problem)
      continue
    }
    const tool = listed(offer)
    bytes += utf8Bytes(JSON.stringify(tool))
    if (tools.length === limits.toolsPerToolset || bytes > limits.catalogueBytes) {
      goesOn = true
      break
    }
    seen.add(tool.name)
    provider.add(toProviderName(`${namespace}.${tool.name}`))
    tools.push(tool)
  }
  if (goesOn) left.unshift("what follows, since there are too many")
  const listing: Listing = { tools, ...(note !== undefined && { note }), ...notes(left) }
  return listing
}, inTime)
