/** The whole state of a schedule: what its head keeps. */
import { limits } from "../../src/domain/limits.ts"
import type { StopReason, Firing, Next } from "./commands.ts"
import type { Fact, Ran } from "./facts.ts"

export interface Context {
  /** Of the last change that it knows of. */
  readonly rev: number
  /** Somebody wants it to fire. */
  readonly enabled: boolean
  readonly disabledReason: StopReason | null
  readonly next: Next | null
  /** From when its instants count, as of a change; null of what an older version has kept. */
  readonly clock: { readonly rev: number; readonly anchor: number } | null
  /** The run that is beginning. */
  readonly firing: Firing | null
  /** The run that waits for the end of the last turn. */
  readonly held: Firing | null
  /** Runs by hand that wait for the one that is beginning. */
  readonly queued: ReadonlyArray<Firing>
  /** Scheduled fires in a row that have failed. */
  readonly failures: number
  readonly last: Pick<Ran, "at" | "status"> | null
  /** The last turn that it began. */
  readonly lastTurn: { readonly threadId: string; readonly turnId: string } | null
  readonly deleted: boolean
}

export const blank: Context = {
  rev: 0,
  enabled: false,
  disabledReason: null,
  next: null,
  clock: null,
  firing: null,
  held: null,
  queued: [],
  failures: 0,
  last: null,
  lastTurn: null,
  deleted: false
}

/** Whether it waits for its moment. */
export const isArmed = ({ disabledReason, enabled, next }: Context) =>
  enabled && disabledReason === null && next !== null

/** The next scheduled fire that fails is the last one. */
export const isLastFailure = ({ failures }: Context) => failures + 1 >= limits.scheduleFailures

const same = (one: Firing | null, { runId }: Firing) => (one?.runId === runId ? null : one)

const without = (runs: ReadonlyArray<Firing>, { runId }: Firing) => runs.filter((run) => run.runId !== runId)

const afterRun = (context: Context, { at, run, status, threadId, turnId }: Ran): Context => ({
  ...context,
  firing: same(context.firing, run),
  held: same(context.held, run),
  queued: without(context.queued, run),
  last: { at, status },
  failures:
    run.by === "manual" || status === "skipped" ? context.failures : status === "failed" ? context.failures + 1 : 0,
  lastTurn: threadId === undefined || turnId === undefined ? context.lastTurn : { threadId, turnId }
})

const nextIn = (context: Context, fact: { readonly next?: Next }): Context => ({ ...context, next: fact.next ?? null })

/** A schedule after one more of its facts. */
export const evolve = (context: Context, fact: Fact): Context => {
  switch (fact.type) {
    case "configured":
      return {
        ...nextIn(context, fact),
        rev: fact.rev,
        enabled: fact.enabled,
        clock: fact.anchor === undefined ? null : { rev: fact.rev, anchor: fact.anchor },
        held: fact.enabled ? context.held : null,
        ...(fact.keeps ? {} : { disabledReason: null, failures: 0 })
      }
    case "firing": {
      const { run } = fact
      const queued = without(context.queued, run)
      const begun = { ...context, firing: run, held: same(context.held, run), queued }
      return run.by === "manual" || context.held?.runId === run.runId ? begun : nextIn(begun, fact)
    }
    case "held":
      return nextIn({ ...context, held: fact.run }, fact)
    case "queued":
      return { ...context, queued: [...context.queued, fact.run] }
    case "ran": {
      const ended = afterRun(context, fact)
      // A run that has begun moved the next instant when it began.
      return fact.run.by === "schedule" &&
        context.firing?.runId !== fact.run.runId &&
        context.held?.runId !== fact.run.runId
        ? nextIn(ended, fact)
        : ended
    }
    case "disabled":
      return { ...context, disabledReason: fact.reason, next: null, held: null }
    case "deleted":
      return { ...context, deleted: true, next: null, held: null, queued: [] }
    default:
      fact satisfies never
      return context
  }
}
