/** What may be asked of a subscription, and the outcomes of its jobs. Times are milliseconds. */
import type { Principal } from "../../src/domain/principal.ts"
import type { DisabledReason, PassedReason, SubscriptionSettings } from "../../src/domain/subscription.ts"
import type { Batch } from "./context.ts"

/** What became of a look. */
export type Found =
  /** Fewer than the window takes, and it is open yet. */
  | { readonly is: "few"; readonly from: number; readonly to: number; readonly count: number }
  /** Nothing of it matches, or it was passed over. */
  | { readonly is: "nothing"; readonly to: number; readonly reason?: PassedReason }
  /** The screen has said no, or nobody may act for it. */
  | {
      readonly is: "dismissed"
      readonly from: number
      readonly to: number
      readonly count: number
      readonly reason?: PassedReason
    }
  | { readonly is: "batch"; readonly batch: Batch; readonly seqs: ReadonlyArray<number> }

export interface AttemptFailure {
  readonly code: string
  readonly text: string
  /** It was refused, and not only out of reach. */
  readonly refused: boolean
  /** The agent's budget is used up: what comes meanwhile joins the batch. */
  readonly budget: boolean
  readonly retryAfterMs?: number
  /** There is no use in trying again. */
  readonly disables?: DisabledReason
}

export type Command = {
  readonly at: number
  /** The next one of a cadence that waits for such. */
  readonly instant?: number
} & (
  | {
      readonly type: "configure"
      readonly change: string
      readonly settings: SubscriptionSettings
      readonly enabled: boolean
      /** Where it goes on from; absent: from where it is. */
      readonly cursor?: number
      /** Of the feed, before it was changed: what is behind that is judged by these settings. */
      readonly lastSeq?: number
      /** The version that it changes: 0 of a birth. */
      readonly version: number
      readonly by: Principal
    }
  | { readonly type: "disable"; readonly reason: DisabledReason }
  | { readonly type: "delete" }
  /**
   * The feed was told of a change. `lastSeq`: of the feed then. `from`: the first message that a notice in the inbox
   * named then; absent: the inbox held none.
   */
  | {
      readonly type: "listed"
      readonly version: number
      readonly lastSeq: number
      readonly from?: number
      readonly archived: boolean
    }
  | {
      readonly type: "notice"
      readonly from: number
      readonly to: number
      readonly count: number
      readonly exact: boolean
    }
  | { readonly type: "due" }
  | { readonly type: "evaluated"; readonly look: number; readonly found: Found }
  | { readonly type: "unevaluated"; readonly look: number; readonly failure: AttemptFailure }
  | { readonly type: "submitted"; readonly inputId: string; readonly turnId: string }
  /** `threadId`: the next attempt makes a new thread. */
  | { readonly type: "refused"; readonly inputId: string; readonly failure: AttemptFailure; readonly threadId?: string }
  /** Nobody may act for it: the batch is passed over. */
  | { readonly type: "passed"; readonly inputId: string; readonly reason: PassedReason }
  | { readonly type: "poison" }
)
