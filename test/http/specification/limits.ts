/** The contract's limits and rules, written down by hand: what the OpenAPI document has to say of each. */

/** One limit or rule of the contract, and what the document has to say of it. */
export interface Limit {
  readonly row: string
  /** A component, with its fields and `[]` for a list's items; an operation; a parameter of one. */
  readonly at: string
  /** Keywords of JSON Schema. */
  readonly says?: Readonly<Record<string, unknown>>
  /** What only words can say. */
  readonly tells?: string
}

const KiB = 1024

export const limits: ReadonlyArray<Limit> = [
  // Scalar types, MessageContent and the tables of fields
  {
    row: "ImageID: exactly 68 characters, matching ^img_[0-9a-f]{64}$",
    at: "ImageBlock.imageId",
    says: { pattern: "^img_[0-9a-f]{64}$" }
  },
  { row: "text: a non-whitespace character", at: "TextBlock.text", says: { pattern: "\\S" } },
  {
    row: "targetId: a non-whitespace character",
    at: "ModelImageFormatUnsupportedDetails.targetId",
    says: { pattern: "\\S" }
  },
  {
    row: "formats: 1 to 4 items, unique, sorted",
    at: "ModelImageFormatUnsupportedDetails.formats",
    says: { minItems: 1, maxItems: 4, uniqueItems: true },
    tells: "Sorted"
  },
  { row: "durationMs: minimum 0", at: "Timing.durationMs", says: { minimum: 0 } },
  { row: "firstTextMs: minimum 0", at: "Timing.firstTextMs", says: { minimum: 0 } },
  // Identity and agents
  ...[
    "IdentityChoice.identity",
    "ThreadInput.identity",
    "AgentInput.identity",
    "ApiKeyInput.identity",
    "Principal.identity",
    "GET /v1/threads identity"
  ].flatMap(
    (at): ReadonlyArray<Limit> => [
      { row: "Identity value: 512 UTF-8 bytes", at, tells: "At most 512 bytes" },
      {
        row: "Identity value: no control characters",
        at,
        says: {
          pattern: "^\\s*[^\\s\\x00-\\x1f\\x7f-\\x9f](?:[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f])?\\s*$"
        }
      }
    ]
  ),
  { row: "Tags per agent: 32", at: "AgentInput.tags", says: { maxItems: 32 } },
  { row: "Tags per agent: 32", at: "Agent.tags", says: { maxItems: 32 } },
  // Profiles, roles and hooks
  { row: "Model selectors per profile: 1 to 8", at: "ProfileInput.models", says: { minItems: 1, maxItems: 8 } },
  { row: "Model selector length: 512 characters", at: "ProfileInput.models[]", says: { maxLength: 512 } },
  { row: "System prompt: 4096 bytes", at: "ProfileInput.systemPrompt", says: { maxLength: 4096 }, tells: "4096 bytes" },
  { row: "Hooks per profile: 16", at: "ProfileInput.hooks", says: { maxItems: 16 } },
  { row: "Roles per profile: 8", at: "ProfileInput.roleIds", says: { maxItems: 8 } },
  { row: "Roles per workspace: 64", at: "POST /v1/roles", tells: "At most 64 a workspace" },
  { row: "allow entries per role: 32", at: "RoleInput.allow", says: { maxItems: 32 } },
  { row: "deny entries per role: 32", at: "RoleInput.deny", says: { maxItems: 32 } },
  { row: "Conditions per grant: 8", at: "RoleInput.allow[].conditions", says: { maxItems: 8 } },
  { row: "Conditions per hook match: 8", at: "HookInput.match.conditions", says: { maxItems: 8 } },
  { row: "Condition value: 512 bytes", at: "RoleInput.allow[].conditions[].value", tells: "At most 512 bytes" },
  {
    row: "Tool selector length: 176 bytes",
    at: "RoleInput.allow[].tools",
    says: { maxLength: 176 },
    tells: "176 bytes"
  },
  // Messages
  {
    row: "Content blocks per message: 40 (at least 1)",
    at: "MessageInput.content",
    says: { minItems: 1, maxItems: 40 }
  },
  {
    row: "Content blocks per message: 40 (at least 1)",
    at: "QueuedMessage.content",
    says: { minItems: 1, maxItems: 40 }
  },
  {
    row: "Image blocks per message: 20, unique IDs",
    at: "MessageInput.content",
    tells: "20 image blocks, with different ids"
  },
  { row: "Encoded message JSON: 512 KiB", at: "MessageInput.content", tells: `${512 * KiB} of encoded JSON` },
  { row: "Text per user message: 8 KiB", at: "MessageInput.content", tells: `${8 * KiB} bytes of text` },
  { row: "failureDetails encoded: 4 KiB", at: "ModelImageFormatUnsupportedDetails", tells: `${4 * KiB} bytes of JSON` },
  ...["tenantId", "senderId", "channelId", "messageId", "threadId"].map(
    (field): Limit => ({
      row: "Origin string fields: 512 UTF-8 bytes each",
      at: `Origin.${field}`,
      says: { maxLength: 512 },
      tells: "512 bytes"
    })
  ),
  { row: "ToolReveal: 16 families", at: "ToolReveal.families", says: { maxItems: 16 } },
  { row: "ToolReveal: 10 tools", at: "ToolReveal.tools", says: { maxItems: 10 } },
  // Toolsets
  {
    row: "Namespace: up to 32 characters of [a-z0-9_-], starting with a letter or digit",
    at: "McpToolsetInput.namespace",
    says: { pattern: "^[a-z0-9][a-z0-9_-]{0,31}$" }
  },
  {
    row: "Toolset URL: 2048 bytes, HTTPS, no query or fragment",
    at: "McpToolsetInput.url",
    says: { maxLength: 2048, format: "uri" }
  },
  {
    row: "Client tool input schema: 16 KiB",
    at: "ClientToolsetInput.tools[].inputSchema",
    says: { type: "object" },
    tells: `${16 * KiB} bytes`
  },
  {
    row: "Client tool output schema: 16 KiB",
    at: "ClientToolsetInput.tools[].outputSchema",
    says: { type: "object" },
    tells: `${16 * KiB} bytes`
  },
  {
    row: "Client tool timeoutMs: 10 seconds to 24 hours, or 0",
    at: "ClientToolsetInput.tools[].timeoutMs",
    says: { minimum: 0, maximum: 86_400_000 },
    tells: "10000"
  },
  // Schedules and hook timing
  { row: "Hook asyncTimeoutMs: at most 24 hours", at: "HookInput.asyncTimeoutMs", says: { maximum: 86_400_000 } },
  {
    row: "Hook timeoutMs: 30 seconds for url, 5 minutes for agent",
    at: "HookInput.timeoutMs",
    says: { maximum: 300_000 },
    tells: "30000 for url"
  }
]

/** Times that clients send: "ISO 8601 date-time strings". */
export const times = ["ApiKeyInput.expiresAt", "GET /v1/hooks/decisions from", "GET /v1/hooks/decisions to"]
