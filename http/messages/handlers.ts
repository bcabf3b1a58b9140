/** Submitting a message: the hot route, from the body's text to the actor and back without a detour. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Threads } from "../../actors/thread/Threads.ts"
import { MessageInput } from "../../src/threads/messageInput.ts"
import { flatMapNow } from "../../src/now.ts"
import { refuseWith } from "../actorErrors.ts"
import { Api } from "../Api.ts"
import { decodeJson } from "../Body.ts"
import { Idempotency, idempotent } from "../Idempotency.ts"
import { lean } from "../lean.ts"
import { threadCallerOf } from "../threads/threadCaller.ts"
import { makeImageChecks } from "../images/refusing.ts"
import { refuseOrigin } from "../threads/refusals.ts"
import { answerOfInput } from "../threads/answers.ts"
import { submitWords } from "./api.ts"

const decodeInput = decodeJson(MessageInput)
const refuseSubmit = refuseWith(...submitWords)

export const MessagesHandlers = Layer.unwrap(
  Effect.gen(function* () {
    const threads = yield* Threads
    const images = yield* makeImageChecks
    return lean(
      HttpApiBuilder.group(Api, "messages", (handlers) =>
        handlers.handleRaw("submit", ({ params: { threadId }, request }) =>
          flatMapNow(decodeInput(request), ({ mode = "queue", ...input }) => {
            return idempotent((key, caller) => {
              const refused = refuseOrigin(caller, input.origin)
              if (refused !== undefined) return Effect.fail(refused)
              const submitted = threads
                .submit(threadCallerOf(caller, key), threadId, { ...input, mode })
                .pipe(Effect.map(answerOfInput(threadId)), Effect.catch(refuseSubmit))
              const checked = images.ofThread(caller.workspace, threadId, input.content)
              return checked === undefined ? submitted : Effect.andThen(checked, submitted)
            })
          })
        )
      ),
      Idempotency
    )
  })
)
