/**
 * Catalogue: what a toolset offers at one time, with the settings that decide which of it counts. A snapshot of both, so
 * that a tool of a running turn keeps its name and its place whatever is changed meanwhile.
 */
import { Schema } from "effect"
import { limits } from "../domain/limits.ts"
import { Exposure, ListedTool, type ToolsetInput } from "../domain/toolset.ts"
import type { Tool } from "./Tool.ts"

export const Catalogue = Schema.Struct({
  namespace: Schema.String,
  kind: Schema.Literals(["mcp", "client"]),
  exposure: Exposure,
  include: Schema.optionalKey(Schema.Array(Schema.String)),
  exclude: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Everything that is there, in the order of its maker. */
  tools: Schema.Array(ListedTool)
})
export type Catalogue = typeof Catalogue.Type
export const readCatalogue = Schema.decodeUnknownSync(Catalogue)

/** Of a client toolset: the tools that its body says. */
export const clientTools = (tools: (ToolsetInput & { readonly kind: "client" })["tools"]): ReadonlyArray<ListedTool> =>
  tools.map(({ timeoutMs, ...tool }) => ({ ...tool, timeoutMs: timeoutMs === undefined || timeoutMs === 0 ? limits.clientToolTimeoutMs.usual : timeoutMs }))

export const catalogueOf = ({ exclude, exposure = "always", include, kind, namespace }: ToolsetInput, tools: ReadonlyArray<ListedTool>): Catalogue => ({
  namespace, kind, exposure, ...(include !== undefined && { include }), ...(exclude !== undefined && { exclude }), tools
})

/** What of it counts: after include and exclude. */
export const offered = ({ exclude, include, tools }: Catalogue): ReadonlyArray<ListedTool> => {
  const only = include && new Set(include)
  const without = new Set(exclude)
  return tools.filter(({ name }) => (only === undefined || only.has(name)) && !without.has(name))
}

export const toolsOf = (toolsetId: string, catalogue: Catalogue): ReadonlyArray<Tool> => {
  const { exposure, kind, namespace } = catalogue
  return offered(catalogue).map(({ name, ...tool }) => ({ ...tool, name: `${namespace}.${name}`, toolsetId, namespace, kind, exposure }))
}

/** The name that the tool's maker gave it. */
export const ownName = ({ name, namespace }: Pick<Tool, "name" | "namespace">) => name.slice(namespace.length + 1)
