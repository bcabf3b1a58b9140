/**
 * Toolset (design, section 8): tools under one namespace, of an MCP server or executed by the workspace's own clients.
 *
 * What a toolset offers at one time is a catalogue, numbered and never changed; turns go by the one that they began with.
 */
import { Schema } from "effect"
import { OutboundUrl } from "../outbound/urls.ts"
import { Description } from "./agent.ts"
import { ToolFamily } from "./event.ts"
import { idOf } from "./ids.ts"
import { isJsonObject } from "./jsonValue.ts"
import { limits } from "./limits.ts"
import { maxBytes, singleLine, utf8Bytes } from "./text.ts"
import { Timestamp } from "./time.ts"

export const ToolsetId = idOf("toolset")

const text = (pattern: string, expected: string) =>
  Schema.String.check(Schema.isPattern(new RegExp(pattern), { expected, toJsonSchema: () => ({ pattern }) }))

/** Unique in its workspace; tools are called `namespace.tool`. */
export const Namespace = text(`^[a-z0-9][a-z0-9_-]{0,${limits.namespaceChars - 1}}$`, `1 to ${limits.namespaceChars} of a-z, 0-9, _ and -, beginning with a letter or digit`)

/** Tools of the built-in families are called `family.tool`: no toolset takes their place. */
export const isReserved: (namespace: string) => boolean = Schema.is(ToolFamily)

/** Without its namespace. */
export const ToolName = text(`^[A-Za-z0-9_.-]{1,${limits.toolNameChars}}$`, `1 to ${limits.toolNameChars} letters, digits, _, . and -`).annotate({ identifier: "ToolName" })
export const isToolName = Schema.is(ToolName)

/** What a tool's maker says of it; nothing that it can be held to. */
export const ToolAnnotations = Schema.Struct({
  title: Schema.optionalKey(Schema.String.check(maxBytes(limits.toolTitleBytes), singleLine)),
  readOnlyHint: Schema.optionalKey(Schema.Boolean),
  destructiveHint: Schema.optionalKey(Schema.Boolean),
  idempotentHint: Schema.optionalKey(Schema.Boolean),
  openWorldHint: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "ToolAnnotations" })
export type ToolAnnotations = typeof ToolAnnotations.Type

/** What the schema of an input or output should be at first sight; undefined where it is. Whether it can be used takes longer to see. */
export const schemaShape = (schema: unknown, bytes: number, input: boolean): string | undefined => {
  if (!isJsonObject(schema)) return "a JSON Schema: an object"
  if (input && schema["type"] !== "object") return `a JSON Schema with "type": "object"`
  return utf8Bytes(JSON.stringify(schema)) <= bytes ? undefined : `a JSON Schema of at most ${bytes} bytes`
}

const toolSchema = (input: boolean) =>
  Schema.Json.check(Schema.makeFilter<Schema.Json>((schema) => schemaShape(schema, limits.clientToolSchemaBytes, input) ?? true, {
    toJsonSchema: () => ({ type: "object", description: `JSON Schema 2020-12, at most ${limits.clientToolSchemaBytes} bytes encoded; references only within it.` })
  }))

const { least, most } = limits.clientToolTimeoutMs

/** 0 is the usual hour. */
const ClientToolTimeout = Schema.Int.check(Schema.makeFilter<number>(
  (ms) => ms === 0 || ms >= least && ms <= most || `0, or ${least} to ${most}`,
  { toJsonSchema: () => [{ minimum: 0, maximum: most, description: `0 for the usual hour, or at least ${least}.` }, true] }
))

/** A tool that the workspace's clients execute. */
export const ClientTool = Schema.Struct({
  name: ToolName,
  description: Schema.optionalKey(Schema.String.check(maxBytes(limits.toolDescriptionBytes))),
  inputSchema: toolSchema(true),
  outputSchema: Schema.optionalKey(toolSchema(false)),
  annotations: Schema.optionalKey(ToolAnnotations),
  timeoutMs: Schema.optionalKey(ClientToolTimeout)
}).annotate({ identifier: "ClientTool" })
export type ClientTool = typeof ClientTool.Type

const ClientTools = Schema.Array(ClientTool).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(limits.toolsPerToolset),
  Schema.makeFilter((tools) => new Set(tools.map(({ name }) => name)).size === tools.length || "tools with different names", { toJsonSchema: () => [{}, true] })
)

const ToolNames = Schema.Array(ToolName).check(Schema.isMaxLength(limits.toolsPerToolset), Schema.isUnique())

/** `search` tools are offered to a model only once a search has revealed them. */
export const Exposure = Schema.Literals(["always", "search"])

const Transport = Schema.Literal("streamable_http")

const Trusted = Schema.Boolean.annotate({
  description: "Whether what the server says of its own tools counts: `readOnlyHint` for the role read_only, that and `idempotentHint` for repeating a call after a crash. False unless it is said."
})

const common = {
  namespace: Namespace,
  description: Schema.optionalKey(Description),
  include: Schema.optionalKey(ToolNames),
  exclude: Schema.optionalKey(ToolNames),
  exposure: Schema.optionalKey(Exposure)
}

export const McpToolsetInput = Schema.Struct({
  kind: Schema.Literal("mcp"),
  ...common,
  url: OutboundUrl,
  transport: Schema.optionalKey(Transport),
  connectionId: Schema.optionalKey(idOf("connection")),
  trusted: Schema.optionalKey(Trusted)
}).annotate({ identifier: "McpToolsetInput" })
export type McpToolsetInput = typeof McpToolsetInput.Type

export const ClientToolsetInput = Schema.Struct({
  kind: Schema.Literal("client"),
  ...common,
  tools: ClientTools
}).annotate({ identifier: "ClientToolsetInput" })
export type ClientToolsetInput = typeof ClientToolsetInput.Type

/** What a client may say of a toolset: the body of a create, and what a patch is merged into. */
export const ToolsetInput = Schema.Union([McpToolsetInput, ClientToolsetInput]).annotate({ identifier: "ToolsetInput" })
export type ToolsetInput = typeof ToolsetInput.Type

/** JSON Merge Patch: absent keeps, null clears, a list replaces the list. What belongs to the other kind is refused. */
export const ToolsetPatch = Schema.Struct({
  namespace: Schema.optionalKey(Namespace),
  description: Schema.optionalKey(Schema.NullOr(Description)),
  include: Schema.optionalKey(Schema.NullOr(ToolNames)),
  exclude: Schema.optionalKey(Schema.NullOr(ToolNames)),
  exposure: Schema.optionalKey(Schema.NullOr(Exposure)),
  url: Schema.optionalKey(OutboundUrl),
  transport: Schema.optionalKey(Schema.NullOr(Transport)),
  connectionId: Schema.optionalKey(Schema.NullOr(idOf("connection"))),
  trusted: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  tools: Schema.optionalKey(ClientTools)
}).annotate({ identifier: "ToolsetPatch" })
export type ToolsetPatch = typeof ToolsetPatch.Type

/** What is stored of a toolset, as it was checked when it was written. Tools are in its catalogue. */
export const ToolsetContent = Schema.Struct({
  kind: Schema.Literals(["mcp", "client"]),
  namespace: Schema.String,
  description: Schema.optionalKey(Schema.String),
  include: Schema.optionalKey(Schema.Array(Schema.String)),
  exclude: Schema.optionalKey(Schema.Array(Schema.String)),
  exposure: Schema.optionalKey(Exposure),
  url: Schema.optionalKey(Schema.String),
  transport: Schema.optionalKey(Transport)
})
export type ToolsetContent = typeof ToolsetContent.Type

/** A tool as its maker says it: a client's, or a server's as it was listed. */
export const ToolContent = Schema.Struct({
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  inputSchema: Schema.Unknown,
  outputSchema: Schema.optionalKey(Schema.Unknown),
  annotations: Schema.optionalKey(ToolAnnotations),
  timeoutMs: Schema.optionalKey(Schema.Int)
}).annotate({ identifier: "ToolContent" })
export type ToolContent = typeof ToolContent.Type

/** `pending`: not asked yet. A client toolset is always ready. */
export const ToolsetStatus = Schema.Literals(["ready", "unreachable", "unauthorized", "pending"])
export type ToolsetStatus = typeof ToolsetStatus.Type

/** What the last probe found. `toolCount` is what the toolset offers: after include and exclude. */
const probed = {
  status: ToolsetStatus,
  statusReason: Schema.optionalKey(Schema.String),
  toolCount: Schema.Int,
  lastCheckedAt: Schema.optionalKey(Timestamp)
}

/** `catalogVersion` is 0 until there is a catalogue. `url`, `transport` and `trusted` are of kind mcp. */
const shown = {
  id: Schema.String,
  namespace: Schema.String,
  kind: Schema.Literals(["mcp", "client"]),
  description: Schema.optionalKey(Schema.String),
  url: Schema.optionalKey(Schema.String),
  transport: Schema.optionalKey(Transport),
  connectionId: Schema.optionalKey(Schema.String),
  trusted: Schema.optionalKey(Schema.Boolean),
  include: Schema.optionalKey(Schema.Array(Schema.String)),
  exclude: Schema.optionalKey(Schema.Array(Schema.String)),
  exposure: Exposure,
  ...probed,
  catalogVersion: Schema.Int,
  createdAt: Timestamp,
  updatedAt: Timestamp
}

/** As a list shows it. */
export const ToolsetSummary = Schema.Struct(shown).annotate({ identifier: "ToolsetSummary" })
export type ToolsetSummary = typeof ToolsetSummary.Type

/** `tools` only of a client toolset: as they were written. */
export const Toolset = Schema.Struct({ ...shown, tools: Schema.optionalKey(Schema.Array(ToolContent)) }).annotate({ identifier: "Toolset" })
export type Toolset = typeof Toolset.Type

/** A tool as it is offered: `timeoutMs` says how long its call, or the wait for its client, may take. */
export const OfferedTool = Schema.Struct({ ...ToolContent.fields, timeoutMs: Schema.Int }).annotate({ identifier: "OfferedTool" })
export type OfferedTool = typeof OfferedTool.Type
