/** A subscription as it is: all of it is the carry of its head. */
import type { DisabledReason, PassedReason, SubscriptionSettings } from "../../src/domain/subscription.ts"

/** Messages of the feed, from one seq to another, of which `count` match: so many where that is exact, else at most. */
export interface Range {
  readonly from: number
  readonly to: number
  readonly count: number
  readonly exact: boolean
}

/** A change that the feed is to be told of, and what its answer settles. */
interface Settling {
  readonly version: number
  /**
   * Appends behind this seq were judged by settings of before. It takes the place of the cursor for `looks`, and of the
   * feed's answer for `settles`.
   */
  readonly since?: number
  /** Appends were judged up to the seq that the feed answers: all of them are dealt with where nothing is in hand. */
  readonly settles: boolean
}

export interface ListingDue extends Settling {
  /** Messages behind the cursor were never judged: the subscription looks at them once the feed has answered. */
  readonly looks: boolean
  /** A pause that ended before the feed had answered: the feed is told of it first, then of its end. */
  readonly pause?: Settling
}

/** The version that the feed is told of next. */
export const toldNext = ({ pause, version }: ListingDue) => pause?.version ?? version

/** Messages that are handed over together. */
export interface Batch {
  readonly from: number
  readonly to: number
  readonly count: number
  readonly hops: number
  /** What is submitted: the same however often it is tried. */
  readonly text: string
  readonly threadId: string
  readonly inputId: string
}

/** A look at what was noticed. `closes`: what matches is handed over, however little it is. */
export interface Look {
  readonly number: number
  readonly closes: boolean
}

/** What became of the last messages. */
export interface Last {
  readonly at: number
  readonly status: "escalated" | "dismissed" | "failed"
  readonly reason?: PassedReason
}

export interface Context {
  /** Facts so far. */
  readonly pos: number
  /** Of what clients say: the ETag. 0 before the first. */
  readonly version: number
  readonly updatedAt: number
  readonly settings: SubscriptionSettings | null
  /** The last change, so that one that comes again is known. */
  readonly change: string | null
  readonly disabled: DisabledReason | null
  readonly deleted: boolean
  /** Everything up to it is dealt with. */
  readonly cursor: number
  /** Raised by whoever sets the cursor: what is handed over again is another batch. */
  readonly generation: number
  /** A change that the feed has not been told. */
  readonly listing: ListingDue | null
  /** Up to there the feed was looked through when it was told: notices of these messages say nothing new. */
  readonly covered: number
  /** Ascending, without overlap: with those of the batch, as long as that is in hand. */
  readonly noticed: ReadonlyArray<Range>
  /** The end of the window that is open. */
  readonly until: number | null
  readonly look: Look | null
  readonly looks: number
  readonly batch: Batch | null
  readonly retryAt: number | null
  /** Attempts in a row that came to nothing, and those of them that were refused. */
  readonly attempts: number
  readonly refusals: number
  /** The thread that has got the last messages, and its turn of them. */
  readonly threadId: string | null
  readonly turnId: string | null
  readonly last: Last | null
}

export const blank: Context = {
  pos: 0,
  version: 0,
  updatedAt: 0,
  settings: null,
  change: null,
  disabled: null,
  deleted: false,
  cursor: 0,
  generation: 0,
  listing: null,
  covered: 0,
  noticed: [],
  until: null,
  look: null,
  looks: 0,
  batch: null,
  retryAt: null,
  attempts: 0,
  refusals: 0,
  threadId: null,
  turnId: null,
  last: null
}

export const countOf = (noticed: ReadonlyArray<Range>) => noticed.reduce((sum, { count }) => sum + count, 0)

/** The state that a context stands for. */
export const stateOf = ({ batch, deleted, disabled, look, retryAt, settings, until }: Context) => {
  if (deleted) return "deleted"
  if (settings === null) return "unborn"
  if (disabled !== null) return "disabled"
  if (retryAt !== null) return "backingOff"
  if (batch !== null) return "escalating"
  if (look !== null) return "evaluating"
  return until === null ? "waiting" : "collecting"
}
