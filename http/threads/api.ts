/** Threads: create, list, get, patch, cancel, retry (specification, GET /v1/threads/{threadId}; design, section 2). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AgentId } from "../../src/domain/agent.ts"
import { Identity } from "../../src/domain/identity.ts"
import { idOf } from "../../src/domain/ids.ts"
import { Cancellation, SubmittedMessage } from "../../src/domain/messageInput.ts"
import { PendingWait, Thread, ThreadDetail, ThreadStatus } from "../../src/domain/thread.ts"
import { ThreadInput, ThreadPatch } from "../../src/domain/threadInput.ts"
import { Timestamp } from "../../src/domain/time.ts"
import { access } from "../Authenticate.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { CursorParam, limitOf } from "../pagination.ts"

export const ThreadId = idOf("thread")

/** Thread detail of a thread that was just made, with the answer to its first message, if one was given. */
export const ThreadCreated = Schema.Struct({
  ...ThreadDetail.fields,
  input: Schema.optionalKey(SubmittedMessage)
}).annotate({ identifier: "ThreadCreated" })

export const ThreadSummary = Schema.Struct({
  thread: Thread,
  status: ThreadStatus,
  lastSeq: Schema.Int,
  updatedAt: Timestamp,
  model: Schema.optionalKey(Schema.String),
  pendingWaits: Schema.Array(PendingWait)
}).annotate({ identifier: "ThreadSummary" })
export type ThreadSummary = typeof ThreadSummary.Type

export const ThreadPage = Schema.Struct({
  threads: Schema.Array(ThreadSummary),
  nextCursor: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ThreadPage" })

export const ThreadsApi = HttpApiGroup.make("threads").add(
  HttpApiEndpoint.post("create", "/threads", {
    payload: ThreadInput,
    success: ThreadCreated.pipe(HttpApiSchema.status(201)),
    error: refuses("quota_exceeded", "agent_not_found", "agent_archived", "profile_not_found", "model_unavailable", "image_not_found", "origin_not_allowed")
  }).annotateMerge(access("run", { stores: "events" })).annotateMerge(OpenApi.annotations({
    summary: "Create a thread",
    description: "Creates a thread of an agent, and starts it when a `message` is given: `input` is then the answer to that message."
  })),
  HttpApiEndpoint.get("list", "/threads", {
    query: {
      state: Schema.optional(Schema.Literal("waiting")),
      agentId: Schema.optional(AgentId),
      identity: Schema.optional(Identity),
      limit: limitOf("threads"),
      cursor: CursorParam
    },
    success: ThreadPage
  }).annotateMerge(access("read")).annotateMerge(OpenApi.annotations({
    summary: "List threads",
    description: "Newest change first. `state=waiting` lists those that wait on a person or a client."
  })),
  HttpApiEndpoint.get("get", "/threads/:threadId", {
    params: { threadId: ThreadId },
    success: ThreadDetail
  }).annotateMerge(access("read", { lease: true, parks: true })).annotateMerge(OpenApi.annotations({
    summary: "Get a thread",
    description: "Where the thread stands: status, queue, open waits, usage and what its agent has spent. The ETag stands for title, metadata and maxCost."
  })),
  HttpApiEndpoint.patch("update", "/threads/:threadId", {
    params: { threadId: ThreadId },
    headers: IfMatch,
    payload: ThreadPatch,
    success: ThreadDetail,
    error: refuses("precondition_failed")
  }).annotateMerge(access("run")).annotateMerge(OpenApi.annotations({
    summary: "Change a thread's title, metadata or maxCost",
    description: "JSON Merge Patch: absent keeps, null clears."
  })),
  HttpApiEndpoint.post("cancel", "/threads/:threadId/cancel", {
    params: { threadId: ThreadId },
    payload: Cancellation,
    success: ThreadDetail,
    error: refuses("turn_conflict")
  }).annotateMerge(access("run")).annotateMerge(OpenApi.annotations({
    summary: "Cancel the running turn",
    description: "Queued inputs still run, unless `clearQueue`. At rest it changes nothing."
  })),
  HttpApiEndpoint.post("retry", "/threads/:threadId/retry", {
    params: { threadId: ThreadId },
    success: SubmittedMessage.pipe(HttpApiSchema.status(201)),
    error: refuses("nothing_to_retry", "agent_archived", "profile_not_found", "model_unavailable", "queue_full")
  }).annotateMerge(access("run", { stores: "events" })).annotateMerge(OpenApi.annotations({
    summary: "Retry the last failed or cancelled turn",
    description: "A new input and turn with the content of that turn's first message; the prompt leaves the retried turn out."
  }))
).annotateMerge(OpenApi.annotations({ description: "Running agent threads." }))
