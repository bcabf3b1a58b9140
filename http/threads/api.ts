/**
 * Threads: create, list, get, patch, cancel, retry (contract C14.13 to C14.18); their turns, archive, delete, compact
 * (C35.3 to C35.6).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { limits } from "../../src/domain/limits.ts"
import { Identity } from "../../src/domain/identity.ts"
import { Cancellation, SubmittedMessage } from "../../src/threads/messageInput.ts"
import { NextCursor } from "../../src/domain/nextCursor.ts"
import { PendingWait, Thread, ThreadDetail, ThreadStatus, threadStatuses } from "../../src/domain/thread.ts"
import { ThreadInput, ThreadPatch } from "../../src/threads/threadInput.ts"
import { TurnPage } from "../../src/threads/turn.ts"
import { Timestamp } from "../../src/domain/time.ts"
import { ModelUsage } from "../../src/domain/usage.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { IfMatch } from "../etag.ts"
import { flag } from "../parameters.ts"
import { CursorParam, limitOf } from "../pagination.ts"
import { AgentId, ThreadId } from "../../src/domain/resourceIds.ts"

/** Thread detail of a thread that was just made, with the answer to its first message, if one was given. */
export const ThreadCreated = Schema.Struct({
  ...ThreadDetail.fields,
  input: described(Schema.optionalKey(SubmittedMessage), "Answer to the first message, if one was given.")
}).annotate({ identifier: "ThreadCreated" })

export const ThreadSummary = Schema.Struct({
  thread: described(Thread, "The thread itself."),
  status: described(ThreadStatus, "Status of the thread: whether a turn runs or is parked, or how the last one ended."),
  lastSeq: described(Schema.Int, "Seq of the newest event of the log; 0 before the first."),
  updatedAt: described(Timestamp, "When the thread last did anything."),
  model: described(
    Schema.optionalKey(Schema.String),
    "Model selected by the latest admitted turn, including queued work."
  ),
  usage: described(ModelUsage, "Tokens that its turns have used, and what they cost. [ext]"),
  pendingWaits: described(Schema.Array(PendingWait), "Open waits that the turn is parked on.")
}).annotate({ identifier: "ThreadSummary" })
export type ThreadSummary = typeof ThreadSummary.Type

export const ThreadPage = Schema.Struct({
  threads: described(Schema.Array(ThreadSummary), "Threads of this page, newest change first."),
  nextCursor: NextCursor
}).annotate({ identifier: "ThreadPage" })

/** Words of refusal beside the common ones: the endpoints declare them, and the handlers are held to them. */
export const createWords = [
  "quota_exceeded",
  "agent_not_found",
  "agent_archived",
  "profile_not_found",
  "model_unavailable",
  "model_not_priced",
  "budget_exceeded",
  "thread_cost_exceeded",
  "image_not_found",
  "origin_not_allowed"
] as const
export const cancelWords = ["turn_conflict"] as const
export const compactWords = ["nothing_to_compact", "thread_archived"] as const
export const archiveWords = ["turn_conflict"] as const
export const deleteWords = ["turn_conflict"] as const
export const retryWords = [
  "nothing_to_retry",
  "thread_archived",
  "agent_archived",
  "profile_not_found",
  "model_unavailable",
  "model_not_priced",
  "budget_exceeded",
  "thread_cost_exceeded",
  "queue_full"
] as const

export const ThreadsApi = HttpApiGroup.make("threads")
  .add(
    HttpApiEndpoint.post("create", "/threads", {
      payload: ThreadInput,
      success: ThreadCreated.pipe(HttpApiSchema.status(201)),
      error: refuses(...createWords)
    })
      .annotateMerge(access("run", { trigger: true, stores: "events" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a thread",
          description:
            "Creates a thread of an agent, and starts it when a `message` is given: `input` is then the answer " +
            "to that message."
        })
      ),
    HttpApiEndpoint.get("list", "/threads", {
      query: {
        state: described(Schema.optional(Schema.Literal("waiting")), "Only threads that wait on a person or a client."),
        status: described(
          Schema.optional(Schema.Literals(threadStatuses)),
          `Only threads of this status: of a page ${limits.threadsLookedAt} threads are looked at, so that it may ` +
            "hold fewer than `limit`, and go on nevertheless. Not beside `state`."
        ),
        agentId: described(Schema.optional(AgentId), "Only threads of this agent."),
        identity: described(Schema.optional(Identity), "Only threads that work for this identity."),
        includeArchived: described(Schema.optional(flag), "Also archived threads. False when absent."),
        limit: limitOf("threads"),
        cursor: CursorParam
      },
      success: ThreadPage
    })
      .annotateMerge(access("read", { trigger: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List threads",
          description: "Newest change first. `state=waiting` lists threads that wait on a person or a client."
        })
      ),
    HttpApiEndpoint.get("get", "/threads/:threadId", {
      params: { threadId: ThreadId },
      success: ThreadDetail,
      error: refuses("queue_full")
    })
      .annotateMerge(access("read", { lease: true, trigger: true, parks: true }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a thread",
          description:
            "Where the thread stands: status, queue, open waits, usage and what its agent has spent. The ETag " +
            "stands for title, metadata and maxCost."
        })
      ),
    HttpApiEndpoint.get("turns", "/threads/:threadId/turns", {
      params: { threadId: ThreadId },
      query: {
        order: described(Schema.optional(Schema.Literals(["asc", "desc"])), "Newest first unless `asc`."),
        limit: limitOf("turns"),
        cursor: CursorParam
      },
      success: TurnPage
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List a thread's turns",
          description:
            "Each turn with how it ended, what it used, and how many responses, calls and waits it had. The turn " +
            "that goes on has no outcome. A page may hold fewer than `limit`, and go on nevertheless."
        })
      ),
    HttpApiEndpoint.patch("update", "/threads/:threadId", {
      params: { threadId: ThreadId },
      headers: IfMatch,
      payload: ThreadPatch,
      success: ThreadDetail,
      error: refuses("precondition_failed")
    })
      .annotateMerge(access("run"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Change a thread's title, metadata or maxCost",
          description: "JSON Merge Patch: absent keeps, null clears."
        })
      ),
    HttpApiEndpoint.post("cancel", "/threads/:threadId/cancel", {
      params: { threadId: ThreadId },
      payload: Cancellation,
      success: ThreadDetail,
      error: refuses(...cancelWords)
    })
      .annotateMerge(access("run"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Cancel the running turn",
          description: "Queued inputs still run, unless `clearQueue`. At rest it changes nothing."
        })
      ),
    HttpApiEndpoint.post("compact", "/threads/:threadId/compact", {
      params: { threadId: ThreadId },
      success: ThreadDetail,
      error: refuses(...compactWords)
    })
      .annotateMerge(access("run"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Summarise before the next model call",
          description:
            "The next model call of the thread comes after a summary of its older turns, however short the " +
            "conversation is and whatever its profile says."
        })
      ),
    HttpApiEndpoint.post("archive", "/threads/:threadId/archive", {
      params: { threadId: ThreadId },
      success: ThreadDetail,
      error: refuses(...archiveWords)
    })
      .annotateMerge(access("run"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Archive a thread",
          description:
            "The thread takes no input any more, and lists leave it out; reads go on. Only at rest with an empty " +
            "queue. There is no way back."
        })
      ),
    HttpApiEndpoint.delete("delete", "/threads/:threadId", {
      params: { threadId: ThreadId },
      success: HttpApiSchema.NoContent,
      error: refuses(...deleteWords)
    })
      .annotateMerge(access("admin"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Delete an archived thread",
          description:
            "The thread is gone at once; its log, inputs and waits are cleared away after that. It cannot be undone."
        })
      ),
    HttpApiEndpoint.post("retry", "/threads/:threadId/retry", {
      params: { threadId: ThreadId },
      success: SubmittedMessage.pipe(HttpApiSchema.status(201)),
      error: refuses(...retryWords)
    })
      .annotateMerge(access("run", { stores: "events" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Retry the last failed or cancelled turn",
          description:
            "A new input and turn with the content of that turn's first message; the prompt leaves the retried " +
            "turn out."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Running agent threads." }))
