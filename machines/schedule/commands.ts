/**
 * What a schedule is told: by whoever changes it, by the clock, and as the outcome of its own jobs. Instants, ids and
 * whether the last turn is over are in the command already.
 */

/** A run that is to begin, or begins. Milliseconds. */
export interface Firing {
  readonly runId: string
  readonly scheduledAt: number
  readonly by: "schedule" | "manual"
  /** Of one by hand: the hops of the turn that wants it; absent: none. */
  readonly hops?: number
}

/** Why it fires no more, where nobody has switched it off. */
export type StopReason =
  | "finished"
  | "failures"
  | "agent_archived"
  | "thread_archived"
  | "thread_not_found"
  | "poisoned"

/** The next instant, and the moment at which it is due: later by its jitter. */
export interface Next {
  readonly instant: number
  readonly moment: number
}

interface Timed {
  readonly at: number
}

/** It was made, changed or deleted: `rev` counts these. */
interface Configure extends Timed {
  readonly type: "configure"
  readonly rev: number
  readonly enabled: boolean
  readonly deleted: boolean
  /** From when its instants count, and whether that is new. */
  readonly anchor: number
  readonly anew: boolean
  /** Absent where it has no instant left. */
  readonly next?: Next
  /** Why it cannot fire, whatever was said. */
  readonly disables?: StopReason
}

/** Its moment has come. */
interface Due extends Timed {
  readonly type: "due"
  /** The newest instant, where it is not too old; absent: all of them were missed. */
  readonly fires?: Firing
  /** Instants before it that nobody has seen to: how many, and the newest. */
  readonly missed?: { readonly count: number; readonly scheduledAt: number; readonly runId: string }
  readonly next?: Next
  /** What keeps it from firing: a reason to skip, or to wait until the turn before is over. */
  readonly instead?: { readonly skips: string } | "waits"
  readonly disables?: StopReason
}

/** Somebody wants it to fire now. */
interface Run extends Timed {
  readonly type: "run"
  readonly run: Firing
}

/** The message was accepted. */
interface Started extends Timed {
  readonly type: "started"
  readonly runId: string
  readonly threadId: string
  readonly turnId: string
}

/** The message was not accepted. */
interface Refused extends Timed {
  readonly type: "refused"
  readonly runId: string
  readonly status: "skipped" | "failed"
  readonly reason: string
  readonly disables?: StopReason
}

/** The turn that the waiting run waits for is over. */
interface Freed extends Timed {
  readonly type: "freed"
  readonly runId: string
}

/** It was taken over again and again without getting anywhere. */
interface Poison extends Timed {
  readonly type: "poison"
}

export type Command = Configure | Due | Run | Started | Refused | Freed | Poison

/** The command of that type. */
export type ScheduleCommand<Type extends Command["type"]> = Extract<Command, { readonly type: Type }>
