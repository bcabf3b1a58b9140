/**
 * Threads as the API sees them: every change of a thread, answered once it is stored.
 *
 * The answer's body is JSON text, made once: the same text is kept under the request's idempotency key.
 */
import { Context, type Effect } from "effect"
import type { MessageContent, SubmitMode } from "../../src/domain/content.ts"
import type { Origin, Principal } from "../../src/domain/principal.ts"
import type { WaitingFor } from "../../src/domain/thread.ts"
import type { GivenAnswer } from "../../machines/thread/commands.ts"
import type { ActorError, Reply } from "../Actor.ts"

/** Who asks, and under which idempotency key, if any. */
export interface ThreadCaller {
  readonly workspace: string
  readonly principal: Principal
  /** May name models that the profile does not select. */
  readonly anyModel?: true
  /** The thread that an agent asks from. */
  readonly from?: string
  readonly key?: { readonly scope: string; readonly fingerprint: string }
}

export interface NewThread {
  readonly agentId: string
  readonly identity?: string
  readonly maxCost?: number
  readonly title?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly model?: string
  readonly profileVersion?: number
  readonly message?: { readonly content: MessageContent; readonly origin?: Origin }
}

export interface NewInput {
  readonly content: MessageContent
  readonly mode: SubmitMode
  readonly model?: string
  readonly expectedTurnId?: string
  readonly origin?: Origin
}

/** A message of something that is not a client, under an id that derives from what it is for. */
export interface SentInput {
  readonly inputId: string
  readonly content: MessageContent
  readonly mode: SubmitMode
  readonly model?: string
  /** How many turns lead to it by way of feeds; absent: none. */
  readonly hops?: number
}

/** A thread for such a message, under an id of the same kind. */
export interface StartedThread extends Omit<SentInput, "mode"> {
  readonly agentId: string
  readonly threadId: string
  readonly identity?: string
  readonly maxCost?: number
}

export class Threads extends Context.Service<
  Threads,
  {
    /**
     * The seq of the thread's last event, if it lives on this node and nobody else can have written since:
     * lets a reader who has seen that much be told so without a statement. Undefined is no answer.
     */
    readonly lastSeq: (workspace: string, threadId: string) => number | undefined
    /**
     * The turn that runs or waits in a thread that lives on this node, as of its last commit; null where none does.
     * Undefined is no answer.
     */
    readonly runningTurn: (workspace: string, threadId: string) => string | null | undefined
    /**
     * Tells once when this node has written the end of a turn; of ends that others write nobody hears. Gives what takes
     * the wish back.
     */
    readonly onTurnEnd: (turnId: string, tell: () => void) => () => void
    /**
     * All events after `afterSeq` as JSON texts, at most `limit`, from memory, with those that are being
     * written at this moment. Undefined is no answer: read the log.
     */
    readonly recent: (
      workspace: string,
      threadId: string,
      afterSeq: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<string> | undefined>
    /** What a running thread stands in line for, if anything; `owner` is the incarnation that has it by its row. */
    readonly waitingFor: (
      workspace: string,
      threadId: string,
      owner: string | undefined
    ) => Effect.Effect<WaitingFor | undefined>
    /** Created: Thread detail, and `input` (a submit's answer) when a message was given. */
    readonly create: (caller: ThreadCaller, thread: NewThread) => Effect.Effect<Reply, ActorError>
    /** Created: a Queued message, `state` (queued | steered | admitted), and `seq` when admitted. */
    readonly submit: (caller: ThreadCaller, threadId: string, input: NewInput) => Effect.Effect<Reply, ActorError>
    /**
     * Created, as by submit. Of an input that was taken before, the answer is the one that it got: so it may be sent
     * again by whoever does not know. Where the thread's owner is away it is stored, and answered as queued.
     */
    readonly submitAs: (
      caller: Pick<ThreadCaller, "workspace" | "principal">,
      threadId: string,
      input: SentInput
    ) => Effect.Effect<Reply, ActorError>
    /**
     * The same for the first message of a thread that is made for it, where it is not there yet. It is never answered
     * with `not_found`: a thread that may be there, and is not found, is out of reach.
     */
    readonly start: (
      caller: Pick<ThreadCaller, "workspace" | "principal">,
      thread: StartedThread
    ) => Effect.Effect<Reply, ActorError>
    /** Created, as by submit: a new input with the content of the last failed or cancelled turn's first message. */
    readonly retry: (caller: ThreadCaller, threadId: string) => Effect.Effect<Reply, ActorError>
    /** Found: the Queued message. */
    readonly edit: (
      caller: ThreadCaller,
      threadId: string,
      inputId: string,
      content: MessageContent
    ) => Effect.Effect<Reply, ActorError>
    /** Done, without a body. */
    readonly remove: (caller: ThreadCaller, threadId: string, inputId: string) => Effect.Effect<Reply, ActorError>
    /** Found: what submit answers with. */
    readonly promote: (
      caller: ThreadCaller,
      threadId: string,
      inputId: string,
      to: { readonly mode: "steer" | "interrupt"; readonly expectedTurnId?: string }
    ) => Effect.Effect<Reply, ActorError>
    /** Found: `{wait, seq}`, the wait as it was resolved, and the seq of the event that says so. */
    readonly resolve: (
      caller: ThreadCaller,
      threadId: string,
      waitId: string,
      answer: GivenAnswer
    ) => Effect.Effect<Reply, ActorError>
    /** Found: Thread detail. The next model call comes after a summary. */
    readonly compact: (caller: ThreadCaller, threadId: string) => Effect.Effect<Reply, ActorError>
    /** Found: Thread detail. The thread takes no input any more. */
    readonly archive: (caller: ThreadCaller, threadId: string) => Effect.Effect<Reply, ActorError>
    /** Found: Thread detail. */
    readonly cancel: (
      caller: ThreadCaller,
      threadId: string,
      options: { readonly turnId?: string; readonly clearQueue: boolean }
    ) => Effect.Effect<Reply, ActorError>
  }
>()("troupe/Threads") {}
