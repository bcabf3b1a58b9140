/**
 * Catalogue: what a toolset offers at one time, with the settings that decide which of it counts. A snapshot of both,
 * so that a tool of a running turn keeps its name and its place whatever is changed meanwhile.
 */
import { Schema } from "effect"
import { limits } from "../domain/limits.ts"
import { Exposure, type OfferedTool, ToolContent, type ToolsetContent } from "./toolset.ts"

export const Catalogue = Schema.Struct({
  namespace: Schema.String,
  kind: Schema.Literals(["mcp", "client"]),
  exposure: Exposure,
  include: Schema.optionalKey(Schema.Array(Schema.String)),
  exclude: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Of a server: whether its annotations count. Catalogues of the version before do not say: their toolset does. */
  trusted: Schema.optionalKey(Schema.Boolean),
  /** Of a server's calls; the usual time where it does not say. */
  timeoutMs: Schema.optionalKey(Schema.Int),
  toolTimeouts: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)),
  /** Everything that is there, in the order of its maker. */
  tools: Schema.Array(ToolContent)
})
export type Catalogue = typeof Catalogue.Type
export const readCatalogue = Schema.decodeUnknownSync(Catalogue)

export const catalogueOf = (
  { exclude, exposure = "always", include, kind, namespace, timeoutMs, toolTimeouts }: ToolsetContent,
  trusted: boolean,
  tools: ReadonlyArray<ToolContent>
): Catalogue => ({
  namespace,
  kind,
  exposure,
  ...(include !== undefined && { include }),
  ...(exclude !== undefined && { exclude }),
  ...(kind === "mcp" && { trusted }),
  ...(timeoutMs !== undefined && { timeoutMs }),
  ...(toolTimeouts !== undefined && { toolTimeouts }),
  tools
})

const timeoutOf = (
  { kind, timeoutMs: ofAll = limits.mcpCallMs.usual, toolTimeouts = {} }: Catalogue,
  { name, timeoutMs = 0 }: ToolContent
) => {
  if (kind === "client") return timeoutMs === 0 ? limits.clientToolTimeoutMs.usual : timeoutMs
  // A tool may be called as a property is that every object has.
  return Object.hasOwn(toolTimeouts, name) ? (toolTimeouts[name] ?? ofAll) : ofAll
}

/** What of it counts: after include and exclude. */
export const offered = (catalogue: Catalogue): ReadonlyArray<OfferedTool> => {
  const { exclude, include, tools } = catalogue
  const only = include && new Set(include)
  const without = new Set(exclude)
  return tools
    .filter(({ name }) => (only === undefined || only.has(name)) && !without.has(name))
    .map((tool) => ({ ...tool, timeoutMs: timeoutOf(catalogue, tool) }))
}
