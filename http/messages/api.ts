/** Submitting a message to a thread (contract C15.3). */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { MessageInput, SubmittedMessage } from "../../src/threads/messageInput.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { ThreadId } from "../../src/domain/resourceIds.ts"

/** Words of refusal beside the common ones: the endpoints declare them, and the handlers are held to them. */
export const submitWords = [
  "model_not_allowed_with_steer",
  "origin_not_allowed",
  "turn_conflict",
  "thread_archived",
  "agent_archived",
  "profile_not_found",
  "image_not_found",
  "model_unavailable",
  "model_not_priced",
  "budget_exceeded",
  "thread_cost_exceeded",
  "queue_full"
] as const

export const MessagesApi = HttpApiGroup.make("messages")
  .add(
    HttpApiEndpoint.post("submit", "/threads/:threadId/messages", {
      params: { threadId: ThreadId },
      payload: MessageInput,
      success: SubmittedMessage.pipe(HttpApiSchema.status(201)),
      error: refuses(...submitWords)
    })
      .annotateMerge(access("run", { trigger: true, stores: "events" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Submit a message",
          description:
            "queue (the default) appends behind current work, steer redirects the turn in flight, interrupt " +
            "stops current work and goes first."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "Thread messages: what starts and steers the work of a thread." }))
