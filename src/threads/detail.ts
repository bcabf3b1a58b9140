/**
 * Thread detail and Queued message from what is stored: plain functions of rows, so that an actor's
 * answer and a read of the same thread say the same (contract C14.3, C15.4).
 *
 * What the journal's JSON texts of a thread hold:
 * - attributes: `ThreadAttributes`
 * - carry:      `ThreadCarry`
 * - an input:   `Input` without inputId and ord
 * - a wait:     `PendingWait` without id
 */
import { sibling } from "../domain/ids.ts"
import type { Input } from "../domain/input.ts"
import type { Principal } from "../domain/principal.ts"
import type { PendingWait, QueuedMessage, Thread, ThreadDetail, ThreadStatus } from "../domain/thread.ts"
import { toTimestamp } from "../domain/time.ts"
import { addUsage } from "../domain/usage.ts"
import type { ThreadCarry } from "./carry.ts"
import type { Spend } from "../agents/Spending.ts"

/** What was said of a thread when it was made, and may be edited since. */
export interface ThreadAttributes {
  readonly identity?: string
  readonly title?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** USD. */
  readonly maxCost?: number
  /** Selector for turns whose input brings none. */
  readonly model?: string
  /** With profileVersion: what it is pinned to (`pinnedProfile.ts`). */
  readonly profileId?: string
  readonly profileVersion?: number
  /**
   * The thread judges for a hook of another one, at the cost of that one's agent. Absent of a sample, whose thread is
   * made up, and of threads of earlier versions: hook and delivery.
   */
  readonly reviews?: {
    readonly agentId: string
    readonly threadId: string
    readonly hookId?: string
    readonly deliveryId?: string
  }
  /** The threads that asked for it, and that these were asked for by: it spends within what they may cost. */
  readonly spendsWithin?: ReadonlyArray<string>
  /**
   * Another agent asked for it in a turn of its own; `depth` is how many such questions lead here. Threads of earlier
   * versions know no call.
   */
  readonly asked?: {
    readonly agentId: string
    readonly threadId: string
    readonly depth: number
    readonly toolCallId?: string
  }
  readonly createdBy: Principal
  /** Absent: whoever made it. */
  readonly updatedBy?: Principal
  /** Milliseconds: when they were last edited, if ever. */
  readonly editedAt?: number
}

export interface DetailRows {
  readonly workspaceId: string
  readonly threadId: string
  readonly agentId: string
  /** Milliseconds. */
  readonly createdAt: number
  readonly attributes: ThreadAttributes
  readonly head: { readonly status: ThreadStatus; readonly seq: number; readonly updatedAt: number }
  readonly carry: ThreadCarry
  /** Pending ones, in any order. */
  readonly pending: ReadonlyArray<Input>
  /** Open ones, oldest first. */
  readonly waits: ReadonlyArray<PendingWait>
}

/** As the thread would run them: an interrupt, then steers, then the queue; each in order of arrival. */
export const executionOrder = <I extends Pick<Input, "ord" | "mode" | "forTurnId">>(
  pending: ReadonlyArray<I>
): ReadonlyArray<I> => {
  const rank = (input: I) => (input.mode === "interrupt" ? 0 : input.forTurnId !== undefined ? 1 : 2)
  return pending.toSorted((a, b) => rank(a) - rank(b) || a.ord - b.ord)
}

/** While it steers the running turn it belongs to that; else to the one it will open. */
const turnOf = (input: Input, activeTurnId: string | undefined) =>
  input.forTurnId !== undefined && input.forTurnId === activeTurnId ? input.forTurnId : sibling("turn", input.inputId)

export const queuedMessage = (input: Input, activeTurnId: string | undefined): QueuedMessage => ({
  id: input.inputId,
  content: input.content,
  queuedAt: toTimestamp(input.queuedAt),
  submitMode: input.mode,
  turnId: turnOf(input, activeTurnId),
  principal: input.principal,
  ...(input.submittedBy === undefined ? {} : { submittedBy: input.submittedBy }),
  ...(input.model === undefined ? {} : { model: input.model })
})

/** Where a pending input stands: it waits for the running turn's next model call, or for its own turn. */
export const pendingState = (input: Input, activeTurnId: string | undefined) =>
  input.forTurnId !== undefined && input.forTurnId === activeTurnId ? "steered" : "queued"

export const queueOf = (pending: ReadonlyArray<Input>, activeTurnId: string | undefined) =>
  executionOrder(pending).map((input) => queuedMessage(input, activeTurnId))

/** The thread itself: what was said of it, and when. */
export const threadOf = ({
  agentId,
  attributes,
  carry: { archivedAt },
  createdAt,
  threadId,
  workspaceId
}: Omit<DetailRows, "head" | "pending" | "waits">): Thread => {
  const {
    asked,
    createdBy,
    editedAt = createdAt,
    identity,
    maxCost,
    metadata,
    model,
    profileId,
    profileVersion,
    reviews,
    title,
    updatedBy = createdBy
  } = attributes
  return {
    id: threadId,
    agentId,
    workspaceId,
    createdAt: toTimestamp(createdAt),
    updatedAt: toTimestamp(editedAt),
    createdBy,
    updatedBy,
    ...(identity === undefined ? {} : { identity }),
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(title === undefined ? {} : { title }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(model === undefined ? {} : { model }),
    ...(profileId === undefined ? {} : { profileId }),
    ...(profileVersion === undefined ? {} : { profileVersion }),
    ...(archivedAt === undefined ? {} : { archivedAt: toTimestamp(archivedAt) }),
    ...(asked?.toolCallId === undefined ? {} : { askedBy: { threadId: asked.threadId, toolCallId: asked.toolCallId } }),
    ...(reviews?.hookId === undefined || reviews.deliveryId === undefined
      ? {}
      : { reviews: { threadId: reviews.threadId, hookId: reviews.hookId, deliveryId: reviews.deliveryId } })
  }
}

/**
 * The input that runs last and opens a turn: its model is the thread's newest. What steers the running turn has that
 * turn's.
 */
export const lastToOpen = <I extends Pick<Input, "ord" | "mode" | "forTurnId">>(
  pending: ReadonlyArray<I>,
  activeTurnId: string | undefined
): I | undefined => {
  const last = executionOrder(pending).at(-1)
  return last?.forTurnId !== undefined && last.forTurnId === activeTurnId ? undefined : last
}

/** Of all its turns, the running one included. */
export const usageOf = ({ turn, usage }: ThreadCarry) => (turn === undefined ? usage : addUsage(usage, turn.usage))

/** `model`: the exact id of what the newest input would run on, or the last turn has run on (`shownModel.ts`). */
export const threadDetail = (rows: DetailRows, spend: Spend, model: string | undefined): ThreadDetail => {
  const { carry, head, pending, waits } = rows
  return {
    lastSeq: head.seq,
    ...(model === undefined ? {} : { model }),
    status: head.status,
    updatedAt: toTimestamp(head.updatedAt),
    thread: threadOf(rows),
    budgetSpend: { generatedAt: toTimestamp(spend.at), spent: spend.spent, window: spend.window },
    inFlightWaitIds: waits.map((wait) => wait.id),
    pendingWaits: waits,
    queued: queueOf(pending, carry.turn?.turnId),
    // Nothing but a quarantine leaves a turn behind in a thread that failed.
    ...(head.status === "failed" && carry.turn !== undefined ? { quarantinedAt: toTimestamp(head.updatedAt) } : {}),
    ...(carry.cut === undefined ? {} : { lastTurn: carry.cut }),
    usage: usageOf(carry)
  }
}
