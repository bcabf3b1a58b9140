/** What a thread answers its callers: the API's bodies, from the snapshot as it will be after the commit. */
import type { ThreadStatus } from "../../../src/domain/thread.ts"
import type { Spend } from "../../../src/agents/Spending.ts"
import { lastToOpen, pendingState, queuedMessage, threadDetail } from "../../../src/threads/detail.ts"
import type { SubmittedMessage } from "../../../src/threads/messageInput.ts"
import { readWait, waitBody } from "../../../src/waits/waitRow.ts"
import type { Snapshot } from "../../../machines/thread/chart.ts"
import type { Input } from "../../../src/domain/input.ts"
import type { Admission } from "../../../machines/thread/commands.ts"
import { type Fact, isPublic } from "../../../machines/thread/facts.ts"
import { statusOf } from "../../../machines/thread/decide.ts"
import type { Reply } from "../../Actor.ts"
import type { ActorView } from "../../Kind.ts"
import type { Attributes } from "../../../src/journal/Journal.ts"
import { pendingWaits, waitChanges } from "./rows.ts"
import { attributesOf } from "../settings.ts"

export const doneReply: Reply = { kind: "done", body: "" }

/** Where an input stands after a step: in the log, or waiting. */
export const submitted = (
  input: Input,
  before: Snapshot,
  next: Snapshot,
  facts: ReadonlyArray<Fact>
): SubmittedMessage => {
  const { inputId } = input
  const { pending, turn } = next.context
  const waiting = pending.find((other) => other.inputId === inputId)
  if (waiting !== undefined)
    return { ...queuedMessage(waiting, turn?.turnId), state: pendingState(waiting, turn?.turnId) }
  const joined = before.context.turn?.inputs.find((other) => other.inputId === inputId)
  if (before.context.turn !== null && joined !== undefined) {
    return {
      ...queuedMessage({ ...input, queuedAt: joined.queuedAt }, undefined),
      turnId: before.context.turn.turnId,
      state: "admitted",
      seq: joined.seq
    }
  }
  const at = facts.findIndex((fact) => fact.type === "user_message" && fact.event.inputId === inputId)
  const fact = facts[at]
  const seq = before.context.seq + facts.slice(0, at + 1).filter(isPublic).length
  return {
    ...queuedMessage(input, undefined),
    ...(fact?.type === "user_message" ? { turnId: fact.turnId } : {}),
    state: "admitted",
    seq
  }
}

/** The wait as it is now that it is over, and the event that says so. */
export const resolved = (waitId: string, before: Snapshot, facts: ReadonlyArray<Fact>): Reply => {
  const row = waitChanges(before.context, { ...before.context, turn: null }, facts).find(({ id }) => id === waitId)
  return row === undefined ? doneReply : { kind: "found", body: waitBody(readWait(row.body)) }
}

/** The model of the input that runs last, as it would be admitted; else that of the last turn. */
const modelOf = ({ context: { carry, pending, turn } }: Snapshot, admissions: Readonly<Record<string, Admission>>) => {
  const last = lastToOpen(pending, turn?.turnId)
  if (last === undefined) return carry.model
  const admission = admissions[last.inputId]
  return admission !== undefined && "plan" in admission ? admission.plan.models[0] : undefined
}

/** `admissions`: how each input that waits would run. */
export const detail = (
  being: ActorView<Snapshot>,
  next: Snapshot,
  at: number,
  spend: Spend,
  admissions: Readonly<Record<string, Admission>>
) => {
  const { carry, pending, seq, turn } = next.context
  const status: ThreadStatus = statusOf(next)
  return threadDetail(
    {
      workspaceId: being.ref.workspace,
      threadId: being.ref.id,
      agentId: being.parent ?? "",
      createdAt: being.createdAt,
      attributes: attributesOf(being.attributes),
      head: { status, seq, updatedAt: at },
      carry: { ...carry, ...(turn === null ? {} : { turn: { turnId: turn.turnId, usage: turn.usage } }) },
      pending,
      waits: pendingWaits(turn)
    },
    spend,
    modelOf(next, admissions)
  )
}

/** The thread after a command about the whole of it, with its attributes as they are now where the journal has told. */
export const shownThread = (
  being: ActorView<Snapshot>,
  next: Snapshot,
  updatedAt: number,
  spend: Spend,
  attributes: Attributes | undefined,
  admissions: Readonly<Record<string, Admission>>
): Reply =>
  attributes === undefined
    ? { kind: "found", body: JSON.stringify(detail(being, next, updatedAt, spend, admissions)) }
    : {
        kind: "found",
        body: JSON.stringify(detail({ ...being, attributes: attributes.text }, next, updatedAt, spend, admissions)),
        version: attributes.version
      }
