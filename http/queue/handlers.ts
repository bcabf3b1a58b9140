/** A thread's pending inputs: read from the store, changed by the thread. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { ActorError } from "../../actors/Actor.ts"
import { Threads } from "../../actors/thread/Threads.ts"
import type { InputRecord } from "../../src/threads/messageInput.ts"
import type { DatabaseUnavailable } from "../../src/database/Database.ts"
import { pendingState, queuedMessage, queueOf } from "../../src/threads/detail.ts"
import type { StoredInput } from "../../src/journal/Journal.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import { readAdmitted, readInput, threadRows, wasRemoved } from "../../src/threads/view.ts"
import { refuseWith } from "../actorErrors.ts"
import { json, jsonText, noContent } from "../answers.ts"
import { Api } from "../Api.ts"
import { Caller } from "../Caller.ts"
import { Refused } from "../errors.ts"
import { idempotent } from "../Idempotency.ts"
import { threadCallerOf } from "../threads/threadCaller.ts"
import { makeImageChecks } from "../images/refusing.ts"
import { noThread } from "../threads/refusals.ts"
import { answerOfInput } from "../threads/answers.ts"
import { editWords, removeWords, promoteWords } from "./api.ts"

const noInput = () => new Refused({ error: "not_found", message: "no such input in this thread" })

const refuseEdit = refuseWith(...editWords)
const refuseRemove = refuseWith(...removeWords)
const refusePromote = refuseWith(...promoteWords)

/** Why an input is not pending: an unknown one was never there, an admitted one names its turn. */
const gone = (stored: StoredInput | undefined) => {
  if (stored === undefined) return noInput()
  const message =
    stored.state === "admitted"
      ? `the input was admitted in turn ${stored.fact.turn}`
      : stored.state === "cancelled"
        ? "the input was cancelled"
        : "the input was not pending a moment ago"
  return new Refused({ error: "input_not_pending", message })
}

export const QueueHandlers = HttpApiBuilder.group(
  Api,
  "queue",
  Effect.fnUntraced(function* (handlers) {
    const threads = yield* Threads
    const reads = yield* ThreadReads
    const images = yield* makeImageChecks

    const find = (workspace: string, threadId: string) =>
      Effect.flatMap(reads.detail(workspace, threadId), (rows) =>
        rows === undefined ? noThread() : Effect.succeed(threadRows(workspace, rows, rows.inputs))
      )

    /** Names what became of an input when the thread says that it does not wait. */
    const explaining =
      <E, A = never>(
        refuse: (error: ActorError) => Effect.Effect<never, E>,
        workspace: string,
        threadId: string,
        inputId: string,
        explain: (stored: StoredInput | undefined) => Effect.Effect<A, ReturnType<typeof gone>> = (stored) =>
          Effect.fail(gone(stored))
      ) =>
      (error: ActorError): Effect.Effect<A, E | DatabaseUnavailable | ReturnType<typeof gone>> =>
        error._tag === "Refused" && error.reason === "input_not_pending"
          ? Effect.flatMap(reads.input(workspace, threadId, inputId), explain)
          : refuse(error)

    /** Removed before, it is as it was to be. */
    const unlessRemoved = (stored: StoredInput | undefined) =>
      stored?.state === "cancelled" && wasRemoved(stored.row) ? Effect.void : Effect.fail(gone(stored))

    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ params: { threadId } }) {
        const { workspace } = yield* Caller
        const { carry, pending } = yield* find(workspace, threadId)
        return json(queueOf(pending, carry.turn?.turnId))
      }),

      get: Effect.fnUntraced(function* ({ params: { inputId, threadId } }) {
        const { workspace } = yield* Caller
        const stored = yield* reads.input(workspace, threadId, inputId)
        if (stored === undefined) return yield* noInput()
        if (stored.state === "admitted") return json(readAdmitted(inputId, stored.fact))
        const input = readInput(stored.row)
        if (stored.state === "cancelled")
          return json({ ...queuedMessage(input, undefined), state: "cancelled" } satisfies InputRecord)
        // Only a steer needs to know which turn runs.
        const active = input.forTurnId === undefined ? undefined : (yield* find(workspace, threadId)).carry.turn?.turnId
        return json({ ...queuedMessage(input, active), state: pendingState(input, active) } satisfies InputRecord)
      }),

      edit: Effect.fnUntraced(function* ({ params: { inputId, threadId }, payload: { content } }) {
        const caller = yield* Caller
        yield* images.ofThread(caller.workspace, threadId, content) ?? Effect.void
        const answer = yield* threads
          .edit(threadCallerOf(caller), threadId, inputId, content)
          .pipe(Effect.catch(explaining(refuseEdit, caller.workspace, threadId, inputId)))
        return jsonText(answer.body)
      }),

      remove: Effect.fnUntraced(function* ({ params: { inputId, threadId } }) {
        const caller = yield* Caller
        yield* threads
          .remove(threadCallerOf(caller), threadId, inputId)
          .pipe(Effect.catch(explaining(refuseRemove, caller.workspace, threadId, inputId, unlessRemoved)))
        return noContent
      }),

      promote: Effect.fnUntraced(function* ({ params: { inputId, threadId }, payload }) {
        const caller = yield* Caller
        return yield* idempotent((key) =>
          threads
            .promote(threadCallerOf(caller, key), threadId, inputId, payload)
            .pipe(
              Effect.map(answerOfInput(threadId)),
              Effect.catch(explaining(refusePromote, caller.workspace, threadId, inputId))
            )
        )
      })
    })
  })
)
