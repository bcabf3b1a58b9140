/**
 * One question to an agent: a thread of its own, one message, and what it says in the end.
 *
 * X1. The thread and its message are born in one append, under ids that the caller derives from what it asks for.
 *     Asked again after a crash, the thread is found where it has got to by now.
 * X2. Interruption cancels the turn, unless the asking thread has left this node: whoever has it now asks again.
 * X3. The log says when the turn is over. News of it only saves waiting for the next look.
 * X4. The thread's maxCost is what those that asked had left at its birth: whatever is left later, it keeps that.
 */
import { Data, Duration, Effect, Latch, Schema } from "effect"
import type { Budgets } from "../../../src/agents/Budgets.ts"
import { sibling } from "../../../src/domain/ids.ts"
import { AnyEvent, type FinishReason } from "../../../src/domain/event.ts"
import type { Principal } from "../../../src/domain/principal.ts"
import type { ModelUsage } from "../../../src/domain/usage.ts"
import type { ActorRef } from "../../../src/journal/Journal.ts"
import type { ThreadAttributes } from "../../../src/threads/detail.ts"
import type { ThreadReads } from "../../../src/threads/ThreadReads.ts"
import type { ActorError, Reply } from "../../Actor.ts"
import type { TurnEnds } from "../memory/turnEnds.ts"
import type { ThreadRequest } from "../requests.ts"
import { attributesText } from "../settings.ts"

export interface AgentQuestion {
  readonly workspace: string
  readonly agentId: string
  readonly threadId: string
  readonly inputId: string
  readonly principal: Principal
  /** What the thread is born with, besides who made it. */
  readonly born: Pick<ThreadAttributes, "identity" | "reviews" | "asked"> &
    Required<Pick<ThreadAttributes, "spendsWithin">>
  readonly text: string
  /** How many turns lead to it by way of feeds; absent: none. */
  readonly hops?: number
  /** The thread whose turn waits for the answer; absent where nobody would ask again. */
  readonly asker?: string
}

export interface AgentReply {
  readonly text: string
  /** The model has cut it. */
  readonly finishReason?: FinishReason
  readonly usage: ModelUsage
}

/** No answer. `why` follows on the word for whom was asked. */
export class Untold extends Data.TaggedError("Untold")<{ readonly why: string; readonly usage?: ModelUsage }> {}

/** The threads of this node, as they are asked here. */
export interface Births {
  /** Delivers the first command to a thread that is not here yet, and has its answer; nothing to one that is. */
  readonly ensure: (
    ref: ActorRef,
    birth: { readonly parent: string; readonly attributes: string },
    request: ThreadRequest
  ) => Effect.Effect<Reply | undefined, ActorError>
  readonly tell: (ref: ActorRef, request: ThreadRequest) => Effect.Effect<Reply, ActorError>
  readonly isHere: (ref: ActorRef) => boolean
}

export interface Exchanging {
  readonly budgets: Pick<Budgets["Service"], "left">
  readonly reads: Pick<ThreadReads["Service"], "events">
  readonly turnEnds: TurnEnds
  readonly threads: Births
}

/** How long an end may go unnoticed that nobody told of: that of a thread on another node. */
const lookAgain = Duration.seconds(2)

const readEvent = Schema.decodeUnknownSync(AnyEvent)

const textOf = ({ content = [] }: AnyEvent) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("")

/** What the newest events of a turn say of its end, newest first; nothing while it goes on. */
const endOf = ([last, before]: ReadonlyArray<AnyEvent>): Effect.Effect<AgentReply, Untold> | undefined => {
  const used = last?.usage === undefined ? {} : { usage: last.usage }
  switch (last?.type) {
    case "turn_completed":
      return before?.type === "assistant_message" && last.usage !== undefined
        ? Effect.succeed({
            text: textOf(before),
            usage: last.usage,
            ...(before.finishReason === undefined ? {} : { finishReason: before.finishReason })
          })
        : Effect.fail(new Untold({ why: "ended without a text", ...used }))
    case "turn_failed":
      return Effect.fail(new Untold({ why: `failed: ${last.failureCode}: ${last.failureText}`, ...used }))
    case "turn_cancelled":
      return Effect.fail(new Untold({ why: "was cancelled", ...used }))
    default:
      return undefined
  }
}

export const makeExchange = ({ budgets, turnEnds, reads, threads }: Exchanging) => {
  const refOf = (workspace: string, id: string): ActorRef => ({ workspace, kind: "thread", id })

  /**
   * X4. Where nothing is left the thread has no maxCost of its own: a maxCost is above 0. The caps of those that asked
   * refuse its calls, until they are raised. These caps are edited past the actors: only the database knows them.
   */
  const attributesOf = ({ born, principal, workspace }: AgentQuestion) =>
    Effect.map(
      budgets.left(workspace, born.spendsWithin),
      (left = 0): ThreadAttributes => ({ ...born, createdBy: principal, ...(left > 0 ? { maxCost: left } : {}) })
    )

  const begin = (question: AgentQuestion) => {
    const { agentId, hops, inputId, principal, text, threadId, workspace } = question
    return attributesOf(question).pipe(
      Effect.flatMap((attributes) =>
        threads.ensure(
          refOf(workspace, threadId),
          { parent: agentId, attributes: attributesText(attributes) },
          {
            type: "submit",
            creating: true,
            input: {
              inputId,
              content: [{ type: "text", text }],
              mode: "queue",
              principal,
              ...(hops === undefined ? {} : { hops })
            }
          }
        )
      ),
      Effect.asVoid,
      // Anything but a refusal may pass, or somebody was faster: the next look says.
      Effect.catch((failure) =>
        failure._tag === "Refused" ? Effect.fail(new Untold({ why: `cannot begin: ${failure.message}` })) : Effect.void
      )
    )
  }

  /** X2. On its own: whoever interrupts does not wait for it. */
  const cancel = ({ asker, inputId, principal, threadId, workspace }: AgentQuestion) =>
    Effect.suspend(() => {
      if (asker !== undefined && !threads.isHere(refOf(workspace, asker))) return Effect.void
      return Effect.ignore(
        threads.tell(refOf(workspace, threadId), {
          type: "cancel",
          turnId: sibling("turn", inputId),
          principal,
          clearQueue: false
        })
      )
    }).pipe(Effect.forkDetach)

  const answered = Effect.fnUntraced(function* (question: AgentQuestion, news: Latch.Latch) {
    const { inputId, threadId, workspace } = question
    for (;;) {
      const found = yield* Effect.option(
        reads.events({ workspace, threadId, turnId: sibling("turn", inputId), order: "desc", limit: 2 })
      )
      if (found._tag === "Some") {
        const end = endOf((found.value?.events ?? []).map((text) => readEvent(JSON.parse(text))))
        if (end !== undefined) return yield* end
        if (found.value === undefined) yield* begin(question)
      }
      yield* Effect.timeoutOption(news.await, lookAgain)
      news.closeUnsafe()
    }
  })

  return (question: AgentQuestion): Effect.Effect<AgentReply, Untold> =>
    Effect.suspend(() => {
      const news = Latch.makeUnsafe()
      // Before the first look: an end between that and the wish would go unnoticed.
      const forget = turnEnds.await(sibling("turn", question.inputId), () => news.openUnsafe())
      return answered(question, news).pipe(
        Effect.onInterrupt(() => cancel(question)),
        Effect.ensuring(Effect.sync(forget))
      )
    })
}
export type Exchange = ReturnType<typeof makeExchange>
