/** A thread's pending inputs (contract C15.11 to C15.16). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { described } from "../../src/domain/described.ts"
import { idOf } from "../../src/domain/ids.ts"
import { InputRecord, MessageEdit, Promotion, SubmittedMessage } from "../../src/threads/messageInput.ts"
import { QueuedMessage } from "../../src/domain/thread.ts"
import { access } from "../access.ts"
import { refuses } from "../errors.ts"
import { ThreadId } from "../../src/domain/resourceIds.ts"

const input = { threadId: ThreadId, inputId: described(idOf("input"), "Id of the input, as its submit was answered.") }

/** Words of refusal beside the common ones: the endpoints declare them, and the handlers are held to them. */
export const editWords = ["input_not_pending", "image_not_found"] as const
export const removeWords = ["input_not_pending"] as const
export const promoteWords = ["model_not_allowed_with_steer", "turn_conflict", "input_not_pending"] as const

export const QueueApi = HttpApiGroup.make("queue")
  .add(
    HttpApiEndpoint.get("list", "/threads/:threadId/queue", {
      params: { threadId: ThreadId },
      success: Schema.Array(QueuedMessage)
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the queue",
          description: "Every pending input, in the order in which they would run."
        })
      ),
    HttpApiEndpoint.get("get", "/threads/:threadId/queue/:inputId", {
      params: input,
      success: InputRecord
    })
      .annotateMerge(access("read"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get an input",
          description: "Also after it has left the queue: `state` says what became of it."
        })
      ),
    HttpApiEndpoint.patch("edit", "/threads/:threadId/queue/:inputId", {
      params: input,
      payload: MessageEdit,
      success: QueuedMessage,
      error: refuses(...editWords)
    })
      .annotateMerge(access("run", { stores: "events" }))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Edit a pending input",
          description:
            "The new content replaces the whole message, and its editor is its principal from then on. " +
            "The input keeps its place, its mode and its turn."
        })
      ),
    HttpApiEndpoint.delete("remove", "/threads/:threadId/queue/:inputId", {
      params: input,
      success: HttpApiSchema.NoContent,
      error: refuses(...removeWords)
    })
      .annotateMerge(access("run"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Remove a pending input",
          description: "Removing an input again changes nothing."
        })
      ),
    HttpApiEndpoint.post("promote", "/threads/:threadId/queue/:inputId/promote", {
      params: input,
      payload: Promotion,
      success: SubmittedMessage,
      error: refuses(...promoteWords)
    })
      .annotateMerge(access("run"))
      .annotateMerge(
        OpenApi.annotations({
          summary: "Promote a pending input",
          description: "Makes a queued input a steer or an interrupt."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ description: "The pending inputs of a thread: read, edit, remove, promote." }))
