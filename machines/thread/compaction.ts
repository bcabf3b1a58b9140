/**
 * Rounds of compaction: before a model call, or after its provider has found the prompt too long, the beginning of the
 * conversation gives way to a summary.
 *
 * P1. Every `compacting` gets one `compacted`, whatever ends the round: its outcome, or the turn.
 * P2. A round before a model call that fails lets the call go ahead with what there is, and none of its kind follows in
 *     this turn. A round after an overflow that fails is the turn's end.
 * P3. A summary costs the thread, not the turn.
 */
import { limits } from "../../src/domain/limits.ts"
import { noUsage } from "../../src/domain/usage.ts"
import { cutToBytes } from "../../src/domain/text.ts"
import type { PromptLong, SummaryFailed, SummaryMade } from "./commands.ts"
import { interruptedRound, type Turn } from "./context.ts"
import type { Draft } from "./draft.ts"
import type { Compacted } from "./facts.ts"

/** It is the outcome of the round that is under way. */
export const isCurrentRound = (turn: Turn | null, { round, step, turnId }: SummaryMade | SummaryFailed) =>
  turn?.round !== undefined && turnId === turn.turnId && step === turn.step && round === turn.round.name

/** The job of the round that is under way. */
export const summaryJob = ({ round, step, turnId }: Turn): Draft["jobs"][number] | undefined =>
  round === undefined
    ? undefined
    : { type: "summarise", params: { turnId, step, round: round.name, pos: round.pos, modelId: round.modelId } }

export const beginRound = (d: Draft, { at, pos, round, step, summariser, throughSeq }: PromptLong) => {
  const { events: n, turnId } = d.turn
  d.emit({
    type: "compacting",
    turnId,
    n,
    at,
    event: { compaction: { throughSeq, attempt: round }, modelId: summariser },
    detail: { step, pos }
  })
  const job = summaryJob(d.turn)
  if (job !== undefined) d.enqueue(job)
}

type Ended = Omit<Compacted["event"], "compaction" | "modelId" | "usage"> & Partial<Pick<Compacted["event"], "usage">>

const emitCompacted = (d: Draft, at: number, { usage = noUsage, ...ended }: Ended, made?: SummaryMade) => {
  const { events: n, round, turnId } = d.turn
  if (round === undefined) return
  const { modelId, name, pos, throughSeq } = round
  const preview = made === undefined ? {} : { preview: cutToBytes(made.summary, limits.summaryPreviewBytes) }
  d.emit({
    type: "compacted",
    turnId,
    n,
    at,
    event: { compaction: { throughSeq, attempt: name, ...preview }, modelId, usage, ...ended },
    ...(made === undefined ? {} : { detail: { summary: made.summary, pos, messages: made.messages } })
  })
}

const reported = ({ timing, usage }: SummaryMade | SummaryFailed) => ({
  ...(usage === undefined ? {} : { usage }),
  ...(timing === undefined ? {} : { timing })
})

export const endRound = (d: Draft, made: SummaryMade) => emitCompacted(d, made.at, reported(made), made)

export const failRound = (d: Draft, failed: SummaryFailed) =>
  emitCompacted(d, failed.at, {
    ...reported(failed),
    failureCode: failed.code,
    failureText: failed.text,
    ...(failed.details === undefined ? {} : { failureDetails: failed.details })
  })

/** The turn ends: so does its round (P1). */
export const cutRound = (d: Draft, at: number) =>
  emitCompacted(d, at, { failureCode: interruptedRound.code, failureText: interruptedRound.text })
