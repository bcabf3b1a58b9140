/**
 * The specification's endpoint tables and shapes, written down by hand: what the OpenAPI document is
 * held against. Only what the specification shows stands here; `later` marks what is not built yet.
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
  /** Exactly these, where the specification lists schemes. */
  readonly schemes?: ReadonlyArray<"APIKeyBearer" | "AgentLeaseBearer">
  /** At least these. */
  readonly statuses?: ReadonlyArray<number>
  /** Schema of the 2xx body: a component's name, or an array of one. */
  readonly answer?: string | { readonly arrayOf: string } | { readonly field: string; readonly of: string }
  /** The operation wrapper is a documented alternative. */
  readonly wrapper?: true
  /** Required fields of the body. */
  readonly body?: ReadonlyArray<string>
  /** Optional fields of the body that the specification names. */
  readonly mayHave?: ReadonlyArray<string>
  readonly stream?: true
  readonly later?: true
}

const path = (name: string): Parameter => ({ name, in: "path", type: "string", required: true })
const query = (name: string, type: "string" | "integer", rules?: Readonly<Record<string, unknown>>): Parameter =>
  ({ name, in: "query", type, required: false, ...rules === undefined ? {} : { rules } })
const both = ["APIKeyBearer", "AgentLeaseBearer"] as const
const limit = (maximum: number) => query("limit", "integer", { minimum: 1, maximum })

export const operations: ReadonlyArray<Operation> = [
  {
    method: "get", path: "/v1/threads/{threadId}/events", schemes: ["APIKeyBearer"], statuses: [200, 400, 404, 503], answer: "EventPage",
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
    method: "patch", path: "/v1/threads/{threadId}/queue/{inputId}", parameters: [path("threadId"), path("inputId")],
    body: ["content"], answer: "QueuedMessage"
  },
  { method: "post", path: "/v1/identities/disable", schemes: both, body: ["identity"], answer: "OperationHandle", wrapper: true },
  { method: "post", path: "/v1/identities/enable", schemes: both, body: ["identity"], answer: "OperationHandle", wrapper: true },
  {
    method: "get", path: "/v1/subscriptions/{subscriptionId}", schemes: both, parameters: [path("subscriptionId")],
    answer: "Subscription", wrapper: true, later: true
  },
  {
    method: "delete", path: "/v1/agents/{agentId}/memory/entry", schemes: both, answer: "OperationHandle", wrapper: true, later: true,
    parameters: [path("agentId"), query("key", "string"), query("expectedVersion", "string")]
  },
  { method: "get", path: "/v1/threads/{threadId}", schemes: both, parameters: [path("threadId")], answer: "ThreadDetail", wrapper: true },
  {
    method: "get", path: "/v1/agents/{agentId}", schemes: both, parameters: [path("agentId")], wrapper: true,
    answer: { field: "agent", of: "Agent" }
  },
  // Endpoints named with limited detail
  { method: "get", path: "/v1/threads", parameters: [query("state", "string", { enum: ["waiting"] }), limit(200), query("cursor", "string")] },
  {
    method: "post", path: "/v1/threads/{threadId}/messages", parameters: [path("threadId")], body: ["content"], mayHave: ["mode", "model"]
  },
  { method: "get", path: "/v1/threads/{threadId}/queue", parameters: [path("threadId")], answer: { arrayOf: "QueuedMessage" } },
  { method: "post", path: "/v1/agents/{agentId}/images", parameters: [path("agentId")], later: true },
  { method: "get", path: "/v1/threads/{threadId}/events/stream", parameters: [path("threadId")], stream: true },
  { method: "get", path: "/v1/agents/{agentId}/events/stream", parameters: [path("agentId")], stream: true },
  { method: "get", path: "/v1/events/stream", stream: true },
  { method: "get", path: "/v1/agents/{agentId}/schedules", parameters: [path("agentId"), limit(100), query("cursor", "string")], later: true },
  { method: "get", path: "/v1/feeds", parameters: [limit(200), query("cursor", "string")], later: true },
  {
    method: "get", path: "/v1/feeds/{feedId}/messages", later: true,
    parameters: [path("feedId"), query("startSeq", "integer"), query("endSeq", "integer"), limit(200)]
  }
]

/** `name: type`, with `?` after the name of what is optional. A type is a JSON type, a format, or a component. */
export interface Shape {
  readonly required: Readonly<Record<string, string>>
  readonly optional: Readonly<Record<string, string>>
  /** The specification does not say which fields are required. */
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
    required: { seq: "integer", eventId: "string", threadId: "string", turnId: "string", type: "string", occurredAt: "date-time" },
    optional: {
      content: "array", principal: "Principal", submitMode: "string", inReplyToSeq: "integer", modelId: "string", toolName: "string",
      toolInput: "any", toolCallId: "string", providerToolCallId: "string", toolOutput: "any", toolsetId: "string", reveal: "ToolReveal",
      waitId: "string", waitResult: "any", hook: "HookDecisionEvent", compaction: "CompactionEvent", usage: "ModelUsage", timing: "Timing",
      failureCode: "string", failureText: "string", failureDetails: "ModelImageFormatUnsupportedDetails"
    }
  },
  ModelImageFormatUnsupportedDetails: { required: { targetId: "string", formats: "array" }, optional: {}, closed: true },
  HookDecisionEvent: {
    required: { hookId: "string", index: "integer", point: "string", processor: "string", decision: "string", latencyMs: "integer" },
    optional: { deliveryId: "string", reason: "string", rewrote: "boolean" }
  },
  CompactionEvent: { required: { throughSeq: "integer", attempt: "string" }, optional: { preview: "string" } },
  ToolReveal: { required: {}, optional: { families: "array", tools: "array of RevealedTool" } },
  RevealedTool: { required: { toolsetId: "string", namespace: "string", name: "string" }, optional: { def: "RevealedModelTool" } },
  RevealedModelTool: { required: { name: "string", schema: "any" }, optional: { description: "string" } },
  Timing: { required: { durationMs: "integer" }, optional: { firstTextMs: "integer" } },
  ModelUsage: {
    required: { inputTokens: "integer", outputTokens: "integer", totalTokens: "integer" },
    optional: { cacheReadTokens: "integer", cacheWriteTokens: "integer", reasoningTokens: "integer", estimatedCost: "number" }
  },
  Principal: { required: { type: "string", id: "string" }, optional: { identity: "string", origin: "Origin" } },
  Origin: {
    required: { provider: "string", tenantId: "string", senderId: "string" },
    optional: { channelId: "string", messageId: "string", threadId: "string" }, closed: true
  },
  TextBlock: { required: { type: "string", text: "string" }, optional: {}, closed: true },
  ImageBlock: { required: { type: "string", imageId: "string" }, optional: {}, closed: true },
  QueuedMessage: {
    required: {}, anyRequired: true,
    optional: { content: "array", id: "string", queuedAt: "date-time", submitMode: "string", turnId: "string", principal: "Principal" }
  },
  OperationHandle: { required: { operation: "Operation" }, optional: {} },
  Operation: {
    required: {}, anyRequired: true,
    optional: {
      action: "string", agentId: "string", createdAt: "date-time", expiresAt: "date-time", id: "string", state: "string",
      resolvedAt: "date-time", resolvedBy: "Principal", result: "object"
    }
  },
  ThreadDetail: {
    required: {}, anyRequired: true,
    optional: {
      lastSeq: "integer", model: "string", status: "string", updatedAt: "date-time", thread: "Thread", budgetSpend: "BudgetSpend",
      inFlightWaitIds: "array", pendingWaits: "array of PendingWait", queued: "array of QueuedMessage", usage: "ModelUsage"
    }
  },
  Thread: {
    required: {}, anyRequired: true,
    optional: {
      id: "string", agentId: "string", workspaceId: "string", createdAt: "date-time", updatedAt: "date-time", createdBy: "Principal",
      updatedBy: "Principal", identity: "string", maxCost: "number"
    }
  },
  BudgetSpend: { required: {}, anyRequired: true, optional: { generatedAt: "date-time", spent: "number", window: "string" } },
  PendingWait: {
    required: {}, anyRequired: true,
    optional: {
      id: "string", turnId: "string", target: "string", expiresAt: "date-time", hookId: "string", point: "string", processor: "string",
      reason: "string", toolCallId: "string", toolInput: "any", toolName: "string", toolsetId: "string"
    }
  },
  Agent: {
    required: {}, anyRequired: true,
    optional: {
      id: "string", workspaceId: "string", profileId: "string", createdAt: "date-time", tags: "array", avatar: "string",
      description: "string", identity: "string", name: "string", budget: "Budget"
    }
  },
  Budget: { required: {}, anyRequired: true, optional: { limit: "number", window: "string" } }
}

/** Values of enumerations, by component and field. */
export const enumerations: Readonly<Record<string, ReadonlyArray<string>>> = {
  "ThreadEvent.type": [
    "user_message", "assistant_message", "tool_intent", "tool_result", "wait_created", "wait_resolved", "hook_decision", "turn_completed",
    "turn_cancelled", "turn_failed", "compacting", "compacted"
  ],
  "ThreadEvent.submitMode": ["queue", "steer", "interrupt"],
  "ThreadDetail.status": ["running", "awaiting", "idle", "failed", "cancelled"],
  "Principal.type": ["user", "api_key", "agent", "schedule", "trigger", "subscription"],
  "HookDecisionEvent.point": ["before_turn_start", "before_tool_call", "after_tool_result", "after_model_response"],
  "HookDecisionEvent.processor": ["url", "agent", "client"],
  "HookDecisionEvent.decision": ["allow", "deny", "ask", "defer"],
  "Budget.window": ["24h", "7d", "total"]
}
