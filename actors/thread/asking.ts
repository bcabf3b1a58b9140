/** What the API asks of a thread, each as a request to it. */
import { Effect } from "effect"
import { freshId } from "../../src/seed.ts"
import type { ActorError, Reply } from "../Actor.ts"
import { declinedFor } from "./replies/refusals.ts"
import type { Of, ThreadRequest } from "./requests.ts"
import { withOrigin } from "./sending.ts"
import type { ThreadCaller, Threads } from "./Threads.ts"

type Ask<Request> = (caller: ThreadCaller, threadId: string, request: Request) => Effect.Effect<Reply, ActorError>

interface AskingOptions {
  readonly ask: Ask<ThreadRequest>
  readonly sendOrPost: Ask<Of<"submit">>
}

type AskingMethod = "submit" | "retry" | "edit" | "remove" | "promote" | "resolve" | "compact" | "archive" | "cancel"

export const makeAsking = ({ ask, sendOrPost }: AskingOptions): Pick<Threads["Service"], AskingMethod> => ({
  submit: (caller, threadId, { content, expectedTurnId, mode, model, origin }) => {
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
        principal: withOrigin(caller.principal, origin),
        ...(model === undefined ? {} : { model })
      },
      ...(expectedTurnId === undefined ? {} : { expectedTurnId }),
      ...(model === undefined || caller.anyModel === true ? {} : { profileModels: true as const })
    }
    return sendOrPost(caller, threadId, request)
  },
  retry: (caller, threadId) =>
    ask(caller, threadId, {
      type: "retry",
      fresh: true,
      inputId: freshId("input"),
      principal: caller.principal,
      ...(caller.anyModel === true ? {} : { profileModels: true })
    }),
  edit: (caller, threadId, inputId, content) =>
    ask(caller, threadId, {
      type: "edit",
      inputId,
      content,
      principal: caller.principal,
      ...(caller.anyModel === true ? {} : { profileModels: true })
    }),
  remove: (caller, threadId, inputId) => ask(caller, threadId, { type: "remove", inputId }),
  promote: (caller, threadId, inputId, to) =>
    ask(caller, threadId, { type: "promote", inputId, principal: caller.principal, ...to }),
  resolve: (caller, threadId, waitId, answer) =>
    ask(caller, threadId, {
      type: "answer",
      waitId,
      principal: caller.principal,
      answer,
      ...(caller.from === undefined ? {} : { from: caller.from })
    }),
  compact: (caller, threadId) => ask(caller, threadId, { type: "compact" }),
  archive: (caller, threadId) => ask(caller, threadId, { type: "archive" }),
  cancel: (caller, threadId, { clearQueue, turnId }) =>
    ask(caller, threadId, {
      type: "cancel",
      principal: caller.principal,
      clearQueue,
      ...(turnId === undefined ? {} : { turnId })
    })
})
