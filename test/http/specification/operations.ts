/**
 * The contract's endpoints, written down by hand: what the OpenAPI document is held against. What is `[ext]` does not
 * stand here; `later` marks what is not built yet.
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
