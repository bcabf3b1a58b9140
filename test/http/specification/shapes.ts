/**
 * The contract's shapes, written down by hand: fields, types and values of enumerations, against which the OpenAPI
 * document is held. What is `[ext]` does not stand here.
 */

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
