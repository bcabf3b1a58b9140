/** Stored threads as the plain functions of `detail.ts` want them: their JSON texts parsed, once. */
import type { InputRecord } from "./messageInput.ts"
import { type Input, queuedBefore } from "../domain/input.ts"
import { threadStatuses } from "../domain/thread.ts"
import { toTimestamp } from "../domain/time.ts"
import type { InputRow, StoredFact } from "../journal/Journal.ts"
import type { PendingWait } from "../domain/thread.ts"
import { readCarry } from "./carry.ts"
import type { ThreadAttributes, DetailRows } from "./detail.ts"
import type { StoredThread } from "./row.ts"
import { readWait } from "../waits/waitRow.ts"

// The journal's texts are our own: each parse is given the type that was written there.
export const readAttributes = (text: string): ThreadAttributes => JSON.parse(text)
export const readInput = ({ body, id, ord }: InputRow): Input => ({ ...JSON.parse(body), inputId: id, ord })

/** Whether a cancelled input was removed by name, not swept away with the queue. */
export const wasRemoved = ({ body, state }: InputRow): boolean =>
  state === "cancelled" && JSON.parse(body).removed === true

export const readStatus = (text: string) => {
  const status = threadStatuses.find((status) => status === text)
  if (status === undefined) throw new Error(`not a thread's status: ${text}`)
  return status
}

export const threadRows = (
  workspaceId: string,
  stored: StoredThread,
  inputs: ReadonlyArray<InputRow> = []
): DetailRows => ({
  workspaceId,
  threadId: stored.id,
  agentId: stored.agentId,
  createdAt: stored.createdAt,
  attributes: readAttributes(stored.attributes),
  head: { status: readStatus(stored.head.status), seq: stored.head.seq, updatedAt: stored.head.updatedAt },
  carry: readCarry(stored.head.carry),
  pending: inputs.map(readInput),
  waits: stored.waits.map(({ body, id }): PendingWait => ({ ...readWait(body).wait, id }))
})

interface Admission {
  readonly content: InputRecord["content"]
  readonly principal: InputRecord["principal"]
  readonly submittedBy?: InputRecord["submittedBy"]
  readonly submitMode: InputRecord["submitMode"]
}

/** An input that is in the log. */
export const readAdmitted = (
  inputId: string,
  { at, detail, event, seq, turn }: StoredFact & { readonly seq: number }
): InputRecord => {
  if (turn === null) throw new Error(`a message without a turn: ${inputId}`)
  const { content, principal, submitMode, submittedBy }: Admission = JSON.parse(event)
  const { model, queuedAt = queuedBefore(inputId, at) }: { readonly model?: string; readonly queuedAt?: number } =
    detail === null ? {} : JSON.parse(detail)
  return {
    id: inputId,
    content,
    queuedAt: toTimestamp(queuedAt),
    submitMode,
    turnId: turn,
    principal,
    ...(submittedBy === undefined ? {} : { submittedBy }),
    ...(model === undefined ? {} : { model }),
    state: "admitted",
    seq
  }
}
