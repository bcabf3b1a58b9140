/** What happened to a schedule. Runs that have come to something are public: lists of runs read them. */
import type { StopReason, Firing, Next } from "./commands.ts"

interface Timed {
  readonly at: number
}

interface Configured extends Timed {
  readonly type: "configured"
  readonly rev: number
  readonly enabled: boolean
  readonly next?: Next
  readonly anchor?: number
  /** It was not enabled by this: what has disabled it stands, and so do its failures. */
  readonly keeps?: true
}

/** Before anything of it happens. `next` comes after it. */
interface Fired extends Timed {
  readonly type: "firing"
  readonly run: Firing
  readonly next?: Next
}

/** It waits until the turn before is over. */
interface Held extends Timed {
  readonly type: "held"
  readonly run: Firing
  readonly next?: Next
}

/** A run by hand that waits until the one before has begun. */
interface Queued extends Timed {
  readonly type: "queued"
  readonly run: Firing
}

/** What came of a run. */
export interface Ran extends Timed {
  readonly type: "ran"
  readonly run: Firing
  readonly status: "started" | "skipped" | "failed"
  readonly reason?: string
  readonly count?: number
  readonly threadId?: string
  readonly turnId?: string
  /** Of one that was skipped at its moment: what comes after it. */
  readonly next?: Next
}

interface Disabled extends Timed {
  readonly type: "disabled"
  readonly reason: StopReason
}

interface Deleted extends Timed {
  readonly type: "deleted"
}

export type Fact = Configured | Fired | Held | Queued | Ran | Disabled | Deleted
