/** What travels on the bus: what a hint is about, what it tells, who listens for what, and how a request may fail. */
import { Data } from "effect"
import type { ThreadStatus } from "../domain/thread.ts"
import type { OperationState } from "../operations/operation.ts"

export interface About {
  readonly workspace: string
  readonly agentId: string
  readonly threadId: string
}

export interface HintedEvent {
  readonly seq: number
  readonly turnId: string
  readonly type: string
  /** The whole ThreadEvent. Absent where it was too long to travel: the log has it. */
  readonly text?: string
}

export type News =
  /** Events were committed: in order, without gaps. */
  | { readonly type: "events"; readonly events: ReadonlyArray<HintedEvent> }
  /** A piece of a response that is being sampled: `eventId` is the id its assistant_message will have. */
  | {
      readonly type: "delta"
      readonly turnId: string
      readonly eventId: string
      readonly index: number
      readonly text: string
    }
  /** The streamed response will not be recorded. */
  | { readonly type: "discard"; readonly eventId: string }
  | { readonly type: "status"; readonly status: ThreadStatus; readonly lastSeq: number }
  /** A wait was opened, or is over. */
  | {
      readonly type: "wait"
      readonly waitId: string
      readonly state: "open" | "resolved" | "expired" | "cancelled"
      readonly target: "person" | "client" | "url" | "agent"
    }
  /** The pending queue changed: `pending` is how many wait now. */
  | { readonly type: "queue"; readonly pending: number }
  /** What a running call's server reports of it. */
  | {
      readonly type: "progress"
      readonly toolCallId: string
      readonly progress: number
      readonly total?: number
      readonly message?: string
    }
  /** An operation was asked for, decided or carried out. Its thread is empty, and its agent where it has none. */
  | {
      readonly type: "operation"
      readonly operationId: string
      readonly action: string
      readonly state: OperationState
    }
  /** Messages were appended to a feed of the workspace. Its thread and its agent are empty. */
  | { readonly type: "feed"; readonly feedId: string; readonly lastSeq: number }
  /**
   * An actor has taken a step of which no event of a thread tells: a thread one that wrote private facts alone, others
   * any. Of others than threads the thread is empty.
   */
  | { readonly type: "moved"; readonly actorId: string }
  /** Hints were lost, or may have been (B4). What a watch of more than one thread does not name is empty here. */
  | { readonly type: "look" }

export type Hint = About & News

export interface Watch {
  readonly workspace: string
  readonly agentId?: string
  readonly threadId?: string
  /**
   * Pieces of running responses too, and what takes them back: those of other nodes are sent to nobody else, and begin
   * a moment after the subscription.
   */
  readonly deltas?: boolean
}

export type BusState = "in-process" | "connected" | "disconnected"

/** A request had no answer. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{
  readonly incarnation: string
  /**
   * It has not been taken: `nobody` answers for that incarnation, the bus is `away`, the message is
   * `too_large`, the node is too `busy`. It may have taken effect: no answer in time (`timeout`), the
   * bus was `lost` meanwhile, the answer `failed` or could not travel.
   */
  readonly reason: "nobody" | "away" | "too_large" | "busy" | "timeout" | "lost" | "failed"
}> {
  /** Whether the request may have taken effect all the same. */
  get mayHaveTakenEffect() {
    return this.reason === "timeout" || this.reason === "lost" || this.reason === "failed"
  }
}
