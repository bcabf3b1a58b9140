/**
 * Toolset: tools under one namespace, of an MCP server or executed by the workspace's own clients.
 *
 * What a toolset offers at one time is a catalogue, numbered and never changed; turns go by the one that they began
 * with.
 */
import { Schema } from "effect"
import { OutboundUrl } from "../domain/url.ts"
import { described } from "../domain/described.ts"
import { ToolFamily } from "../domain/event.ts"
import { idOf } from "../domain/ids.ts"
import { isJsonObject } from "../domain/jsonValue.ts"
import { documented, has, part } from "../domain/jsonSchema.ts"
import { limits } from "../domain/limits.ts"
import { maxBytes, singleLine, utf8Bytes } from "../domain/text.ts"
import { Timestamp } from "../domain/time.ts"
import { Description } from "../domain/names.ts"

const text = (pattern: string, expected: string) =>
  Schema.String.check(Schema.isPattern(new RegExp(pattern), { expected, toJsonSchema: () => ({ pattern }) }))

/** Unique in its workspace; tools are called `namespace.tool`. */
export const Namespace = text(
  `^[a-z0-9][a-z0-9_-]{0,${limits.namespaceChars - 1}}$`,
  `1 to ${limits.namespaceChars} of a-z, 0-9, _ and -, beginning with a letter or digit`
)

/** Tools of the built-in families are called `family.tool`: no toolset takes their place. */
export const isReserved: (namespace: string) => boolean = Schema.is(ToolFamily)

/** Without its namespace. */
export const ToolName = text(
  `^[A-Za-z0-9_.-]{1,${limits.toolNameChars}}$`,
  `1 to ${limits.toolNameChars} letters, digits, _, . and -`
).annotate({ identifier: "ToolName" })
export const isToolName = Schema.is(ToolName)

/** Said once, of what is sent and of what is answered. */
const says = {
  kind: "`mcp`: a server that speaks MCP. `client`: tools that the workspace's own clients execute.",
  namespace:
    "First half of its tools' names: a tool is called as `namespace.tool`. No other toolset of the workspace has it.",
  description: "The tools' purpose, in words for people.",
  include: "Names of the tools that are offered. Absent: all of them.",
  exclude: "Names of tools that are not offered.",
  exposure: "When a model is told of the tools: always, or once a search has found them. `always` when absent.",
  url: "Address of the MCP server. For kind `mcp` only.",
  transport: "How the MCP server is spoken to. For kind `mcp` only; `streamable_http` when absent.",
  connectionId: "Connection with the credential that the MCP server wants. Absent: none is sent.",
  trusted:
    "Whether what the MCP server says of its own tools counts: `readOnlyHint` for the role read_only, that and " +
    "`idempotentHint` for repeating a call after a crash. False when absent.",
  lease:
    "`call`: every call brings a lease, with which the MCP server may ask this API on the agent's behalf while the " +
    "turn goes on. `none`, the default: no call does. For kind `mcp` only.",
  timeoutMs:
    `How long a call of its tools may take without a word, in milliseconds: ${limits.mcpCallMs.usual} when absent. ` +
    `Progress that the server reports begins the time anew, up to ${limits.mcpProgressTimes} times it in all. A ` +
    "turn's own time goes on meanwhile.",
  toolTimeouts: "Milliseconds by the name that the server gave the tool, in the place of `timeoutMs`.",
  tools: "Tools that the workspace's clients execute. For kind `client` only.",
  tool: {
    name: "Name of the tool within its namespace.",
    description: "The tool's purpose, in words for the model.",
    inputSchema: "JSON Schema of the tool's input.",
    outputSchema: "JSON Schema of the tool's output. Absent: any output is taken.",
    annotations: "Hints of the tool's maker about its effects.",
    execution: "How the MCP server wants the tool to be called. Absent: by an ordinary call.",
    timeoutMs: "How long a call may wait for its result, in milliseconds."
  }
}

/** What a tool's maker says of it; nothing that it can be held to. */
export const ToolAnnotations = Schema.Struct({
  title: described(
    Schema.optionalKey(Schema.String.check(maxBytes(limits.toolTitleBytes), singleLine)),
    "Name of the tool for people."
  ),
  readOnlyHint: described(Schema.optionalKey(Schema.Boolean), "Whether the tool changes nothing."),
  destructiveHint: described(Schema.optionalKey(Schema.Boolean), "Whether what it changes may be lost for good."),
  idempotentHint: described(
    Schema.optionalKey(Schema.Boolean),
    "Whether calling it again with the same input changes nothing more."
  ),
  openWorldHint: described(Schema.optionalKey(Schema.Boolean), "Whether it deals with things outside its own server.")
}).annotate({ identifier: "ToolAnnotations" })
export type ToolAnnotations = typeof ToolAnnotations.Type

/**
 * What the schema of an input or output should be at first sight; undefined where it is. Whether it can be used takes
 * longer to see.
 */
export const schemaShape = (schema: unknown, bytes: number, input: boolean): string | undefined => {
  if (!isJsonObject(schema)) return "a JSON Schema: an object"
  if (input && schema.type !== "object") return `a JSON Schema with "type": "object"`
  return utf8Bytes(JSON.stringify(schema)) <= bytes ? undefined : `a JSON Schema of at most ${bytes} bytes`
}

const toolSchema = (input: boolean) =>
  Schema.Json.check(
    Schema.makeFilter<Schema.Json>((schema) => schemaShape(schema, limits.clientToolSchemaBytes, input) ?? true, {
      toJsonSchema: () => ({
        type: "object",
        ...(input && {
          properties: { type: { type: "string", enum: ["object"], description: "A tool takes an object." } },
          required: ["type"],
          additionalProperties: true
        }),
        description:
          `JSON Schema 2020-12, at most ${limits.clientToolSchemaBytes} bytes encoded; ` + "references only within it."
      })
    })
  )

const { least, most } = limits.clientToolTimeoutMs

/** 0 is the usual hour. */
const ClientToolTimeout = Schema.Int.check(
  Schema.makeFilter<number>((ms) => ms === 0 || (ms >= least && ms <= most) || `0, or ${least} to ${most}`, {
    toJsonSchema: () => ({
      minimum: 0,
      maximum: most,
      not: { exclusiveMinimum: 0, exclusiveMaximum: least },
      description: `0 for the usual hour, or at least ${least}.`
    })
  })
)

/** A tool that the workspace's clients execute. */
export const ClientTool = Schema.Struct({
  name: described(ToolName, says.tool.name),
  description: described(
    Schema.optionalKey(Schema.String.check(maxBytes(limits.toolDescriptionBytes))),
    says.tool.description
  ),
  inputSchema: described(toolSchema(true), says.tool.inputSchema),
  outputSchema: described(Schema.optionalKey(toolSchema(false)), says.tool.outputSchema),
  annotations: described(Schema.optionalKey(ToolAnnotations), says.tool.annotations),
  timeoutMs: described(Schema.optionalKey(ClientToolTimeout), says.tool.timeoutMs)
}).annotate({ identifier: "ClientTool" })
export type ClientTool = typeof ClientTool.Type

const ClientTools = Schema.Array(ClientTool).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(limits.toolsPerToolset),
  Schema.makeFilter(
    (tools) => new Set(tools.map(({ name }) => name)).size === tools.length || "tools with different names",
    { toJsonSchema: () => [{ description: "Each name stands once." }, true] }
  )
)

const ToolNames = Schema.Array(ToolName).check(Schema.isMaxLength(limits.toolsPerToolset), Schema.isUnique())

/** `search` tools are offered to a model only once a search has revealed them. */
export const Exposure = Schema.Literals(["always", "search"])

/** Whether calls bring a lease. */
export const Leasing = Schema.Literals(["none", "call"])

const Transport = Schema.Literal("streamable_http")

const { least: leastCall, most: mostCall } = limits.mcpCallMs

/** Milliseconds of one call. */
const CallTimeout = Schema.Int.check(
  Schema.isBetween({ minimum: leastCall, maximum: mostCall }, { expected: `${leastCall} to ${mostCall}` })
)

const atMostTools = Schema.makeFilter<Readonly<Record<string, unknown>>>(
  (timeouts) => Object.keys(timeouts).length <= limits.toolsPerToolset || `at most ${limits.toolsPerToolset} tools`,
  { toJsonSchema: () => ({ maxProperties: limits.toolsPerToolset }) }
)

const common = {
  namespace: described(Namespace, says.namespace),
  description: described(Schema.optionalKey(Description), says.description),
  include: described(Schema.optionalKey(ToolNames), says.include),
  exclude: described(Schema.optionalKey(ToolNames), says.exclude),
  exposure: described(Schema.optionalKey(Exposure), says.exposure)
}

export const McpToolsetInput = Schema.Struct({
  kind: described(Schema.Literal("mcp"), says.kind),
  ...common,
  url: described(OutboundUrl, says.url),
  transport: described(Schema.optionalKey(Transport), says.transport),
  connectionId: described(Schema.optionalKey(idOf("connection")), says.connectionId),
  trusted: described(Schema.optionalKey(Schema.Boolean), says.trusted),
  lease: described(Schema.optionalKey(Leasing), says.lease),
  timeoutMs: described(Schema.optionalKey(CallTimeout), says.timeoutMs),
  toolTimeouts: described(
    Schema.optionalKey(Schema.Record(ToolName, CallTimeout).check(atMostTools)),
    says.toolTimeouts
  )
}).annotate({ identifier: "McpToolsetInput" })
export type McpToolsetInput = typeof McpToolsetInput.Type

export const ClientToolsetInput = Schema.Struct({
  kind: described(Schema.Literal("client"), says.kind),
  ...common,
  tools: described(ClientTools, says.tools)
}).annotate({ identifier: "ClientToolsetInput" })
export type ClientToolsetInput = typeof ClientToolsetInput.Type

/** What a client may say of a toolset: the body of a create, and what a patch is merged into. */
export const ToolsetInput = Schema.Union([McpToolsetInput, ClientToolsetInput]).annotate({ identifier: "ToolsetInput" })
export type ToolsetInput = typeof ToolsetInput.Type

/** Fields that only one kind has. */
const own = (fields: object) => Object.keys(fields).filter((field) => field !== "kind" && !Object.hasOwn(common, field))
const ownFields = { mcp: own(McpToolsetInput.fields), client: own(ClientToolsetInput.fields) }
const otherKind = { mcp: "client", client: "mcp" } as const

/** The field of a patch that its toolset cannot have, with the kind that has it. Null takes away what is not there. */
export const strangeTo = (kind: ToolsetInput["kind"], patch: object) => {
  const other = otherKind[kind]
  const field = Object.entries(patch).find(([name, value]) => value !== null && ownFields[other].includes(name))?.[0]
  return field === undefined ? undefined : { field, kind: other }
}

/** JSON Merge Patch: absent keeps, null clears, a list replaces the list. What belongs to the other kind is refused. */
export const ToolsetPatch = Schema.Struct({
  namespace: described(Schema.optionalKey(Namespace), says.namespace),
  description: described(Schema.optionalKey(Schema.NullOr(Description)), says.description),
  include: described(Schema.optionalKey(Schema.NullOr(ToolNames)), says.include),
  exclude: described(Schema.optionalKey(Schema.NullOr(ToolNames)), says.exclude),
  exposure: described(Schema.optionalKey(Schema.NullOr(Exposure)), says.exposure),
  url: described(Schema.optionalKey(OutboundUrl), says.url),
  transport: described(Schema.optionalKey(Schema.NullOr(Transport)), says.transport),
  connectionId: described(Schema.optionalKey(Schema.NullOr(idOf("connection"))), says.connectionId),
  trusted: described(Schema.optionalKey(Schema.NullOr(Schema.Boolean)), says.trusted),
  lease: described(Schema.optionalKey(Schema.NullOr(Leasing)), says.lease),
  timeoutMs: described(Schema.optionalKey(Schema.NullOr(CallTimeout)), says.timeoutMs),
  toolTimeouts: described(
    Schema.optionalKey(Schema.NullOr(Schema.Record(ToolName, Schema.NullOr(CallTimeout)).check(atMostTools))),
    `${says.toolTimeouts} Absent names stay, null clears one.`
  ),
  tools: described(Schema.optionalKey(ClientTools), says.tools)
})
  .check(
    documented({
      description:
        `${ownFields.mcp.map((field) => `\`${field}\``).join(", ")} are fields of a toolset of kind \`mcp\`, ` +
        `\`tools\` of one of kind \`client\`.`,
      dependentSchemas: {
        tools: {
          not: has("url"),
          ...part(
            Object.fromEntries(
              ownFields.mcp.filter((field) => field !== "url").map((field) => [field, { type: "null" }])
            )
          )
        }
      }
    })
  )
  .annotate({ identifier: "ToolsetPatch" })
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
  transport: Schema.optionalKey(Transport),
  lease: Schema.optionalKey(Leasing),
  timeoutMs: Schema.optionalKey(Schema.Int),
  toolTimeouts: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int))
})
export type ToolsetContent = typeof ToolsetContent.Type

/** How a server wants its tool to be called, where that is not an ordinary call. */
const ToolExecution = Schema.Struct({
  taskSupport: described(
    Schema.Literal("required"),
    "The tool can only be run as a task of the protocol: Troupe runs it so, and cancels the task where its turn " +
      "is cancelled."
  )
}).annotate({ identifier: "ToolExecution" })

/** A tool as its maker says it: a client's, or a server's as it was listed. */
export const ToolContent = Schema.Struct({
  name: described(Schema.String, says.tool.name),
  description: described(Schema.optionalKey(Schema.String), says.tool.description),
  inputSchema: described(Schema.Unknown, says.tool.inputSchema),
  outputSchema: described(Schema.optionalKey(Schema.Unknown), says.tool.outputSchema),
  annotations: described(Schema.optionalKey(ToolAnnotations), says.tool.annotations),
  execution: described(Schema.optionalKey(ToolExecution), says.tool.execution),
  timeoutMs: described(Schema.optionalKey(Schema.Int), says.tool.timeoutMs)
}).annotate({ identifier: "ToolContent" })
export type ToolContent = typeof ToolContent.Type

/** `pending`: not asked yet. A client toolset is always ready. */
export const ToolsetStatus = Schema.Literals(["ready", "unreachable", "unauthorized", "pending"])
export type ToolsetStatus = typeof ToolsetStatus.Type

/**
 * What the last probe found, or calls have shown since. `toolCount` is what the toolset offers: after include and
 * exclude.
 */
const probed = {
  status: described(
    ToolsetStatus,
    "How the server last answered; `pending` until it was asked. Of clients' tools always `ready`."
  ),
  statusReason: described(Schema.optionalKey(Schema.String), "The problem, in words for people."),
  toolCount: described(Schema.Int, "Number of tools that it offers, after `include` and `exclude`."),
  lastCheckedAt: described(Schema.optionalKey(Timestamp), "When the server was last asked.")
}

/**
 * `catalogVersion` is 0 until there is a catalogue. `url`, `transport`, `trusted`, `lease` and the times of calls are
 * of kind mcp.
 */
const shown = {
  id: described(Schema.String, "Id of the toolset, which profiles name."),
  namespace: described(Schema.String, says.namespace),
  kind: described(Schema.Literals(["mcp", "client"]), says.kind),
  description: described(Schema.optionalKey(Schema.String), says.description),
  url: described(Schema.optionalKey(Schema.String), says.url),
  transport: described(Schema.optionalKey(Transport), says.transport),
  connectionId: described(Schema.optionalKey(Schema.String), says.connectionId),
  trusted: described(Schema.optionalKey(Schema.Boolean), says.trusted),
  lease: described(Schema.optionalKey(Leasing), says.lease),
  timeoutMs: described(Schema.optionalKey(Schema.Int), says.timeoutMs),
  toolTimeouts: described(Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)), says.toolTimeouts),
  include: described(Schema.optionalKey(Schema.Array(Schema.String)), says.include),
  exclude: described(Schema.optionalKey(Schema.Array(Schema.String)), says.exclude),
  exposure: described(Exposure, says.exposure),
  ...probed,
  catalogVersion: described(
    Schema.Int,
    "Number of the catalogue: another one whenever the tools change, 0 until there is one."
  ),
  createdAt: described(Timestamp, "When the toolset was made."),
  updatedAt: described(Timestamp, "When a client last changed it.")
}

/** As a list shows it. */
export const ToolsetSummary = Schema.Struct(shown).annotate({ identifier: "ToolsetSummary" })
export type ToolsetSummary = typeof ToolsetSummary.Type

/** `tools` only of a client toolset: as they were written. */
export const Toolset = Schema.Struct({
  ...shown,
  tools: described(Schema.optionalKey(Schema.Array(ToolContent)), "Tools of kind `client`, as they were written.")
}).annotate({ identifier: "Toolset" })
export type Toolset = typeof Toolset.Type

/** A tool as it is offered: `timeoutMs` says how long its call, or the wait for its client, may take. */
export const OfferedTool = Schema.Struct({
  ...ToolContent.fields,
  timeoutMs: described(Schema.Int, "How long its call, or the wait for its client, may take, in milliseconds.")
}).annotate({ identifier: "OfferedTool" })
export type OfferedTool = typeof OfferedTool.Type
