/** What the API asks of a thread, each as a request to it. */
import { Effect } from "effect"
import { freshId } from "../../src/seed.ts"
import type { ActorError, Reply } from "../Actor.ts"
import { declinedFor } from "./replies/refusals.ts"
import type { Of, ThreadRequest } from "./requests.ts"
import { withOrigin } from "./sending.ts"
import type { ThreadCaller, Threads } from "./Threads.ts"

type Ask<Request> = (asked: ThreadCaller, threadId: string, request: Request) => Effect.Effect<Reply, ActorError>

interface AskingOptions {
  readonly ask: Ask<ThreadRequest>
  readonly sendOrPost: Ask<Of<"submit">>
}

type Asked = "submit" | "retry" | "edit" | "remove" | "promote" | "resolve" | "compact" | "archive" | "cancel"

export const makeAsking = ({ ask, sendOrPost }: AskingOptions): Pick<Threads["Service"], Asked> => ({
  submit: (asked, threadId, { content, expectedTurnId, mode, model, origin }) => {
    // The chart would say so as well; said here, it also holds for a submit that is posted.
    if (mode === "steer" && model !== undefined)
      return Effect.fail(declinedFor({ error: "model_not_allowed_with_steer" }))
    const request = {
      type: "submit" as const,
      fresh: true as const,
      input: {
        inputId: freshId("input"),
        content,
        mode,
        principal: withOrigin(asked.principal, origin),
        ...(model === undefined ? {} : { model })
      },
      ...(expectedTurnId === undefined ? {} : { expectedTurnId }),
      ...(model === undefined || asked.anyModel === true ? {} : { profileModels: true as const })
    }
    return sendOrPost(asked, threadId, request)
  },
  retry: (asked, threadId) =>
    ask(asked, threadId, {
      type: "retry",
      fresh: true,
      inputId: freshId("input"),
      principal: asked.principal,
      ...(asked.anyModel === true ? {} : { profileModels: true })
    }),
  edit: (asked, threadId, inputId, content) =>
    ask(asked, threadId, {
      type: "edit",
      inputId,
      content,
      principal: asked.principal,
      ...(asked.anyModel === true ? {} : { profileModels: true })
    }),
  remove: (asked, threadId, inputId) => ask(asked, threadId, { type: "remove", inputId }),
  promote: (asked, threadId, inputId, to) =>
    ask(asked, threadId, { type: "promote", inputId, principal: asked.principal, ...to }),
  resolve: (asked, threadId, waitId, answer) =>
    ask(asked, threadId, {
      type: "answer",
      waitId,
      principal: asked.principal,
      answer,
      ...(asked.from === undefined ? {} : { from: asked.from })
    }),
  compact: (asked, threadId) => ask(asked, threadId, { type: "compact" }),
  archive: (asked, threadId) => ask(asked, threadId, { type: "archive" }),
  cancel: (asked, threadId, { clearQueue, turnId }) =>
    ask(asked, threadId, {
      type: "cancel",
      principal: asked.principal,
      clearQueue,
      ...(turnId === undefined ? {} : { turnId })
    })
})
