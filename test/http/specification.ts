/**
 * The contract's endpoints and shapes, written down by hand: what the OpenAPI document is
 * held against. What is `[ext]` does not stand here; `later` marks what is not built yet.
 */

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query"
  readonly type: "string" | "integer"
  readonly required: boolean
  readonly rules?: Readonly<Record<string, unknown>>
}

export interface Operation {
  readonly method: "get" | "post" | "put" | "patch" | "delete"
  readonly path: string
  readonly parameters?: ReadonlyArray<Parameter>
  /** Exactly these, where the contract lists schemes. */
  readonly schemes?: ReadonlyArray<"APIKeyBearer" | "AgentLeaseBearer">
  /** At least these. */
  readonly statuses?: ReadonlyArray<number>
  /** Schema of the 2xx body: a component's name, or an array of one. */
  readonly answer?: string | { readonly arrayOf: string } | { readonly field: string; readonly of: string }
  /** The operation wrapper is a documented alternative. */
  readonly wrapper?: true
  /** Required fields of the body. */
  readonly body?: ReadonlyArray<string>
  /** Optional fields of the body. */
  readonly mayHave?: ReadonlyArray<string>
  readonly stream?: true
  readonly later?: true
}

const path = (name: string): Parameter => ({ name, in: "path", type: "string", required: true })
const query = (name: string, type: "string" | "integer", rules?: Readonly<Record<string, unknown>>): Parameter => ({
  name,
  in: "query",
  type,
  required: false,
  ...(rules === undefined ? {} : { rules })
})
const both = ["APIKeyBearer", "AgentLeaseBearer"] as const
const limit = (maximum: number) => query("limit", "integer", { minimum: 1, maximum })

export const operations: ReadonlyArray<Operation> = [
  {
    method: "get",
    path: "/v1/threads/{threadId}/events",
    schemes: ["APIKeyBearer"],
    statuses: [200, 400, 404, 503],
    answer: "EventPage",
    parameters: [
      path("threadId"),
      query("turnId", "string", { minLength: 1 }),
      query("afterSeq", "integer", { format: "int64", minimum: 0 }),
      limit(200),
      query("cursor", "string"),
      query("order", "string", { enum: ["asc", "desc"] })
    ]
  },
  {
    method: "patch",
    path: "/v1/threads/{threadId}/queue/{inputId}",
    parameters: [path("threadId"), path("inputId")],
    body: ["content"],
    answer: "QueuedMessage"
  },
  {
    method: "post",
    path: "/v1/identities/disable",
    schemes: both,
    body: ["identity"],
    answer: "OperationHandle",
    wrapper: true
  },
  {
    method: "post",
    path: "/v1/identities/enable",
    schemes: both,
    body: ["identity"],
    answer: "OperationHandle",
    wrapper: true
  },
  {
    method: "get",
    path: "/v1/subscriptions/{subscriptionId}",
    schemes: both,
    parameters: [path("subscriptionId")],
    answer: "Subscription",
    wrapper: true
  },
  {
    method: "delete",
    path: "/v1/agents/{agentId}/memory/entry",
    schemes: both,
    answer: "OperationHandle",
    wrapper: true,
    parameters: [path("agentId"), query("key", "string"), query("expectedVersion", "string")]
  },
  {
    method: "get",
    path: "/v1/threads/{threadId}",
    schemes: both,
    parameters: [path("threadId")],
    answer: "ThreadDetail",
    wrapper: true
  },
  {
    method: "get",
    path: "/v1/agents/{agentId}",
    schemes: both,
    parameters: [path("agentId")],
    wrapper: true,
    answer: { field: "agent", of: "Agent" }
  },
  // Endpoints named with limited detail
  {
    method: "get",
    path: "/v1/threads",
    parameters: [query("state", "string", { enum: ["waiting"] }), limit(200), query("cursor", "string")]
  },
  {
    method: "post",
    path: "/v1/threads/{threadId}/messages",
    parameters: [path("threadId")],
    body: ["content"],
    mayHave: ["mode", "model"]
  },
  {
    method: "get",
    path: "/v1/threads/{threadId}/queue",
    parameters: [path("threadId")],
    answer: { arrayOf: "QueuedMessage" }
  },
  { method: "post", path: "/v1/agents/{agentId}/images", parameters: [path("agentId")] },
  { method: "get", path: "/v1/threads/{threadId}/events/stream", parameters: [path("threadId")], stream: true },
  { method: "get", path: "/v1/agents/{agentId}/events/stream", parameters: [path("agentId")], stream: true },
  { method: "get", path: "/v1/events/stream", stream: true },
  {
    method: "get",
    path: "/v1/agents/{agentId}/schedules",
    parameters: [path("agentId"), limit(100), query("cursor", "string")]
  },
  { method: "get", path: "/v1/feeds", parameters: [limit(200), query("cursor", "string")] },
  {
    method: "get",
    path: "/v1/feeds/{feedId}/messages",
    parameters: [path("feedId"), query("startSeq", "integer"), query("endSeq", "integer"), limit(200)]
  }
]

/** A type is a JSON type, a format, a component, or MessageContent. */
export interface Shape {
  readonly required: Readonly<Record<string, string>>
  readonly optional: Readonly<Record<string, string>>
  /** Which fields are required is left to the document. */
  readonly anyRequired?: true
  /** No additional properties. */
  readonly closed?: true
}

export const shapes: Readonly<Record<string, Shape>> = {
  ErrorResponse: {
    required: { error: "string", message: "string" },
    optional: { code: "string", attemptsRemaining: "integer", retryAfterSeconds: "integer" }
  },
  EventPage: { required: { events: "array of ThreadEvent" }, optional: { nextCursor: "string" } },
  ThreadEvent: {
    required: {
      seq: "int64",
      eventId: "string",
      threadId: "string",
      turnId: "string",
      type: "string",
      occurredAt: "date-time"
    },
    optional: {
      content: "MessageContent",
      principal: "Principal",
      submitMode: "string",
      inReplyToSeq: "int64",
      modelId: "string",
      toolName: "string",
      toolInput: "any",
      toolCallId: "string",
      providerToolCallId: "string",
      toolOutput: "any",
      toolsetId: "string",
      reveal: "ToolReveal",
      waitId: "string",
      waitResult: "any",
      hook: "HookDecisionEvent",
      compaction: "CompactionEvent",
      usage: "ModelUsage",
      timing: "Timing",
      failureCode: "string",
      failureText: "string",
      failureDetails: "ModelImageFormatUnsupportedDetails"
    }
  },
  ModelImageFormatUnsupportedDetails: {
    required: { targetId: "string", formats: "array of string" },
    optional: {},
    closed: true
  },
  HookDecisionEvent: {
    required: {
      hookId: "string",
      index: "integer",
      point: "string",
      processor: "string",
      decision: "string",
      latencyMs: "int64"
    },
    optional: { deliveryId: "string", reason: "string", rewrote: "boolean" }
  },
  CompactionEvent: { required: { throughSeq: "int64", attempt: "string" }, optional: { preview: "string" } },
  ToolReveal: { required: {}, optional: { families: "array of string", tools: "array of RevealedTool" } },
  RevealedTool: {
    required: { toolsetId: "string", namespace: "string", name: "string" },
    optional: { def: "RevealedModelTool" }
  },
  RevealedModelTool: { required: { name: "string", schema: "any" }, optional: { description: "string" } },
  Timing: { required: { durationMs: "int64" }, optional: { firstTextMs: "int64" } },
  ModelUsage: {
    required: { inputTokens: "integer", outputTokens: "integer", totalTokens: "integer" },
    optional: {
      cacheReadTokens: "integer",
      cacheWriteTokens: "integer",
      reasoningTokens: "integer",
      estimatedCost: "double"
    }
  },
  Principal: { required: { type: "string", id: "string" }, optional: { identity: "string", origin: "Origin" } },
  Origin: {
    required: { provider: "string", tenantId: "string", senderId: "string" },
    optional: { channelId: "string", messageId: "string", threadId: "string" },
    closed: true
  },
  TextBlock: { required: { type: "string", text: "string" }, optional: {}, closed: true },
  ImageBlock: { required: { type: "string", imageId: "string" }, optional: {}, closed: true },
  QueuedMessage: {
    required: {},
    anyRequired: true,
    optional: {
      content: "MessageContent",
      id: "string",
      queuedAt: "date-time",
      submitMode: "string",
      turnId: "string",
      principal: "Principal"
    }
  },
  OperationHandle: { required: { operation: "Operation" }, optional: {} },
  Operation: {
    required: {},
    anyRequired: true,
    optional: {
      action: "string",
      agentId: "string",
      createdAt: "date-time",
      expiresAt: "date-time",
      id: "string",
      state: "string",
      resolvedAt: "date-time",
      resolvedBy: "Principal",
      result: "OperationResult"
    }
  },
  OperationResult: { required: {}, anyRequired: true, optional: { status: "integer", body: "any" } },
  ThreadDetail: {
    required: {},
    anyRequired: true,
    optional: {
      lastSeq: "integer",
      model: "string",
      status: "string",
      updatedAt: "date-time",
      thread: "Thread",
      budgetSpend: "BudgetSpend",
      inFlightWaitIds: "array of string",
      pendingWaits: "array of PendingWait",
      queued: "array of QueuedMessage",
      usage: "ModelUsage"
    }
  },
  Thread: {
    required: {},
    anyRequired: true,
    optional: {
      id: "string",
      agentId: "string",
      workspaceId: "string",
      createdAt: "date-time",
      updatedAt: "date-time",
      createdBy: "Principal",
      updatedBy: "Principal",
      identity: "string",
      maxCost: "number"
    }
  },
  BudgetSpend: {
    required: {},
    anyRequired: true,
    optional: { generatedAt: "date-time", spent: "number", window: "string" }
  },
  PendingWait: {
    required: {},
    anyRequired: true,
    optional: {
      id: "string",
      turnId: "string",
      target: "string",
      expiresAt: "date-time",
      hookId: "string",
      point: "string",
      processor: "string",
      reason: "string",
      toolCallId: "string",
      toolInput: "any",
      toolName: "string",
      toolsetId: "string"
    }
  },
  Agent: {
    required: {},
    anyRequired: true,
    optional: {
      id: "string",
      workspaceId: "string",
      profileId: "string",
      createdAt: "date-time",
      tags: "array of string",
      avatar: "string",
      description: "string",
      identity: "string",
      name: "string",
      budget: "Budget"
    }
  },
  Budget: { required: {}, anyRequired: true, optional: { limit: "number", window: "string" } }
}

/** What each type of event carries, beside what all have. */
export const events: Readonly<Record<string, ReadonlyArray<string>>> = {
  user_message: ["content", "principal", "submitMode"],
  assistant_message: ["content", "modelId", "inReplyToSeq"],
  tool_intent: ["toolName", "toolInput", "toolCallId", "providerToolCallId", "modelId"],
  tool_result: ["toolOutput", "toolCallId", "reveal", "usage", "timing", "failureCode", "failureText"],
  wait_created: ["waitId", "toolCallId", "toolName", "toolsetId", "usage"],
  wait_resolved: ["waitId", "waitResult", "toolCallId", "toolsetId"],
  hook_decision: ["hook", "toolCallId", "waitId"],
  turn_completed: ["usage", "principal"],
  turn_cancelled: ["usage", "principal"],
  turn_failed: ["failureCode", "failureText", "failureDetails", "usage"],
  compacting: ["compaction", "modelId"],
  compacted: ["compaction", "modelId", "usage", "timing", "failureCode", "failureText"]
}

/** Values of enumerations, by component and field; `[]` are those of a list's items. */
export const enumerations: Readonly<Record<string, ReadonlyArray<string>>> = {
  "ThreadEvent.type": [
    "user_message",
    "assistant_message",
    "tool_intent",
    "tool_result",
    "wait_created",
    "wait_resolved",
    "hook_decision",
    "turn_completed",
    "turn_cancelled",
    "turn_failed",
    "compacting",
    "compacted"
  ],
  "ThreadEvent.submitMode": ["queue", "steer", "interrupt"],
  "QueuedMessage.submitMode": ["queue", "steer", "interrupt"],
  "MessageInput.mode": ["queue", "steer", "interrupt"],
  "ThreadDetail.status": ["running", "awaiting", "idle", "failed", "cancelled"],
  "Principal.type": ["user", "api_key", "agent", "schedule", "trigger", "subscription"],
  "HookDecisionEvent.point": ["before_turn_start", "before_tool_call", "after_tool_result", "after_model_response"],
  "HookDecisionEvent.processor": ["url", "agent", "client"],
  "HookDecisionEvent.decision": ["allow", "deny", "ask", "defer"],
  "PendingWait.point": ["before_turn_start", "before_tool_call", "after_tool_result", "after_model_response"],
  "PendingWait.processor": ["url", "agent", "client"],
  "ModelImageFormatUnsupportedDetails.formats[]": ["jpeg", "png", "gif", "webp"],
  "ToolReveal.families[]": [
    "agents",
    "connections",
    "thread",
    "memory",
    "artifacts",
    "sites",
    "web",
    "schedules",
    "feeds",
    "subscriptions",
    "sandbox"
  ],
  "TextBlock.type": ["text"],
  "ImageBlock.type": ["image"],
  "Budget.window": ["24h", "7d", "total"]
}

/** Fields of which one value is held: it is there, beside others. */
export const shown: Readonly<Record<string, string>> = {
  "Operation.state": "pending",
  "PendingWait.target": "url",
  "BudgetSpend.window": "24h"
}

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
