/**
 * What each command makes of a schedule, as facts and jobs over a draft. When each may happen is the chart's business.
 */
import { Draft } from "../step.ts"
import type { StopReason, Firing, ScheduleCommand as Of } from "./commands.ts"
import { type Context, evolve, isLastFailure } from "./context.ts"
import type { Fact } from "./facts.ts"

export type Job =
  /** Has the message submitted. */
  | { readonly type: "start"; readonly params: Firing }
  /** Waits for the end of the last turn. */
  | { readonly type: "watch"; readonly params: Firing }
  /** Nobody waits for it any more. */
  | { readonly type: "unwatch"; readonly params: Firing }

export class ScheduleDraft extends Draft<Context, Fact, Job> {
  protected evolve(context: Context, fact: Fact): Context {
    return evolve(context, fact)
  }
}

const some = <Value>(name: string, value: Value | undefined) => (value === undefined ? {} : { [name]: value })
const nextOf = ({ next }: Pick<Of<"due">, "next">) => (next === undefined ? {} : { next })

const begin = (d: ScheduleDraft, run: Firing, at: number, next?: Of<"due">["next"]) => {
  d.emit({ type: "firing", at, run, ...nextOf({ ...some("next", next) }) })
  d.enqueue({ type: "start", params: run })
}

const disable = (d: ScheduleDraft, reason: StopReason, at: number) => {
  // Nobody has it any more.
  if (d.context.deleted) return
  dropHeld(d, reason, at)
  d.emit({ type: "disabled", at, reason })
}

/** The run that waits comes to nothing. */
const dropHeld = (d: ScheduleDraft, reason: string, at: number) => {
  const { held } = d.context
  if (held === null) return
  d.emit({ type: "ran", at, run: held, status: "skipped", reason })
  d.enqueue({ type: "unwatch", params: held })
}

/** So do the runs by hand that wait: each of them was promised. */
const dropQueued = (d: ScheduleDraft, status: "skipped" | "failed", reason: string, at: number) => {
  for (const run of d.context.queued) d.emit({ type: "ran", at, run, status, reason })
}

/** What the run waits for may be another turn by now, or nothing at all. */
const watchAnew = (d: ScheduleDraft) => {
  const { held } = d.context
  if (held === null) return
  d.enqueue({ type: "unwatch", params: held })
  d.enqueue({ type: "watch", params: held })
}

export const configure = (d: ScheduleDraft, command: Of<"configure">) => {
  const { anchor, anew, at, deleted, disables, enabled, next, rev } = command
  if (deleted) {
    dropHeld(d, "deleted", at)
    dropQueued(d, "skipped", "deleted", at)
    d.emit({ type: "deleted", at })
    return
  }
  if (!enabled) dropHeld(d, "disabled", at)
  const enables = enabled && anew && (!d.context.enabled || d.context.disabledReason !== null)
  d.emit({ type: "configured", at, rev, enabled, anchor, ...(enables ? {} : { keeps: true }), ...some("next", next) })
  const { disabledReason, firing, held } = d.context
  // What is under way was its last run: it is finished with that.
  const isOver = disables === "finished" && firing === null && held === null
  if (enabled && disabledReason === null && disables !== undefined && (isOver || disables !== "finished"))
    disable(d, disables, at)
  // Its overlap may say something else now.
  watchAnew(d)
}

/** Runs that nobody has seen to are one that was skipped. */
const noteMissed = (d: ScheduleDraft, { at, missed, next }: Of<"due">) => {
  if (missed === undefined) return
  const { count, runId, scheduledAt } = missed
  const run: Firing = { runId, scheduledAt, by: "schedule" }
  d.emit({ type: "ran", at, run, status: "skipped", reason: "missed", count, ...nextOf({ ...some("next", next) }) })
}

/** Its moment has come: it fires, waits, or is skipped. */
export const comeDue = (d: ScheduleDraft, due: Of<"due">) => {
  const { at, disables, fires, instead, next } = due
  noteMissed(d, due)
  if (fires !== undefined) {
    if (instead === undefined) begin(d, fires, at, next)
    else if (instead === "waits") {
      d.emit({ type: "held", at, run: fires, ...nextOf(due) })
      d.enqueue({ type: "watch", params: fires })
    } else d.emit({ type: "ran", at, run: fires, status: "skipped", reason: instead.skips, ...nextOf(due) })
  }
  if (disables !== undefined) disable(d, disables, at)
  else if (next === undefined && d.context.firing === null && d.context.held === null) disable(d, "finished", at)
}

export const runByHand = (d: ScheduleDraft, { at, run: firing }: Of<"run">) => {
  // It was asked for before, and comes after.
  if (d.context.deleted) d.emit({ type: "ran", at, run: firing, status: "skipped", reason: "deleted" })
  else if (d.context.firing === null) begin(d, firing, at)
  else d.emit({ type: "queued", at, run: firing })
}

/** The turn before is over: what waited for it begins. */
export const free = (d: ScheduleDraft, { at }: Of<"freed">) => {
  const { held } = d.context
  if (held !== null) begin(d, held, at)
}

/** What is left to do once a run has come to something. */
const beginNext = (d: ScheduleDraft, at: number) => {
  const [first] = d.context.queued
  if (first !== undefined && !d.context.deleted) return begin(d, first, at)
  const { disabledReason, enabled, held, next } = d.context
  // Its turn may have ended while this began, and what has begun since is the turn that it waits for now.
  watchAnew(d)
  if (enabled && disabledReason === null && next === null && held === null) disable(d, "finished", at)
}

export const recordStart = (d: ScheduleDraft, { at, threadId, turnId }: Of<"started">) => {
  const { firing } = d.context
  if (firing === null) return
  d.emit({ type: "ran", at, run: firing, status: "started", threadId, turnId })
  beginNext(d, at)
}

export const recordRefusal = (d: ScheduleDraft, { at, disables, reason, status }: Of<"refused">) => {
  const { firing } = d.context
  if (firing === null) return
  const isLast = status === "failed" && firing.by === "schedule" && isLastFailure(d.context)
  d.emit({ type: "ran", at, run: firing, status, reason })
  const why = disables ?? (isLast ? "failures" : undefined)
  if (why !== undefined && d.context.disabledReason === null && d.context.enabled) disable(d, why, at)
  beginNext(d, at)
}

/** Nothing else happens to it until somebody changes it. */
export const poison = (d: ScheduleDraft, at: number) => {
  const { firing } = d.context
  if (firing !== null) d.emit({ type: "ran", at, run: firing, status: "failed", reason: "poisoned" })
  dropQueued(d, "failed", "poisoned", at)
  disable(d, "poisoned", at)
}
