/** Hands a batch over: to a thread that is there, or to one that is made for it. */
import { Effect, Schema } from "effect"
import { sibling } from "../../src/domain/ids.ts"
import type { AttemptFailure } from "../../machines/subscription/commands.ts"
import type { Batch } from "../../machines/subscription/context.ts"
import type { Snapshot } from "../../machines/subscription/chart.ts"
import type { DisabledReason, SubscriptionSettings } from "../../src/domain/subscription.ts"
import { ThreadReads } from "../../src/threads/ThreadReads.ts"
import type { ActorError, Declined, Reply } from "../Actor.ts"
import type { ActorView } from "../Kind.ts"
import { Threads } from "../thread/Threads.ts"
import { threadAfter } from "./ids.ts"
import type { Outcome } from "./requests.ts"
import { makeIdentityCheck } from "./standing.ts"

const readTurn = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ turnId: Schema.String })))

/** The thread is archived, or was deleted since. */
const isThreadGone = ({ reason }: Declined) => reason === "thread_archived" || reason === "not_found"

const disablesFor = ({ reason }: Declined): DisabledReason | undefined => {
  switch (reason) {
    case "agent_archived":
    case "agent_not_found":
      return "agent_archived"
    case "thread_archived":
      return "thread_archived"
    case "not_found":
      return "thread_not_found"
    default:
      return undefined
  }
}

const failureOf = (error: ActorError): AttemptFailure => {
  if (error._tag !== "Refused")
    return { code: "unreachable", text: "The thread could not be reached.", refused: false, budget: false }
  const { message, reason, retryAfterSeconds } = error
  const disables = disablesFor(error)
  return {
    code: reason,
    text: message,
    refused: reason !== "rate_limited",
    budget: reason === "budget_exceeded",
    ...(retryAfterSeconds === undefined ? {} : { retryAfterMs: retryAfterSeconds * 1000 }),
    ...(disables === undefined ? {} : { disables })
  }
}

export const makeSubmit = Effect.gen(function* () {
  const threads = yield* Threads
  const reads = yield* ThreadReads
  const isDisabled = yield* makeIdentityCheck

  const send = (
    { parent, ref: { id, workspace }, snapshot: { context } }: ActorView<Snapshot>,
    { hops, inputId, text, threadId }: Batch,
    { identity, target }: SubscriptionSettings
  ): Effect.Effect<Reply, ActorError> => {
    const own = identity === undefined ? {} : { identity }
    const caller = { workspace, principal: { type: "subscription" as const, id, ...own } }
    const message = { inputId, content: [{ type: "text" as const, text }], ...(hops === 0 ? {} : { hops }) }
    // A batch that another target was meant for keeps its thread, which may not have been made yet.
    const isThere =
      threadId === (target.mode === "thread" ? target.threadId : target.mode === "reuse" && context.threadId)
    return isThere
      ? threads.submitAs(caller, threadId, { ...message, mode: "queue" })
      : threads.start(caller, { agentId: parent ?? "", threadId, ...own, ...message })
  }

  /** Nobody may act for it. What was taken before that, whose answer was lost, was handed over all the same. */
  const passed = Effect.fnUntraced(function* (workspace: string, { inputId, threadId }: Batch) {
    const taken = yield* reads.input(workspace, threadId, inputId)
    return taken === undefined
      ? ({ type: "passed", inputId, reason: "identity_disabled" } satisfies Outcome)
      : ({ type: "submitted", inputId, turnId: sibling("turn", inputId) } satisfies Outcome)
  })

  return Effect.fnUntraced(function* (being: ActorView<Snapshot>, inputId: string) {
    const { batch, settings } = being.snapshot.context
    if (batch === null || settings === null || batch.inputId !== inputId) return undefined
    if (yield* isDisabled(being, settings)) return yield* passed(being.ref.workspace, batch)
    return yield* send(being, batch, settings).pipe(
      Effect.map(({ body }): Outcome => ({ type: "submitted", inputId, turnId: readTurn(body).turnId })),
      Effect.catch((error) => {
        if (error._tag === "Refused" && error.reason === "identity_disabled")
          return Effect.succeed<Outcome>({ type: "passed", inputId, reason: "identity_disabled" })
        const isReplaced = error._tag === "Refused" && isThreadGone(error) && settings.target.mode !== "thread"
        return Effect.succeed<Outcome>({
          type: "refused",
          inputId,
          failure: failureOf(error),
          ...(isReplaced ? { threadId: threadAfter(batch.threadId) } : {})
        })
      })
    )
  })
})
