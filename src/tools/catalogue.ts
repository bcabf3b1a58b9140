/**
 * Catalogue: what a toolset offers at one time, with the settings that decide which of it counts. A snapshot of both, so
 * that a tool of a running turn keeps its name and its place whatever is changed meanwhile.
 */
import { Schema } from "effect"
import { limits } from "../domain/limits.ts"
import { Exposure, type OfferedTool, ToolContent, type ToolsetContent } from "../domain/toolset.ts"
import type { Tool } from "./Tool.ts"

export const Catalogue = Schema.Struct({
  namespace: Schema.String,
  kind: Schema.Literals(["mcp", "client"]),
  exposure: Exposure,
  include: Schema.optionalKey(Schema.Array(Schema.String)),
  exclude: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Everything that is there, in the order of its maker. */
  tools: Schema.Array(ToolContent)
})
export type Catalogue = typeof Catalogue.Type
export const readCatalogue = Schema.decodeUnknownSync(Catalogue)

export const catalogueOf = ({ exclude, exposure = "always", include, kind, namespace }: ToolsetContent, tools: ReadonlyArray<ToolContent>): Catalogue => ({
  namespace, kind, exposure, ...(include !== undefined && { include }), ...(exclude !== undefined && { exclude }), tools
})

const timeoutOf = (kind: Catalogue["kind"], { timeoutMs = 0 }: ToolContent) =>
  kind === "mcp" ? limits.mcpCallMs : timeoutMs === 0 ? limits.clientToolTimeoutMs.usual : timeoutMs

/** What of it counts: after include and exclude. */
export const offered = ({ exclude, include, kind, tools }: Catalogue): ReadonlyArray<OfferedTool> => {
  const only = include && new Set(include)
  const without = new Set(exclude)
  return tools.filter(({ name }) => (only === undefined || only.has(name)) && !without.has(name))
    .map((tool) => ({ ...tool, timeoutMs: timeoutOf(kind, tool) }))
}

export const toolsOf = (toolsetId: string, catalogue: Catalogue): ReadonlyArray<Tool> => {
  const { exposure, kind, namespace } = catalogue
  return offered(catalogue).map((tool) => ({ ...tool, name: `${namespace}.${tool.name}`, toolsetId, namespace, kind, exposure }))
}

/** The name that the tool's maker gave it. */
export const ownName = ({ name, namespace }: Pick<Tool, "name" | "namespace">) => name.slice(namespace.length + 1)
